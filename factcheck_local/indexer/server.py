"""A store on a Chroma server, the same for everybody who uses its address.

On the server, for a store of this name::

    NAME          its passages, see `passages`; the collection's metadata holds what
                  it was made with, see `fingerprint`
    NAME-sources  its sources, see `manifest_chroma`
    NAME-writer   empty, there while a run writes; its metadata says whose

On each machine, in a folder of its own below the user's data directory::

    lexical.sqlite3   the words of the passages, see `lexical`
    writer.lock       held while a run of this machine writes
    machine           a random text by which that run knows its own lock on the server
    pair-scores.sqlite, calibration.json, risk.json   as in a folder, see `folder`

Nothing is told to the other machines when one writes. A search sees what is on the
server at that moment, so during a run perhaps half of a source's new passages; the
index of words is compared with the ids there before each search, and what it lacks
is fetched (`Store.query_words`).
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from factcheck_local.core.errors import StoreError
from factcheck_local.indexer import fingerprint as fingerprints
from factcheck_local.indexer.address import SOURCES, WRITER, ServerAddress
from factcheck_local.indexer.chroma import ChromaServer
from factcheck_local.indexer.database import exclusive
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.lexical import LexicalIndex
from factcheck_local.indexer.manifest_chroma import HNSW as SOURCES_HNSW
from factcheck_local.indexer.manifest_chroma import ChromaManifest
from factcheck_local.indexer.parts import INDEX, LEXICAL, LOCK, Parts
from factcheck_local.indexer.passages import HNSW, Passages
from factcheck_local.models.cards import data_directory

if TYPE_CHECKING:
    from chromadb import Collection

_MACHINE = "machine"

#: The key of the collection's metadata that makes it a store.
_META = "factcheck_store"

UNLOCK = "factcheck index --unlock PATH..., if that run has died"


def machine_folder(address: ServerAddress) -> Path:
    """The folder in which this machine keeps its own files of a store on a server."""
    digest = hashlib.sha256(str(address).encode()).hexdigest()[:12]
    readable = re.sub(r"[^a-z0-9.]+", "-", f"{address.host}-{address.port}-{address.name}".lower())
    return data_directory() / "stores" / f"{readable[:80].strip('-')}-{digest}"


def open_parts(address: ServerAddress, fingerprint: Fingerprint | None = None) -> Parts:
    """Open a store that is there; see `Store.open`."""
    with ExitStack() as opened:
        server = ChromaServer(address)
        opened.callback(server.close)
        collection = server.find(address.name)
        if collection is None:
            raise StoreError(f"no store at {address}", hint=INDEX)
        found = fingerprints.parse(_made_with(collection, address), address)
        if fingerprint is not None:
            found.check(fingerprint, address)
        sources = server.find_or_make(address.name + SOURCES, SOURCES_HNSW)
        folder = _made_folder(address)
        lexical = _words(folder / LEXICAL)
        opened.callback(lexical.close)
        return Parts(
            place=str(address),
            path=folder,
            fingerprint=found,
            shared=True,
            manifest=ChromaManifest(sources),
            passages=Passages(collection, server.batch),
            lexical=lexical,
            lock=partial(_writing, server, folder),
            close=opened.pop_all().close,
        )


def create_parts(address: ServerAddress, fingerprint: Fingerprint) -> Parts:
    """Open a store made with this fingerprint, or make it; see `Store.create`."""
    with closing(ChromaServer(address)) as server:
        if server.find(address.name) is None:
            # Where another machine has just made it, that one is opened, and checked.
            server.make(address.name, {_META: fingerprints.to_json(fingerprint)}, HNSW)
    return open_parts(address, fingerprint)


def erase(address: ServerAddress) -> None:
    """Remove a store; see `Store.erase`. What the machines keep of it stays.

    Raises:
        StoreError: if a run is writing to it, or the collection is not a store's.
    """
    with closing(ChromaServer(address)) as server:
        collection = server.find(address.name)
        if collection is None:
            return
        _made_with(collection, address)
        with _writing(server, _made_folder(address)):
            collection.modify(metadata={_META: fingerprints.to_json(None)})
            server.delete(address.name + SOURCES)
            server.delete(address.name)


def unlock(address: ServerAddress) -> str | None:
    """Let others write after a run that has died; returns whose it was, None if there was none."""
    with closing(ChromaServer(address)) as server:
        lock = server.find(address.name + WRITER)
        if lock is None:
            return None
        server.delete(address.name + WRITER)
        return _holder(lock.metadata)


def _made_with(collection: Collection, address: ServerAddress) -> str:
    text = (collection.metadata or {}).get(_META)
    if not isinstance(text, str):
        raise StoreError(
            f"{address}: the collection {address.name!r} there is not a store",
            hint=f"a name of its own: {address.url}/NAME",
        )
    return text


def _made_folder(address: ServerAddress) -> Path:
    folder = machine_folder(address)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be made: {error.strerror}") from error
    return folder


def _words(path: Path) -> LexicalIndex:
    try:
        return LexicalIndex(path)
    except StoreError as error:
        raise StoreError(str(error), hint=f"rm {path}*, which loses nothing but time") from error


# -------------------------------------------------------------------- the lock


@contextmanager
def _writing(server: ChromaServer, folder: Path) -> Iterator[None]:
    """Keep the runs of all machines from writing.

    The lock is a collection, of which a server makes but one of a name. It outlives a
    run that dies. The next one from the same folder takes it over: it holds the
    folder's own lock, which the system took from the one that died.

    Raises:
        StoreError: if another run is writing, or has died on another machine.
    """
    with exclusive(folder / LOCK, server.address):
        mine: dict[str, str | int] = {
            "machine": _machine(folder),
            "run": uuid.uuid4().hex,
            "host": socket.gethostname(),
            "process": os.getpid(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        _take(server, mine)
        try:
            yield
        finally:
            lock = _lock(server)
            # It is another's if a user has taken this one away.
            if lock is not None and _of(lock, "run") == mine["run"]:
                server.delete(server.address.name + WRITER)


def _take(server: ChromaServer, mine: Mapping[str, str | int]) -> None:
    if server.make(server.address.name + WRITER, mine) is not None:
        return
    lock = _lock(server)
    if lock is not None and _of(lock, "machine") == mine["machine"]:
        lock.modify(metadata=dict(mine))
        return
    holder = _holder(lock.metadata if lock is not None else None)
    raise StoreError(f"{server.address}: another run is writing to it: {holder}", hint=UNLOCK)


def _lock(server: ChromaServer) -> Collection | None:
    return server.find(server.address.name + WRITER)


def _of(lock: Collection, key: str) -> object:
    return (lock.metadata or {}).get(key)


def _holder(held: Mapping[str, object] | None) -> str:
    host, process, since = ((held or {}).get(key, "?") for key in ("host", "process", "since"))
    return f"process {process} on {host}, since {since}"


def _machine(folder: Path) -> str:
    """A text that no other folder has, made on first use."""
    path = folder / _MACHINE
    text = path.read_text(encoding="ascii") if path.exists() else ""
    if not text:
        text = uuid.uuid4().hex
        path.write_text(text, encoding="ascii")
    return text
