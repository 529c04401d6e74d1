"""What a store knows of its sources, whether in a folder or on a server.

A source is marked incomplete before its passages are touched and complete
after, so that a run that was cut off at any point is seen by the next one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source in the store.

    Attributes:
        source: its name in citations, unique in the store.
        root: label of the folder it was found in, see `Manifest.roots`.
        name: its path below that folder, with forward slashes.
        sha256: hash of the file's bytes.
        size: in bytes.
        mtime_ns: modification time in nanoseconds, 0 where it cannot be trusted.
        prior: P(what it says is true), in (0, 1).
        prior_rule: which rule gave that prior.
        date: the document's own date, as written there.
        superseded_by: the source that replaces it, as written there.
        note: what a reader should know, such as pages without text.
        chunks: number of its passages.
        complete: whether all its passages, and no others, are in the store.
    """

    source: str
    root: str
    name: str
    sha256: str
    size: int
    mtime_ns: int
    prior: float
    prior_rule: str
    date: str | None = None
    superseded_by: str | None = None
    note: str | None = None
    chunks: int = 0
    complete: bool = False


class Manifest(Protocol):
    """The records of a store's sources; a change outlives the process once a call returns."""

    def sources(self) -> tuple[SourceRecord, ...]:
        """All records, by name."""
        ...

    def write(self, record: SourceRecord) -> None:
        """Put a record, in place of an earlier one of the same source."""
        ...

    def mark_incomplete(self, source: str) -> None:
        """Say that a source's passages are about to change; nothing where it is not there."""
        ...

    def delete(self, source: str) -> None:
        """Forget a source; nothing where it is not there."""
        ...

    def roots(self) -> dict[str, str]:
        """Label of each indexed folder -> its path."""
        ...

    def add_root(self, label: str, path: str) -> None:
        """Remember an indexed folder."""
        ...
