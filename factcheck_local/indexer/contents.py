"""How much of the folders that a store was made from it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from factcheck_local.indexer.manifest import LeftOut, SourceRecord


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many files of a folder are in the store, and how many are not."""

    documents: int = 0
    passages: int = 0
    skipped: int = 0
    failed: int = 0


def coverage(sources: Sequence[SourceRecord], left_out: Sequence[LeftOut]) -> dict[str, Coverage]:
    """Folder of sources, one level deep, ``""`` for files above all folders -> its coverage.

    Args:
        sources: those of a store.
        left_out: files that the last runs came by and left out.
    """
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
