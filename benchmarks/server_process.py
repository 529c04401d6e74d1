"""A server as its user starts it, over a store of a size that was asked for."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from benchmarks.store_size import DOCUMENTS_AT_ONCE, Collection, write
from factcheck_local.core.types import Chunk, Span
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.contracts import FloatArray
from factcheck_local.serve.access import Keys, make_folder
from factcheck_local.serve.audit import verified

PATIENCE = 600.0


class Fillers(Collection):
    """Documents of sentences from real ones, mixed anew, with vectors that are made up."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__()
        self._sentences = sentences
        self._random = random.Random(0)

    def document(self) -> tuple[SourceRecord, list[Chunk], FloatArray]:
        """See ``Collection.document``; a number in each text makes it one of its own."""
        record, chunks, vectors = super().document()
        texts = [
            " ".join([*self._random.choices(self._sentences, k=6), f"See note {chunk.id}."])
            for chunk in chunks
        ]
        made = [
            Chunk(c.id, c.source, text, Span(0, len(text)), c.titles, c.line)
            for c, text in zip(chunks, texts, strict=True)
        ]
        return record, made, vectors


def make_store(place: Path, corpus: Path, passages: int) -> int:
    """Index a corpus with its real vectors, and fill up with made-up ones; how many there are."""
    with Store.create(place) as store:
        sync([corpus], store)
        ids = store._passages.ids()
        texts = [entry.text for entry in store._passages.entries(ids)]
        sentences = [s for text in texts for s in text.split(". ") if 20 < len(s) < 300]
        fillers = Fillers(sentences)
        while store.count() < passages:
            write(store, [fillers.document() for _ in range(DOCUMENTS_AT_ONCE)])
        return store.count()


class Server:
    """Processes of `factcheck serve` with the small LLM and the encoder, and clients with keys.

    Args:
        store: the store's folder.
        data: the server's.
        clients: how many have a key of their own.
        options: further ones of the command line.
    """

    def __init__(self, store: Path, data: Path, clients: int, *options: str) -> None:
        self.data = data
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        make_folder(data)
        keys = Keys(data / "keys.json")
        self.keys = [keys.add(f"client{n}", ["check", "search"], None) for n in range(clients)]
        self.admin = keys.add("admin", ["admin"], None)
        self._arguments = [
            *(sys.executable, "-m", "factcheck_local", "serve", "--store", str(store)),
            *("--data", str(data), "--port", str(self.port), "--behind-proxy"),
            *("--set", "llm=smollm2-135m", "--set", "relation=encoder", *options),
        ]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen(self._arguments, stderr=subprocess.DEVNULL)
        with self.client(self.admin) as client:
            wait_for(lambda: _answers(client))

    def client(self, key: str) -> httpx.Client:
        """A client with a key."""
        return httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {key}"},
            trust_env=False,
            timeout=60.0,
        )

    def children(self) -> list[int]:
        """Processes that it started."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(pid) for path in tasks for pid in path.read_text().split()]

    def audit_lines(self) -> int:
        """Lines of its audit log, each proven to follow from the one before."""
        return len(list(verified(self.data / "audit.jsonl")))

    def stop(self) -> None:
        """End it as its user does."""
        self.process.terminate()
        self.process.wait(60)


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait for something that another process does.

    Raises:
        TimeoutError: if it does not come.
    """
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("nothing happened")
        time.sleep(0.05)


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def claim(*texts: str) -> dict[str, Any]:
    """A check of claims that are given, so that no LLM is needed."""
    atoms = [{"id": f"a{n}", "text": text, "original": text} for n, text in enumerate(texts)]
    return {"record": {"output": " ".join(texts), "atoms": atoms}}


def resident(pid: int) -> int:
    """Bytes of memory that a process has now, without what it shares with the disk's cache."""
    fields = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in fields if line.startswith("RssAnon:"))
