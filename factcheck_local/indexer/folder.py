"""A store in a folder, for one machine.

The folder holds::

    store.json        what it was made with, see `fingerprint`
    sources.sqlite3   its sources, see `manifest_sqlite`
    chroma/           its passages, see `passages`
    lexical.sqlite3   their words, see `lexical`
    writer.lock       held while a run writes, or removes the store; it stays
    pair-scores.sqlite   scores of pairs, see `relate.cache`
    calibration.json  fitted on the user's own labels, see `relate.calibrations`
    risk.json         likewise, see `relate.risk`
    passage-states/   what a model made of passages, see `Store.states`
    collections/      further stores, each by its name; this one need not be there then

The three before `passage-states` do not depend on the passages: they outlive a rebuild.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from factcheck_local.core.errors import StoreError
from factcheck_local.indexer import fingerprint as fingerprints
from factcheck_local.indexer.address import COLLECTIONS
from factcheck_local.indexer.chroma import folder_client
from factcheck_local.indexer.database import exclusive
from factcheck_local.indexer.fingerprint import REBUILD, Fingerprint
from factcheck_local.indexer.lexical import LexicalIndex
from factcheck_local.indexer.manifest_sqlite import SqliteManifest
from factcheck_local.indexer.parts import (
    CALIBRATION,
    INDEX,
    LEXICAL,
    LOCK,
    META,
    RISK,
    VERDICTS,
    Parts,
)
from factcheck_local.indexer.passages import HNSW, Passages
from factcheck_local.indexer.states import STATES

#: Name of the store's folder where none is given.
STORE_NAME = ".factcheck"

_SOURCES, _CHROMA, _COLLECTION = "sources.sqlite3", "chroma", "passages"
_NO_PART = frozenset(
    {VERDICTS, f"{VERDICTS}-wal", f"{VERDICTS}-shm", CALIBRATION, RISK, COLLECTIONS, LOCK}
)


def find_store(start: Path) -> Path:
    """The nearest `STORE_NAME` in a folder or above it, as git finds ``.git``.

    Raises:
        StoreError: if there is none.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        store = folder / STORE_NAME
        if (store / META).is_file() or collections_in(store):
            return store
    raise StoreError(f"no store ({STORE_NAME}) in {start} or above it", hint=INDEX)


def collections_in(store: Path) -> tuple[str, ...]:
    """Names of the collections of a store's folder, in order; empty where it has none."""
    return tuple(sorted(meta.parent.name for meta in (store / COLLECTIONS).glob(f"*/{META}")))


def outermost(store: Path) -> Path:
    """The folder that a store is a collection of, or that it is itself."""
    return store.parent.parent if store.parent.name == COLLECTIONS else store


def open_parts(path: Path, fingerprint: Fingerprint | None = None) -> Parts:
    """Open a store that is there; see `Store.open`."""
    if not (path / META).is_file():
        inner = ", ".join(collections_in(path))
        hint = f"--collection NAME, one of {inner}" if inner else INDEX
        raise StoreError(f"no store at {path}", hint=hint)
    found = fingerprints.read(path / META)
    if fingerprint is not None:
        found.check(fingerprint, path)
    with ExitStack() as opened:
        manifest = SqliteManifest(path / _SOURCES)
        opened.callback(manifest.close)
        try:
            client = folder_client(path / _CHROMA)
            opened.callback(client.close)
            collection = client.get_or_create_collection(
                _COLLECTION, configuration={"hnsw": HNSW}, embedding_function=None
            )
            passages = Passages(collection, client.get_max_batch_size())
        except Exception as error:  # Chroma raises errors of any kind on a damaged folder
            raise StoreError(f"{path}: is damaged: {error}", hint=REBUILD) from error
        lexical = LexicalIndex(path / LEXICAL)
        opened.callback(lexical.close)
        return Parts(
            place=str(path),
            path=path,
            fingerprint=found,
            shared=False,
            manifest=manifest,
            passages=passages,
            lexical=lexical,
            lock=partial(exclusive, path / LOCK, path),
            close=opened.pop_all().close,
        )


def create_parts(path: Path, fingerprint: Fingerprint) -> Parts:
    """Open a store made with this fingerprint, or make it; see `Store.create`."""
    if not (path / META).exists():
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(found.name not in _NO_PART for found in path.iterdir()):
                raise StoreError(f"{path}: is not a store, and not empty")
            fingerprints.write(path / META, fingerprint)
        except OSError as error:
            raise StoreError(f"{path}: cannot be made: {error.strerror}") from error
    return open_parts(path, fingerprint)


def erase(path: Path) -> None:
    """Remove a store that is not open; see `Store.erase`. Other files of the folder stay.

    So does the lock: of a file that is made anew, another run could hold the former one.

    Raises:
        StoreError: if a run is writing to it.
    """
    if not (path / META).exists():
        return
    with exclusive(path / LOCK, path):
        fingerprints.write(path / META, None)
        for database in (_SOURCES, LEXICAL):
            for name in (database, f"{database}-wal", f"{database}-shm"):
                (path / name).unlink(missing_ok=True)
        for folder in (_CHROMA, STATES):
            shutil.rmtree(path / folder, ignore_errors=True)
        (path / META).unlink()
