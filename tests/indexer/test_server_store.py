"""A store on a server: two machines, locks, a server that dies, and what is no store."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from factcheck_local.core.errors import StoreError
from factcheck_local.indexer import server
from factcheck_local.indexer.address import ServerAddress
from factcheck_local.indexer.chroma import ChromaServer, folder_client
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.manifest import LeftOut, SourceRecord
from factcheck_local.indexer.manifest_chroma import ChromaManifest
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync

from .helpers import HashingEmbedder, contents, write

if TYPE_CHECKING:
    from tests.conftest import RunningChroma

Address = Callable[[str], ServerAddress]
#: Opens or makes the store "team" as another machine would, by the machine's name.
On = Callable[..., Store]

FILES: dict[str, str | bytes] = {
    "pumps.md": "# Pumps\n\nPart QX-4471 is kept in the cellar.",
    "valves.md": "# Valves\n\nPart ZZ-1 is kept in the attic.",
}
MADE = Fingerprint.of(HashingEmbedder())


@pytest.fixture
def on(address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[On]:
    opened: list[Store] = []

    def open_on(machine: str, name: str = "team") -> Store:
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("FACTCHECK_HOME", str(tmp_path / machine))
            opened.append(Store.create(address(name), MADE))
        return opened[-1]

    yield open_on
    for store in opened:
        store.close()


def found_by_words(store: Store, text: str) -> list[str]:
    ids = [id_ for id_, _ in store.query_words([text], 5)[0]]
    return [context.source for context in store.contexts(ids)]


# ----------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("text", "kept", "name"),
    [
        ("http://localhost:8000", "http://localhost:8000", "passages"),
        ("HTTP://Box.Example:80/", "http://box.example:80", "passages"),
        ("http://localhost:8000/passages", "http://localhost:8000", "passages"),
        ("https://10.0.0.7:443/Team_1.x", "https://10.0.0.7:443/Team_1.x", "Team_1.x"),
        ("http://[::1]:8000/team", "http://[::1]:8000/team", "team"),
    ],
)
def test_address(text: str, kept: str, name: str) -> None:
    found = ServerAddress.parse(text)
    assert (str(found), found.name) == (kept, name)
    assert ServerAddress.parse(str(found)) == found


@pytest.mark.parametrize(
    "text",
    [
        "ftp://localhost:8000",
        "http://localhost",
        "http://localhost:0",
        "http://localhost:65536",
        "http://:8000",
        "http://localhost:8000/a/team",
        "http://localhost:8000/team?x=1",
        "http://localhost:8000/team#x",
        "http://localhost:8000/te am",
        "http://localhost:8000/x",
        "http://localhost:8000/.team",
        "http://localhost:8000/team-sources",
        "http://localhost:8000/team-writer",
        "http://user:secret@localhost:8000",
    ],
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(StoreError, match="expected ") as caught:
        ServerAddress.parse(text)
    assert "secret" not in str(caught.value)


def test_each_address_has_a_folder_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path))
    texts = ["http://a:1", "https://a:1", "http://a:11", "http://a:1/a.b", "http://a:1/a-b"]
    texts += ["http://a:1/A-b", "http://[::1]:1", f"http://{'long.' * 40}x:1/{'n' * 100}"]
    folders = {server.machine_folder(ServerAddress.parse(text)) for text in texts}
    assert len({str(folder).lower() for folder in folders}) == len(texts)
    for folder in folders:
        folder.mkdir(parents=True)  # no name is too long


# ------------------------------------------------------------- two machines


def test_two_machines_see_the_same(on: On, corpus: Path, embedder: HashingEmbedder) -> None:
    write(corpus, FILES)
    one, two = on("one"), on("two")
    sync([corpus], one, embedder)
    assert one.path != two.path
    assert (two.place, two.collection, two.fingerprint) == (one.place, one.collection, MADE)
    assert two.sources() == one.sources()
    assert (two.count(), two.digest()) == (2, one.digest())
    query = embedder.embed(["what is in the cellar"])
    assert two.query(query, 2) == one.query(query, 2)
    assert two.query_words(["QX-4471", "attic"], 5) == one.query_words(["QX-4471", "attic"], 5)
    assert two.roots() == {"": str(corpus)}
    assert [entry.source for entry in sync([corpus], two, embedder).unchanged] == sorted(FILES)


def test_the_words_of_one_machine_follow_what_another_writes(
    on: On, corpus: Path, embedder: HashingEmbedder
) -> None:
    """While both are open, and also in the middle of a run."""
    write(corpus, FILES)
    one, two = on("one"), on("two")
    sync([corpus], one, embedder)
    assert found_by_words(two, "QX 4471") == ["pumps.md"]
    write(corpus, {"pumps.md": "# Pumps\n\nPart QX-9.", "new.md": "The QX-4471 is new."}, age=60)
    (corpus / "valves.md").unlink()
    seen: list[list[str]] = []
    sync([corpus], one, embedder, progress=lambda *_: seen.append(found_by_words(two, "QX 4471")))
    assert seen[0] == ["pumps.md"]
    assert seen[-1] == ["new.md", "pumps.md", "pumps.md"]  # the old passage is not yet gone
    assert found_by_words(two, "4471") == ["new.md"]
    assert found_by_words(two, "attic") == []
    # Two writes without having searched, one searches without having written.
    write(corpus, {"valves.md": "The attic is empty."})
    sync([corpus], two, embedder)
    assert found_by_words(one, "attic") == ["valves.md"]
    assert one._lexical.ids() == two._lexical.ids() == set(one._passages.ids())


def test_every_field_of_a_record_comes_back(on: On) -> None:
    """Also one that becomes unknown; big numbers to the last digit."""
    full = SourceRecord(
        "a/ü \u2028.md", "a", "ü.md", "f" * 64, 2**40, 2**62 + 1, "2024-05-06", 1 / 3, "*.md (ü)",
        access='["hr"]', date="2024", superseded_by="b.md", note="x", ocr_left=False, chunks=3,
        digest="d", complete=True,
    )  # fmt: skip
    bare = replace(full, date=None, superseded_by=None, note=None, complete=False)
    manifest = on("one")._manifest
    for record in (full, bare, full):
        manifest.write(record)
        assert manifest.find(record.source) == record
        assert on("two").sources() == (record,)
    manifest.mark_incomplete(full.source)
    manifest.mark_incomplete("never.md")
    manifest.delete("never.md")
    assert manifest.sources() == (replace(full, complete=False),)
    for label in ("", "a", "x y"):
        manifest.add_root(label, f"/docs/{label}")
    assert manifest.roots() == {"": "/docs/", "a": "/docs/a", "x y": "/docs/x y"}
    manifest.delete(full.source)
    assert manifest.sources() == ()


def test_what_is_left_out_takes_few_requests(tmp_path: Path) -> None:
    asked: list[str] = []

    class Counting:
        def __getattr__(self, name: str) -> object:
            asked.append(name)
            return getattr(collection, name)

    with closing(folder_client(tmp_path)) as client:
        collection = client.get_or_create_collection("left-out", embedding_function=None)
        manifest = ChromaManifest(Counting())  # type: ignore[arg-type]
        pictures = [LeftOut(f"{n:04}.png", "no loader for .png", failed=False) for n in range(1200)]
        manifest.set_left_out([""], pictures)
        assert manifest.left_out() == tuple(pictures)
        assert asked.count("upsert") < 5
        asked.clear()
        other = replace(pictures[1], failed=True)
        manifest.set_left_out([""], [other, *pictures[2:]])
        assert manifest.left_out() == (other, *pictures[2:])
        assert (asked.count("upsert"), asked.count("delete")) == (1, 1)


# -------------------------------------------------------------------- the lock


def test_one_machine_writes_at_a_time(on: On, corpus: Path, embedder: HashingEmbedder) -> None:
    write(corpus, FILES)
    one, two = on("one"), on("two")
    with one.writing():
        with pytest.raises(StoreError) as caught:
            sync([corpus], two, embedder)
        assert str(caught.value).startswith(
            f"{one.place}: another run is writing to it: "
            f"process {os.getpid()} on {socket.gethostname()}, since 20"
        )
        assert "--unlock" in str(caught.value.hint)
        assert two.query_words(["attic"], 5) == [[]]  # reading goes on
        with on("one", "other").writing():
            pass  # another store has a lock of its own
    sync([corpus], two, embedder)
    assert one.count() == 2


def test_of_many_who_make_a_collection_one_succeeds(address: Address) -> None:
    with closing(ChromaServer(address("race"))) as chroma, ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: chroma.make(address("race").name, {"n": n}), range(8)))
    assert sum(found is not None for found in made) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from factcheck_local.indexer.address import ServerAddress
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from tests.indexer.helpers import HashingEmbedder

def kill(step):
    if step.passages:
        os.kill(os.getpid(), signal.SIGKILL)

embedder = HashingEmbedder()
with Store.create(ServerAddress.parse(sys.argv[2]), Fingerprint.of(embedder)) as store:
    sync([Path(sys.argv[1])], store, embedder, progress=kill)
"""


def test_a_run_that_died(
    on: On, address: Address, corpus: Path, tmp_path: Path, embedder: HashingEmbedder
) -> None:
    """Its own machine goes on by itself; others are refused until they are told to."""
    write(corpus, FILES)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(corpus), str(address("team"))],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "FACTCHECK_HOME": str(tmp_path / "one"),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    one, two = on("one"), on("two")
    assert two.count() == 2
    with pytest.raises(StoreError, match="another run is writing"), two.writing():
        pass
    assert [entry.source for entry in sync([corpus], one, embedder).indexed] == sorted(FILES)
    with two.writing():
        assert "process" in str(server.unlock(address("team")))
        assert server.unlock(address("team")) is None


def test_a_run_that_lost_its_lock_does_not_take_away_that_of_another(
    on: On, address: Address
) -> None:
    one, two, three = on("one"), on("two"), on("three")
    with one.writing():
        server.unlock(address("team"))
        second = two.writing()
        second.__enter__()
    with pytest.raises(StoreError, match="another run is writing"), three.writing():
        pass
    second.__exit__(None, None, None)
    with three.writing():
        pass


# ----------------------------------------------------- what is not as expected


def test_a_server_that_dies_in_mid_run(
    tmp_path: Path,
    chroma: RunningChroma,
    corpus: Path,
    embedder: HashingEmbedder,
    new_store: Callable[..., Store],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the middle of a file: the next run goes on from there."""
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "machine"))
    monkeypatch.setattr("factcheck_local.indexer.sync.EMBED_BATCH", 2)
    text = "\n\n".join(f"# Part {n}\n\n" + f"Thing {n} is in room {n}. " * 30 for n in range(4))
    write(corpus, {**FILES, "long.md": text})
    (tmp_path / "own").mkdir()
    own = type(chroma)(tmp_path / "own")
    address = ServerAddress.parse(f"{own.url}/team")
    embed = embedder.embed

    def dying(texts: list[str]) -> object:
        if len(embedder.texts) == 2:  # the second batch of the first file
            own.kill()
        return embed(texts)

    try:
        with Store.create(address, MADE) as store:
            monkeypatch.setattr(embedder, "embed", dying)
            with pytest.raises(StoreError, match=f"^{address}: does not answer: "):
                sync([corpus], store, embedder)
            monkeypatch.undo()
            monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "machine"))
            with pytest.raises(StoreError, match="does not answer"):
                store.query(embedder.embed(["room"]), 1)
            with pytest.raises(StoreError, match="does not answer"):
                Store.open(address)
        own.start()
        with Store.open(address) as store:
            assert [(known.source, known.complete) for known in store.sources()] == [
                ("long.md", False)
            ]
            embedder.texts.clear()
            assert len(sync([corpus], store, embedder).indexed) == 3
            whole = new_store("whole")
            sync([corpus], whole, HashingEmbedder())
            assert contents(store) == contents(whole)
            assert store.digest() == whole.digest()
            assert len(embedder.texts) == whole.count() - 2  # what was written is kept
            queries = embedder.embed(["room 3", "attic"])
            assert store.query(queries, 4) == whole.query(queries, 4)
            assert store.query_words(["room 3", "attic"], 4) == whole.query_words(
                ["room 3", "attic"], 4
            )
    finally:
        own.kill()


@contextmanager
def answering(status: int, body: str) -> Iterator[ServerAddress]:
    """A server that gives everybody this reply."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:9/")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = Thread(target=serving.serve_forever, args=(0.02,))
        thread.start()
        yield ServerAddress.parse(f"http://127.0.0.1:{serving.server_port}")
        serving.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, '"0.6.3"', "expected version 1 of Chroma's interface, got 0.6.3"),
        (200, "<p>It works!</p>", r"is no Chroma server \(status 200\)"),
        pytest.param(200, "[" * 200_000, r"is no Chroma server \(status 200\)", id="brackets"),
        (404, '{"error": "x"}', r"is no Chroma server \(status 404\)"),
        (302, "", "redirects elsewhere, which is not followed"),
    ],
)
def test_what_is_no_chroma_server(status: int, body: str, message: str) -> None:
    with answering(status, body) as place:
        for opening in (Store.open, Store.erase, server.unlock):
            with pytest.raises(StoreError, match=f"^{place}: {message}$"):
                opening(place)


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = ServerAddress.parse(f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(StoreError, match=f"^{place}: does not answer: "):
            Store.create(place, MADE)


def test_a_server_that_keeps_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factcheck_local.indexer.chroma._CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = ServerAddress.parse(f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(StoreError, match=f"^{place}: does not answer: timed out"):
            Store.open(place)


def test_missing_store_and_one_made_otherwise(on: On, address: Address) -> None:
    with pytest.raises(StoreError, match=f"^no store at {address('team')}$"):
        Store.open(address("team"))
    on("one")
    other = Fingerprint.of(HashingEmbedder(32))
    for opening in (Store.open, Store.create):
        with pytest.raises(StoreError, match=f"^{address('team')}: was made otherwise: embedder."):
            opening(address("team"), other)


def test_a_collection_of_something_else_is_left_alone(address: Address) -> None:
    with closing(ChromaServer(address("team"))) as chroma:
        chroma.make(address("team").name, {"whose": "another's"})
        for opening in (Store.open, Store.erase, lambda place: Store.create(place, MADE)):
            with pytest.raises(StoreError, match=r"the collection .* there is not a store"):
                opening(address("team"))
        left = chroma.find(address("team").name)
        assert left is not None
        assert left.metadata == {"whose": "another's"}


# -------------------------------------------------------------------- rebuilding


def test_erase(on: On, address: Address, corpus: Path, embedder: HashingEmbedder) -> None:
    write(corpus, FILES)
    one, two, other = on("one"), on("two"), on("one", "other")
    for store in (one, other):
        sync([corpus], store, embedder)
    found_by_words(two, "attic")
    with one.writing(), pytest.raises(StoreError, match="another run is writing"):
        Store.erase(address("team"))
    Store.erase(address("team"))
    Store.erase(address("team"))
    with pytest.raises(StoreError, match="no store at"):
        Store.open(address("team"))
    for reading in (two.count, two.sources, lambda: two.query_words(["attic"], 1)):
        with pytest.raises(StoreError, match="has been rebuilt or removed since it was opened"):
            reading()
    again = on("two")
    assert (again.count(), again.sources(), again.query_words(["attic"], 1)) == (0, (), [[]])
    assert other.count() == 2


def test_an_interrupted_rebuild_is_not_taken_for_a_store(
    on: On, address: Address, corpus: Path, embedder: HashingEmbedder
) -> None:
    write(corpus, FILES)
    sync([corpus], on("one"), embedder)

    def interrupt(_chroma: ChromaServer, name: str) -> None:
        if name == address("team").name + "-sources":
            raise KeyboardInterrupt
        delete(_chroma, name)

    delete = ChromaServer.delete
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ChromaServer, "delete", interrupt)
        with pytest.raises(KeyboardInterrupt):
            Store.erase(address("team"))
    with pytest.raises(StoreError, match="rebuilding was interrupted") as caught:
        on("two")
    assert "--rebuild" in str(caught.value.hint)
    Store.erase(address("team"))
    assert on("two").count() == 0


# --------------------------------------------------------------- one address only

ALONE = """
import socket, sys
from urllib.parse import urlsplit
allowed = urlsplit(sys.argv[1]).port
real = socket.socket.connect
def guarded(self, address):
    if address[1] != allowed: raise SystemExit(f"a connection to {address} was tried")
    return real(self, address)
socket.socket.connect = socket.socket.connect_ex = guarded
import numpy as np
from factcheck_local.indexer.address import ServerAddress
from factcheck_local.indexer.fingerprint import EmbedderPrint, Fingerprint
from factcheck_local.indexer.store import Store
made = Fingerprint(EmbedderPrint("e", "0" * 64, 2))
with Store.create(ServerAddress.parse(sys.argv[1]), made) as store:
    store.query(np.ones((1, 2), dtype=np.float32), k=1)
    api = store._passages._collection._client
    settings = api.get_settings()
    assert settings.anonymized_telemetry is False
    assert not settings.chroma_otel_collection_endpoint
    assert not settings.chroma_client_auth_credentials
    assert "X-Hostile" not in api.get_request_headers()
assert not {"onnxruntime", "torch"} & set(sys.modules), "an embedder"
"""


def test_only_the_address_is_called(address: Address, tmp_path: Path) -> None:
    """Whatever proxies and servers the environment and a ``.env`` file name."""
    hostile = {
        "ANONYMIZED_TELEMETRY": "True",
        "CHROMA_API_IMPL": "chromadb.api.rust.RustBindingsAPI",
        "CHROMA_SERVER_HOST": "198.51.100.1",
        "CHROMA_SERVER_HTTP_PORT": "1",
        "CHROMA_SERVER_HEADERS": json.dumps({"X-Hostile": "1"}),
        "CHROMA_CLIENT_AUTH_PROVIDER": "chromadb.auth.token_authn.TokenAuthClientProvider",
        "CHROMA_CLIENT_AUTH_CREDENTIALS": "secret",
        "CHROMA_OTEL_COLLECTION_ENDPOINT": "http://198.51.100.1:4317",
        "CHROMA_OTEL_GRANULARITY": "all",
    }
    proxies = {f"{kind}_PROXY": "http://127.0.0.1:9" for kind in ("HTTP", "HTTPS", "ALL")}
    (tmp_path / ".env").write_text("".join(f"{key}={value}\n" for key, value in hostile.items()))
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(address("alone"))],
        cwd=tmp_path,
        env={
            **os.environ,
            **hostile,
            **proxies,
            **{name.lower(): value for name, value in proxies.items()},
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
