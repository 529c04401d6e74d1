"""The sources of a store in a folder: a small SQLite file beside Chroma's."""

from __future__ import annotations

from dataclasses import astuple, fields
from pathlib import Path

from factcheck_local.indexer.database import open_database
from factcheck_local.indexer.manifest import SourceRecord

_COLUMNS = [field.name for field in fields(SourceRecord)]
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS roots (label TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sources ({", ".join(_COLUMNS)}, PRIMARY KEY (source));
"""


class SqliteManifest:
    """A `Manifest` in a SQLite file."""

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
        """See `Manifest.sources`."""
        rows = self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM sources ORDER BY source")
        values = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        return tuple(SourceRecord(**{**row, "complete": bool(row["complete"])}) for row in values)

    def write(self, record: SourceRecord) -> None:
        """See `Manifest.write`."""
        marks = ", ".join("?" * len(_COLUMNS))
        with self._db:
            self._db.execute(f"INSERT OR REPLACE INTO sources VALUES ({marks})", astuple(record))

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
