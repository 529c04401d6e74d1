"""What a store knows of its sources: a small SQLite file beside Chroma's.

A source is marked incomplete before its passages are touched and complete
after, so that a run that was cut off at any point is seen by the next one.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from pathlib import Path

from factcheck_local.indexer.database import open_database


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


_COLUMNS = [field.name for field in fields(SourceRecord)]
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS roots (label TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sources ({", ".join(_COLUMNS)}, PRIMARY KEY (source));
"""


class Manifest:
    """The records of a store's sources; a change outlives the process once a call returns."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            StoreError: if it is not such a file.
        """
        self._db = open_database(path, _SCHEMA)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def sources(self) -> tuple[SourceRecord, ...]:
        """All records, by name."""
        rows = self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM sources ORDER BY source")
        values = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        return tuple(SourceRecord(**{**row, "complete": bool(row["complete"])}) for row in values)

    def write(self, record: SourceRecord) -> None:
        """Put a record, in place of an earlier one of the same source."""
        marks = ", ".join("?" * len(_COLUMNS))
        with self._db:
            self._db.execute(f"INSERT OR REPLACE INTO sources VALUES ({marks})", astuple(record))

    def mark_incomplete(self, source: str) -> None:
        """Say that a source's passages are about to change."""
        with self._db:
            self._db.execute("UPDATE sources SET complete = 0 WHERE source = ?", (source,))

    def delete(self, source: str) -> None:
        """Forget a source."""
        with self._db:
            self._db.execute("DELETE FROM sources WHERE source = ?", (source,))

    def roots(self) -> dict[str, str]:
        """Label of each indexed folder -> its path, relative to the store's own folder."""
        return dict(self._db.execute("SELECT label, path FROM roots ORDER BY label"))

    def add_root(self, label: str, path: str) -> None:
        """Remember an indexed folder."""
        with self._db:
            self._db.execute("INSERT INTO roots VALUES (?, ?)", (label, path))
