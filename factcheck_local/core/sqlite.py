"""One way to open a SQLite file that several processes may share."""

from __future__ import annotations

import sqlite3
from pathlib import Path

#: Seconds to wait for another process that is writing.
PATIENCE = 60.0


def connect(path: Path) -> sqlite3.Connection:
    """Open a file, or make it.

    Transactions are begun by hand, where one is meant. Any thread may use the connection; SQLite
    lets them in one after the other. A power cut may undo the last writes, never tear one.

    Raises:
        sqlite3.Error: if it is no such file, or cannot be made.
    """
    database = sqlite3.connect(
        path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        database.close()
        raise
    return database
