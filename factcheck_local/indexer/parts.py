"""What a store is put together from, in a folder or on a server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.lexical import LexicalIndex
from factcheck_local.indexer.passages import Passages

if TYPE_CHECKING:
    from factcheck_local.indexer.manifest_chroma import ChromaManifest
    from factcheck_local.indexer.manifest_sqlite import SqliteManifest

#: What the relation model keeps in a store's folder, see `Parts.path`.
VERDICTS, CALIBRATION, RISK = "pair-scores.sqlite", "calibration.json", "risk.json"

#: Names of other files there: what a store in a folder was made with, the index of words, and what
#: a run holds while it writes.
META, LEXICAL, LOCK = "store.json", "lexical.sqlite3", "writer.lock"

INDEX = "factcheck index PATH..."


@dataclass(frozen=True, slots=True)
class Parts:
    """The open parts of a store.

    Attributes:
        place: what its user calls it, a folder or an address.
        path: the folder of what this machine alone keeps; of a store in a folder, the store.
        fingerprint: what it was made with.
        shared: whether other machines write to it, and know nothing of this one's files.
        lock: keeps other runs from writing for as long as it is held; raises
            ``StoreError`` if one is.
        close: lets go of all parts.
    """

    place: str
    path: Path
    fingerprint: Fingerprint
    shared: bool
    manifest: SqliteManifest | ChromaManifest
    passages: Passages
    lexical: LexicalIndex
    lock: Callable[[], AbstractContextManager[None]]
    close: Callable[[], None]
