"""The sources of a store in a folder: a small SQLite file beside Chroma's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from factcheck_local.core.errors import StoreError
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
_OCR_LEFT = "ALTER TABLE sources ADD COLUMN ocr_left DEFAULT 1"


class SqliteManifest:
    """A `Manifest` in a SQLite file."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            StoreError: if it is not such a file.
        """
        self._db = open_database(path, _SCHEMA)
        try:
            _bring_up_to_date(self._db)
        except sqlite3.Error as error:
            self._db.close()
            raise StoreError(f"{path}: cannot be brought up to date: {error}") from error
        self._known: tuple[tuple[int, int], tuple[SourceRecord, ...]] | None = None

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def sources(self) -> tuple[SourceRecord, ...]:
        """See `Manifest.sources`; the same tuple as long as nobody has written."""
        # Of other processes' writes, and of our own. Asked for first: what is written in between
        # is read again next time.
        others = self._db.execute("PRAGMA data_version").fetchone()[0]
        written = (others, self._db.total_changes)
        if self._known is None or self._known[0] != written:
            self._known = (written, self._read("ORDER BY source"))
        return self._known[1]

    def find(self, source: str) -> SourceRecord | None:
        """See `Manifest.find`."""
        return next(iter(self._read("WHERE source = ?", source)), None)

    def _read(self, which: str, *values: str) -> tuple[SourceRecord, ...]:
        rows = self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM sources {which}", values)
        found = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        return tuple(
            SourceRecord(**{**row, **{name: bool(row[name]) for name in _TRUTHS}}) for row in found
        )

    def write(self, record: SourceRecord) -> None:
        """See `Manifest.write`."""
        with self._db:
            self._db.execute(_PUT, astuple(record))

    def mark_incomplete(self, source: str) -> None:
        """See `Manifest.mark_incomplete`."""
        with self._db:
            self._db.execute("UPDATE sources SET complete = 0 WHERE source = ?", (source,))

    def delete(self, source: str) -> None:
        """See `Manifest.delete`."""
        with self._db:
            self._db.execute("DELETE FROM sources WHERE source = ?", (source,))

    def roots(self) -> dict[str, str]:
        """See `Manifest.roots`."""
        return dict(self._db.execute("SELECT label, path FROM roots ORDER BY label"))

    def add_root(self, label: str, path: str) -> None:
        """See `Manifest.add_root`."""
        with self._db:
            self._db.execute("INSERT INTO roots VALUES (?, ?)", (label, path))

    def left_out(self) -> tuple[LeftOut, ...]:
        """See `Manifest.left_out`."""
        rows = self._db.execute("SELECT source, reason, failed FROM left_out ORDER BY source")
        return tuple(LeftOut(source, reason, bool(failed)) for source, reason, failed in rows)

    def set_left_out(self, below: Sequence[str], found: Iterable[LeftOut]) -> None:
        """See `Manifest.set_left_out`."""
        gone = [entry.source for entry in self.left_out() if lies_below(entry.source, below)]
        with self._db:
            self._db.executemany("DELETE FROM left_out WHERE source = ?", [(s,) for s in gone])
            self._db.executemany(
                "INSERT OR REPLACE INTO left_out VALUES (?, ?, ?)", map(astuple, found)
            )


def _bring_up_to_date(database: sqlite3.Connection) -> None:
    """Add the column that a file from before it does not have."""
    if _lacks(database):
        with database:
            database.execute("BEGIN IMMEDIATE")
            if _lacks(database):  # still: another process may have been at the same
                database.execute(_OCR_LEFT)


def _lacks(database: sqlite3.Connection) -> bool:
    return "ocr_left" not in [row[1] for row in database.execute("PRAGMA table_info(sources)")]
