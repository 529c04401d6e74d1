"""What a store knows of its sources, whether in a folder or on a server.

A source is marked incomplete before its passages are touched and complete
after, so that a run that was cut off at any point is seen by the next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source in the store.

    Attributes:
        source: its name in citations, unique in the store.
        root: label of the folder it was found in, see `Store.roots`.
        name: its path below that folder, with forward slashes.
        sha256: hash of the file's bytes.
        size: in bytes.
        mtime_ns: modification time in nanoseconds, 0 where it cannot be trusted.
        modified: day of the last modification, in ISO format.
        prior: P(what it says is true), in (0, 1).
        prior_rule: which rule gave that prior.
        access: JSON list of the groups that may see it; None for everybody.
        stated: JSON object of what the document states of itself, so that rules can be
            tried again without reading it.
        date: the document's own date, as written there.
        superseded_by: the source that replaces it.
        note: what a reader should know, such as pages without text.
        ocr_left: whether OCR may find more in it: pages have no text, and were not tried.
        chunks: number of its passages.
        digest: sha256 over their ids and texts, in order of id.
        complete: whether all its passages, and no others, are in the store.
    """

    source: str
    root: str
    name: str
    sha256: str
    size: int
    mtime_ns: int
    modified: str
    prior: float
    prior_rule: str
    access: str | None = None
    stated: str = "{}"
    date: str | None = None
    superseded_by: str | None = None
    note: str | None = None
    ocr_left: bool = False
    chunks: int = 0
    digest: str = ""
    complete: bool = False

    @property
    def groups(self) -> frozenset[str] | None:
        """The groups that may see it; None for everybody."""
        return None if self.access is None else frozenset(json.loads(self.access))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the document states of itself."""
        values: dict[str, Any] = json.loads(self.stated)
        return values

    @property
    def extension(self) -> str:
        """The file's extension in lower case, with its dot."""
        return PurePosixPath(self.name).suffix.lower()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that a run came by and that is not in the store, and why.

    ``failed`` where it should be there and cannot be read.
    """

    source: str
    reason: str
    failed: bool


def lies_below(source: str, places: Iterable[str]) -> bool:
    """Whether a source is one of the places, or in one that ends in a slash or is empty."""
    return any(
        source == place or ((not place or place.endswith("/")) and source.startswith(place))
        for place in places
    )
