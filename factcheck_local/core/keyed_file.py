"""Bytes by key in a SQLite file that several processes may share."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from factcheck_local.core.errors import StoreError
from factcheck_local.core.sqlite import connected

#: Kept in the file as SQLite's ``user_version``.
SCHEMA_VERSION = 1


class KeyedFile:
    """Values by key, each written once.

    A connection lasts for one call: there is nothing to close, and no lock is held
    while a model is at work.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, table: str, column: str, *, what: str, hint: str) -> None:
        """Open the file, or make it.

        Args:
            path: the file; its folder has to be there.
            table: name of the table.
            column: name of its column of values.
            what: what the file is, for messages.
            hint: what mends a file that cannot be used.

        Raises:
            StoreError: if it is damaged, or of another version.
        """
        self.path = path
        self._table = table
        self._column = column
        self._what = what
        self._hint = hint
        with self._connected() as db:
            # IMMEDIATE: of two processes that make the file, one waits for the other.
            db.execute("BEGIN IMMEDIATE")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if version != SCHEMA_VERSION and (version or tables):
                raise self.error(f"expected schema version {SCHEMA_VERSION}, got {version}")
            if not tables:
                db.execute(
                    f"CREATE TABLE {table} (key BLOB PRIMARY KEY, {column} BLOB NOT NULL) "
                    "WITHOUT ROWID"
                )
                db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            db.execute("COMMIT")

    def read(self, keys: Sequence[bytes]) -> dict[bytes, object]:
        """The values that are there, by key, as SQLite gives them.

        Raises:
            StoreError: if the file is damaged.
        """
        query = f"SELECT {self._column} FROM {self._table} WHERE key = ?"
        with self._connected() as db:
            rows = {key: db.execute(query, (key,)).fetchone() for key in keys}
        return {key: row[0] for key, row in rows.items() if row is not None}

    def write(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values by key: all of them, on disk, or none. What is there already stays.

        Raises:
            StoreError: if the file is damaged or cannot be written.
        """
        # Another process may have made the same value meanwhile.
        insert = f"INSERT OR IGNORE INTO {self._table} VALUES (?, ?)"
        with self._connected() as db, db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(insert, list(values.items()))

    def error(self, why: str) -> StoreError:
        """The error that says why the file cannot be used."""
        return StoreError(f"{self.path}: {self._what} cannot be used: {why}", hint=self._hint)

    def _connected(self) -> AbstractContextManager[sqlite3.Connection]:
        return connected(self.path, f"{self._what} cannot be used", hint=self._hint)
