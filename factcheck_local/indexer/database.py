"""The SQLite files of a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from factcheck_local.core.errors import StoreError
from factcheck_local.core.sqlite import connect
from factcheck_local.indexer.fingerprint import REBUILD


def open_database(path: Path, schema: str) -> sqlite3.Connection:
    """Open a file, or make it, with the tables of ``schema``.

    Any thread may use the connection; SQLite lets them in one after the other. What takes
    several statements is its user's to hold together. A power cut may undo the last writes to
    one file of a store and not those to another: then ``factcheck doctor`` shows what was lost,
    and ``factcheck index --rebuild`` mends it.

    Raises:
        StoreError: if it is not such a file.
    """
    try:
        database = connect(path, isolation_level="DEFERRED")
        try:
            database.executescript(schema)
        except sqlite3.Error:
            database.close()
            raise
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be opened: {error}", hint=REBUILD) from error
    return database


@contextmanager
def exclusive(
    path: Path, place: object, said: str = "another run is writing to it"
) -> Iterator[None]:
    """Hold a file against other processes; the system lets go of it if this one dies.

    Any thread may end it.

    Args:
        path: the file, made where it is not there.
        place: what it stands for, for the message.
        said: what the message says of it.

    Raises:
        StoreError: if another process holds it, or it cannot be held.
    """
    with ExitStack() as held:
        try:
            lock = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
            held.callback(lock.close)
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
            why = said if busy else f"cannot be locked: {error}"
            raise StoreError(f"{place}: {why}") from error
        yield
