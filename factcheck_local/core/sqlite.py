"""One way to open a SQLite file that several processes may share."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

from factcheck_local.core.errors import StoreError

Isolation = Literal["DEFERRED", "IMMEDIATE", "EXCLUSIVE"]

#: Seconds to wait for another process that is writing.
PATIENCE = 60.0

#: Seconds between two attempts where SQLite itself does not wait.
_PAUSE = 0.01


def connect(path: Path, *, isolation_level: Isolation | None = None) -> sqlite3.Connection:
    """Open a file, or make it.

    Any thread may use the connection; SQLite lets them in one after the other. A power cut may
    undo the last writes, never tear one.

    Args:
        path: the file.
        isolation_level: of the transactions that Python begins before a write; by default none
            is, and they are begun by hand where one is meant.

    Raises:
        sqlite3.Error: if it is no such file, or cannot be made.
    """
    database = sqlite3.connect(
        path, timeout=PATIENCE, isolation_level=isolation_level, check_same_thread=False
    )
    try:
        _log_ahead(database)
        database.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        database.close()
        raise
    return database


@contextmanager
def connected(path: Path, said: str, *, hint: str | None = None) -> Iterator[sqlite3.Connection]:
    """A file for as long as this lasts, opened as by ``connect``.

    Args:
        path: the file.
        said: what the message says of it where something is wrong with it.
        hint: what mends it.

    Raises:
        StoreError: if it cannot be used.
    """
    try:
        with closing(connect(path)) as database:
            yield database
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {said}: {error}", hint=hint) from error


def _log_ahead(database: sqlite3.Connection) -> None:
    """Switch to a write-ahead log.

    Of two processes that do so with a new file, or while the last of others leaves it, one is
    told at once that it is locked: a wait for the lock could be a deadlock, so SQLite's own
    timeout does not hold here.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return
