"""The sources of a store in a folder: a small SQLite file beside Chroma's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from factcheck_local.indexer.database import open_database
from factcheck_local.indexer.manifest import LeftOut, SourceRecord, lies_below

_COLUMNS = [field.name for field in fields(SourceRecord)]
_TRUTHS = [field.name for field in fields(SourceRecord) if isinstance(field.default, bool)]
_PUT = (
    f"INSERT OR REPLACE INTO sources ({', '.join(_COLUMNS)}) "
    f"VALUES ({', '.join('?' * len(_COLUMNS))})"
)
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS roots (label TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sources ({", ".join(_COLUMNS)}, PRIMARY KEY (source));
CREATE TABLE IF NOT EXISTS left_out (
    source TEXT PRIMARY KEY, reason TEXT NOT NULL, failed INTEGER NOT NULL
);
"""


class SqliteManifest:
    """The records of a store's sources; a change outlives the process once a call returns."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            StoreError: if it is not such a file.
        """
        self._db = open_database(path, _SCHEMA)
        self._known: tuple[tuple[int, int], tuple[SourceRecord, ...]] | None = None

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def sources(self) -> tuple[SourceRecord, ...]:
        """All records, by name; the same tuple as long as nobody has written."""
        # Of other processes' writes, and of our own. Asked for first: what is written in between
        # is read again next time.
        others = self._db.execute("PRAGMA data_version").fetchone()[0]
        written = (others, self._db.total_changes)
        if self._known is None or self._known[0] != written:
            self._known = (written, self._read("ORDER BY source"))
        return self._known[1]

    def find(self, source: str) -> SourceRecord | None:
        """A source's record; None where there is none."""
        return next(iter(self._read("WHERE source = ?", source)), None)

    def _read(self, which: str, *values: str) -> tuple[SourceRecord, ...]:
        rows = self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM sources {which}", values)
        found = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        return tuple(
            SourceRecord(**{**row, **{name: bool(row[name]) for name in _TRUTHS}}) for row in found
        )

    def write(self, record: SourceRecord) -> None:
        """Put a record, in place of an earlier one of the same source."""
        with self._db:
            self._db.execute(_PUT, astuple(record))

    def mark_incomplete(self, source: str) -> None:
        """Say that a source's passages are about to change; nothing where it is not there."""
        with self._db:
            self._db.execute("UPDATE sources SET complete = 0 WHERE source = ?", (source,))

    def delete(self, source: str) -> None:
        """Forget a source; nothing where it is not there."""
        with self._db:
            self._db.execute("DELETE FROM sources WHERE source = ?", (source,))

    def roots(self) -> dict[str, str]:
        """Label of each indexed folder -> its path."""
        return dict(self._db.execute("SELECT label, path FROM roots ORDER BY label"))

    def add_root(self, label: str, path: str) -> None:
        """Remember an indexed folder."""
        with self._db:
            self._db.execute("INSERT INTO roots VALUES (?, ?)", (label, path))

    def left_out(self) -> tuple[LeftOut, ...]:
        """What the last runs came by and left out, by source."""
        rows = self._db.execute("SELECT source, reason, failed FROM left_out ORDER BY source")
        return tuple(LeftOut(source, reason, bool(failed)) for source, reason, failed in rows)

    def set_left_out(self, below: Sequence[str], found: Iterable[LeftOut]) -> None:
        """Replace what is known to be left out below some places.

        Args:
            below: sources, and folders of sources with a slash at their end; ``""`` is all.
            found: what is left out there now.
        """
        gone = [entry.source for entry in self.left_out() if lies_below(entry.source, below)]
        with self._db:
            self._db.executemany("DELETE FROM left_out WHERE source = ?", [(s,) for s in gone])
            self._db.executemany(
                "INSERT OR REPLACE INTO left_out VALUES (?, ?, ?)", map(astuple, found)
            )
