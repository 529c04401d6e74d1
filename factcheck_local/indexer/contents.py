"""What a store holds, and what it does not hold of the folders it was made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from factcheck_local.indexer.manifest import LeftOut, SourceRecord
from factcheck_local.indexer.store import Store


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many files of a folder are in the store, and how many are not."""

    documents: int = 0
    passages: int = 0
    skipped: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Contents:
    """A store at a glance.

    Attributes:
        sources: all its sources, by name.
        left_out: files that the last runs came by and left out, by name.
        passages: number of passages.
        formats: extension -> number of sources, the most frequent first.
        folders: folder of sources, one level deep, ``""`` for files above all folders
            -> its coverage, by name.
        size: bytes on the disk of this machine.
    """

    sources: tuple[SourceRecord, ...]
    left_out: tuple[LeftOut, ...]
    passages: int
    formats: Mapping[str, int]
    folders: Mapping[str, Coverage]
    size: int


def contents_of(store: Store) -> Contents:
    """Look at a store; nothing is read but its manifest and its size."""
    sources, left_out = store.sources(), store.left_out()
    formats = Counter(record.extension for record in sources)
    return Contents(
        sources=sources,
        left_out=left_out,
        passages=store.count(),
        formats=dict(sorted(formats.items(), key=lambda item: (-item[1], item[0]))),
        folders=_folders(sources, left_out),
        size=store.size(),
    )


def _folders(
    sources: tuple[SourceRecord, ...], left_out: tuple[LeftOut, ...]
) -> dict[str, Coverage]:
    documents = Counter(_folder(record.source) for record in sources)
    passages: Counter[str] = Counter()
    for record in sources:
        passages[_folder(record.source)] += record.chunks
    skipped = Counter(_folder(entry.source) for entry in left_out if not entry.failed)
    failed = Counter(_folder(entry.source) for entry in left_out if entry.failed)
    return {
        folder: Coverage(documents[folder], passages[folder], skipped[folder], failed[folder])
        for folder in sorted({*documents, *skipped, *failed})
    }


def _folder(source: str) -> str:
    """The first folder of a source's name."""
    folder, slash, _ = source.partition("/")
    return folder if slash else ""
