"""The SQLite files of a store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from factcheck_local.errors import StoreError
from factcheck_local.indexer.fingerprint import REBUILD

# A power cut may undo the last writes, never tear one: the next run does them again.
_SETTINGS = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"


def open_database(path: Path, schema: str) -> sqlite3.Connection:
    """Open a file, or make it, with the tables of ``schema``.

    Raises:
        StoreError: if it is not such a file.
    """
    database = sqlite3.connect(path)
    try:
        database.executescript(_SETTINGS + schema)
    except sqlite3.Error as error:
        database.close()
        raise StoreError(f"{path}: cannot be opened: {error}", hint=REBUILD) from error
    return database
