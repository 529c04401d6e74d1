"""The store: round trips, nearest passages, guards against mixing and damage."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.core.errors import InputError, ModelError, StoreError
from factcheck_local.core.types import Chunk, Span
from factcheck_local.indexer import chroma
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.database import exclusive
from factcheck_local.indexer.fingerprint import ChunkerPrint, EmbedderPrint, Fingerprint
from factcheck_local.indexer.folder import find_store
from factcheck_local.indexer.loaders.plain import load
from factcheck_local.indexer.manifest import LeftOut, SourceRecord
from factcheck_local.indexer.manifest_chroma import ChromaManifest
from factcheck_local.indexer.passages import Passages
from factcheck_local.indexer.states import part_of
from factcheck_local.indexer.store import Store

from .helpers import HashingEmbedder, both_kinds, put

if TYPE_CHECKING:
    from chromadb import GetResult

OpenStore = Callable[..., Store]


def record(source: str = "a.txt", **changes: object) -> SourceRecord:
    known = SourceRecord(source, "", source, "f" * 64, 10, 0, "2024-05-06", 0.75, "default")
    return replace(known, **changes)  # type: ignore[arg-type]


def passages(count: int, source: str = "a.txt") -> tuple[Chunk, ...]:
    text = "\n\n".join(f"passage {n} speaks of topic{n} and thing{n % 7}" for n in range(count))
    return chunk(load(text.encode(), source), target_words=7, max_words=7)


def unit_vectors(count: int, dimension: int = 64, seed: int = 0) -> npt.NDArray[np.float32]:
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@both_kinds
def test_contexts_carry_what_a_citation_needs(store: Store) -> None:
    known = record(date="2024-03-01", superseded_by="b.txt", prior=0.6, prior_rule="*.txt (old)")
    (first, second) = passages(2)
    second = replace(second, titles=("Top", "Sub"), page=7)
    put(store, known, (first, second), unit_vectors(2))
    one, two = store.contexts([second.id, first.id])
    assert (one.id, one.source, one.text) == (second.id, "a.txt", second.text)
    assert (one.title, one.page, one.line, one.span) == ("Top > Sub", 7, second.line, second.span)
    assert (one.prior, one.prior_rule) == (0.6, "*.txt (old)")
    assert (one.date, one.superseded_by, one.link) == ("2024-03-01", "b.txt", None)
    assert (two.id, two.page, two.title) == (first.id, None, "a.txt")


def test_what_another_process_writes_is_seen_at_once(tmp_path: Path) -> None:
    made = Fingerprint(EmbedderPrint("x", "0" * 64, 64))
    with Store.create(tmp_path / "s", made) as store:
        before = store.sources(), store.digest()
        assert store.sources() is before[0], "nobody has written"
        for writer in (store, Store.open(tmp_path / "s")):
            name = "own.txt" if writer is store else "others.txt"
            put(writer, record(name), passages(1, name), unit_vectors(1))
            assert name in [r.source for r in store.sources()]
            assert store.digest() != before[1]
            assert store.digest() == writer.digest()
            writer.revise(replace(store.sources()[0], prior=0.1))
            assert store.sources()[0].prior == 0.1
            before = store.sources(), store.digest()
        writer.close()


@both_kinds
def test_what_may_decide_a_run_beside_the_evidence_is_in_the_state(store: Store) -> None:
    written = put(store, record(), passages(2), unit_vectors(2))
    evidence, state = store.digest(), store.state_digest()
    store.revise(replace(written, date="2025-01-01"))
    assert store.digest() == evidence
    assert store.state_digest() != state
    store.revise(replace(written, prior=0.1))
    assert store.digest() != evidence
    assert store.state_digest() != state
    store.revise(written)
    assert (store.digest(), store.state_digest()) == (evidence, state)


def test_the_state_tells_what_a_store_was_made_with_and_is_made_once(tmp_path: Path) -> None:
    found = []
    for name in ("x", "y"):
        made = Fingerprint(EmbedderPrint(name, "0" * 64, 64))
        with Store.create(tmp_path / name, made) as store:
            put(store, record(), passages(2), unit_vectors(2))
            assert store.state_digest() is store.state_digest()
            found.append((store.digest(), store.state_digest()))
    assert found[0][0] == found[1][0]
    assert found[0][1] != found[1][1]


@both_kinds
def test_embeddings_come_back_as_given(store: Store) -> None:
    chunks, vectors = passages(5), unit_vectors(5)
    put(store, record(), chunks, vectors)
    back = store.embeddings([chunks[3].id, chunks[0].id, chunks[3].id])
    assert back.dtype == np.float32
    np.testing.assert_array_equal(back, vectors[[3, 0, 3]])
    assert store.embeddings([]).shape == (0, 64)


@both_kinds
def test_query_finds_the_exact_nearest(store: Store) -> None:
    chunks, vectors = passages(400), unit_vectors(400)
    put(store, record(), chunks, vectors)
    queries = unit_vectors(20, seed=1)
    for query, found in zip(queries, store.query(queries, k=10), strict=True):
        similarities = vectors @ query
        expected = [chunks[index].id for index in np.argsort(-similarities)[:10]]
        assert [id_ for id_, _ in found] == expected
        np.testing.assert_allclose(
            [similarity for _, similarity in found], np.sort(similarities)[::-1][:10], atol=2e-6
        )


def test_similarity_is_that_of_the_cosine(store: Store) -> None:
    vectors = np.eye(64, dtype=np.float32)[:2]
    put(store, record(), passages(2), vectors)
    (found,) = store.query(10 * vectors[:1] - 10 * vectors[1:], k=2)  # length does not matter
    assert [similarity for _, similarity in found] == pytest.approx([0.5**0.5, -(0.5**0.5)])


@both_kinds
@pytest.mark.parametrize("reverse", [False, True])
def test_ties_are_settled_by_id(store: Store, reverse: bool) -> None:
    chunks = passages(12)
    same = unit_vectors(1)
    for passage in chunks[::-1] if reverse else chunks:
        source = f"{passage.id}.txt"
        put(store, record(source), [replace(passage, source=source)], same)
    (found,) = store.query(same, k=5)
    assert [id_ for id_, _ in found] == sorted(passage.id for passage in chunks)[:5]


def test_query_says_the_same_on_every_run(new_store: OpenStore, tmp_path: Path) -> None:
    chunks, vectors, queries = passages(300), unit_vectors(300), unit_vectors(10, seed=2)
    answers = []
    for name, order in (("one", 1), ("two", -1)):
        store = new_store(name)
        for start in range(0, 300, 30)[::order]:
            batch = [replace(p, source=f"{start}.txt") for p in chunks[start : start + 30]]
            put(store, record(f"{start}.txt"), batch, vectors[start : start + 30])
        answers += [store.query(queries, k=8), store.query(queries, k=8)]
        store.close()
        with Store.open(tmp_path / name) as again:
            answers.append(again.query(queries, k=8))
    assert all(answer == answers[0] for answer in answers)


@both_kinds
def test_query_of_few_or_none(store: Store) -> None:
    assert store.query(unit_vectors(2), k=3) == [[], []]
    put(store, record(), passages(2), unit_vectors(2))
    assert [len(found) for found in store.query(unit_vectors(3), k=50)] == [2, 2, 2]
    assert store.query(unit_vectors(0), k=3) == []


@both_kinds
def test_a_scope_of_more_sources_than_a_statement_takes(store: Store) -> None:
    """SQLite, in which Chroma looks for them, takes 32,766 values at a time."""
    names = [f"{n:05}.txt" for n in range(40_000)]
    chunks, vectors = passages(6), unit_vectors(6)
    own = ["00000.txt", "29999.txt", "30000.txt", "39999.txt", "other.txt", "35000.txt"]
    for source, passage, vector in zip(own, chunks, vectors, strict=True):
        put(store, record(source), [replace(passage, source=source)], vector[None])
    queries = unit_vectors(2, seed=1)
    everything = store.query(queries, k=6)
    for k in (2, 6):
        found = store.query(queries, k, frozenset(names))
        expected = [[hit for hit in hits if hit[0] != chunks[4].id] for hits in everything]
        assert found == [hits[:k] for hits in expected]
    words = store.query_words(["topic4", "topic5"], 6, frozenset(names))
    assert [[id_ for id_, _ in hits] for hits in words] == [[], [chunks[5].id]]


def limited(get: Callable[..., GetResult]) -> Callable[..., GetResult]:
    """Give three rows at a time at most, as Chroma's SQLite gives 32,000 or so."""

    def few(include: Sequence[str], **asked: object) -> GetResult:
        rows = get(include=include, **asked)
        assert not include or len(rows["ids"]) <= 3
        return rows

    return few


@both_kinds
def test_more_passages_and_sources_than_a_statement_gives(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma, "AT_ONCE", 3)
    monkeypatch.setattr(store._passages, "_batch", 3)
    for part in (store._passages, store._manifest):
        if isinstance(part, Passages | ChromaManifest):
            monkeypatch.setattr(part._collection, "get", limited(part._collection.get))
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        put(store, record(name), passages(5, name), unit_vectors(5))
        store.set_left_out([f"no-{name}"], [LeftOut(f"no-{name}", "hidden", failed=False)])
        store.add_root(name, name)
    assert len(store.vectors_of("a.txt")) == 5
    store.revise(replace(store.sources()[0], prior=0.5))
    put(store, record("b.txt"), passages(2, "b.txt"), unit_vectors(2))
    assert [known.source for known in store.sources()] == ["a.txt", "b.txt", "c.txt", "d.txt"]
    assert (len(store.roots()), len(store.left_out())) == (4, 4)
    assert store.faults() == ()


@pytest.mark.parametrize("k", [0, -1])
def test_query_for_nothing(store: Store, k: int) -> None:
    with pytest.raises(InputError, match="k of at least 1"):
        store.query(unit_vectors(1), k=k)


def test_wrong_shapes_and_values(store: Store) -> None:
    with pytest.raises(ModelError, match=r"shape \(n, 64\), got \(1, 32\)"):
        store.query(unit_vectors(1, 32), k=1)
    with pytest.raises(ModelError, match=r"shape \(2, 64\), got shape \(1, 64\)"):
        put(store, record(), passages(2), unit_vectors(1))
    with pytest.raises(ModelError, match="finite"):
        put(store, record(), passages(1), np.full((1, 64), np.nan, dtype=np.float32))


def test_unknown_passage(store: Store) -> None:
    with pytest.raises(StoreError, match="no passage 'nope'"):
        store.contexts(["nope"])
    with pytest.raises(StoreError, match="no passage 'nope'"):
        store.embeddings(["nope"])


@both_kinds
def test_put_replaces_what_a_source_had(store: Store) -> None:
    old = passages(6)
    put(store, record(date="2020", superseded_by="x"), old, unit_vectors(6))
    moved = [replace(p, line=p.line + 3, span=Span(p.span.start + 9, p.span.end + 9)) for p in old]
    written = put(store, record(prior=0.5), moved[2:], unit_vectors(4, seed=3))
    assert (written.chunks, written.complete, store.count()) == (4, True, 4)
    (context,) = store.contexts([old[2].id])
    assert (context.line, context.prior) == (moved[2].line, 0.5)
    assert (context.date, context.superseded_by) == (None, None)
    assert store.sources() == (written,)


@both_kinds
def test_known_passages_need_no_new_embedding(store: Store) -> None:
    chunks = passages(4)
    put(store, record(), chunks[:3], unit_vectors(3))
    newer = record(date="2024")
    draft = store.begin(newer)
    assert draft.present == {passage.id for passage in chunks[:3]}
    store.add([(newer, chunks[3])], unit_vectors(1, seed=5))
    store.complete(draft, chunks[1:])
    assert store.count() == 3
    assert {context.date for context in store.contexts([p.id for p in chunks[1:]])} == {"2024"}
    np.testing.assert_array_equal(store.embeddings([chunks[1].id])[0], unit_vectors(3)[1])


@both_kinds
def test_interrupted_source_is_marked(store: Store) -> None:
    store.begin(record())
    store.add([(record(), passage) for passage in passages(2)], unit_vectors(2))
    (known,) = store.sources()
    assert (known.source, known.complete) == ("a.txt", False)
    assert store.count() == 2


@both_kinds
def test_revise_reaches_every_passage(store: Store) -> None:
    chunks = passages(3)
    written = put(store, record(date="2024"), chunks, unit_vectors(3))
    digest = store.digest()
    store.revise(replace(written, prior=0.4, prior_rule="a.txt"))
    found = store.contexts([passage.id for passage in chunks])
    assert {(c.prior, c.prior_rule, c.date) for c in found} == {(0.4, "a.txt", "2024")}
    assert store.digest() != digest
    store.revise(written)
    assert store.digest() == digest


@both_kinds
def test_remove(store: Store) -> None:
    put(store, record("a.txt"), passages(3), unit_vectors(3))
    put(store, record("b.txt"), passages(2, "b.txt"), unit_vectors(2))
    store.remove("a.txt")
    store.remove("never.txt")
    assert [known.source for known in store.sources()] == ["b.txt"]
    assert store.count() == 2


def test_what_was_made_of_passages_goes_with_one_of_their_source(new_store: OpenStore) -> None:
    store = new_store()
    states = store.states
    assert states is not None
    put(store, record("a.txt"), passages(3), unit_vectors(3))

    def keep(source: str) -> Path:
        kept = states / part_of(source) / "one.state"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(f"words of {source}".encode())
        return kept

    of_a, of_b = keep("a.txt"), keep("b.txt")
    old = states / "of-any.state"
    old.write_bytes(b"words of some source, as they were kept before")
    (states / "limit").write_text("1000")
    put(store, record("b.txt"), passages(2, "b.txt"), unit_vectors(2))
    store.revise(record("b.txt", prior=0.5))
    store.remove("never.txt")
    assert all(path.exists() for path in (of_a, of_b, old)), "no passage went"
    put(store, record("b.txt"), passages(1, "b.txt"), unit_vectors(1))
    assert not of_b.exists(), "one of two went"
    assert not old.exists()
    assert of_a.exists()
    store.remove("a.txt")
    assert not of_a.exists()
    assert (states / "limit").exists()
    kept = keep("a.txt")
    path = store.path
    store.close()
    Store.erase(path)
    assert not kept.exists()


def test_what_was_made_of_passages_goes_before_them_and_once_more(
    new_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that ends in between has removed it; what is written in between goes, too."""
    store = new_store()
    assert store.states is not None
    put(store, record("a.txt"), passages(3), unit_vectors(3))
    kept = store.states / part_of("a.txt") / "one.state"

    def keep() -> None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(b"words of a.txt")

    def fails(_self: Passages, _ids: list[str]) -> None:
        assert not kept.exists()
        raise OSError("the disk went away")

    keep()
    with monkeypatch.context() as patched:
        patched.setattr(Passages, "delete", fails)
        with pytest.raises(OSError, match="went away"):
            store.remove("a.txt")
    delete = Passages.delete

    def with_another(self: Passages, ids: list[str]) -> None:
        keep()
        delete(self, ids)

    monkeypatch.setattr(Passages, "delete", with_another)
    store.remove("a.txt")
    assert not kept.exists()


@pytest.mark.parametrize("new_store", ["server"], indirect=True)
def test_of_passages_that_others_may_remove_nothing_is_kept(new_store: OpenStore) -> None:
    assert new_store().states is None


def test_the_size_is_that_of_the_store_alone(new_store: OpenStore, tmp_path: Path) -> None:
    store = new_store()
    before = store.size()
    assert before >= (tmp_path / ".factcheck" / "sources.sqlite3").stat().st_size > 0
    new_store(".factcheck/collections/hr")
    assert store.size() == before


def test_a_file_that_goes_while_the_size_is_taken_is_not_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As what a model made of passages does when a run removes one."""
    before, walk = store.size(), os.walk
    (store.path / "passage-states").mkdir()
    (store.path / "passage-states" / "one").write_text("x" * 100)

    def removed_meanwhile(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
        for at, folders, files in walk(top):
            if "one" in files:
                (store.path / "passage-states" / "one").unlink()
            yield at, folders, files

    monkeypatch.setattr(os, "walk", removed_meanwhile)
    assert store.size() == before


@both_kinds
def test_digest_does_not_depend_on_the_order_of_writing(new_store: OpenStore) -> None:
    digests = set()
    for name, sources in (("one", ["a.txt", "b.txt"]), ("two", ["b.txt", "a.txt"])):
        store = new_store(name)
        for source in sources:
            put(store, record(source), passages(3, source), unit_vectors(3))
        digests.add(store.digest())
    assert len(digests) == 1


def test_everything_is_on_disk_after_closing(new_store: OpenStore, tmp_path: Path) -> None:
    store = new_store()
    chunks = passages(3)
    put(store, record(), chunks, unit_vectors(3))
    digest, sources = store.digest(), store.sources()
    store.close()
    with Store.open(tmp_path / ".factcheck") as again:
        assert (again.digest(), again.sources(), again.count()) == (digest, sources, 3)


# ------------------------------------------------------------------ guards


def test_missing_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store at") as caught:
        Store.open(tmp_path / "none")
    assert caught.value.hint == "factcheck index PATH..."
    assert not (tmp_path / "none").exists()


def test_find_store_upwards(new_store: OpenStore, tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    with pytest.raises(StoreError, match=r"no store \(\.factcheck\) in") as caught:
        find_store(below)
    assert caught.value.hint == "factcheck index PATH..."
    new_store()
    assert find_store(below) == tmp_path / ".factcheck"
    new_store("a/.factcheck")
    assert find_store(below) == tmp_path / "a" / ".factcheck"


MADE = EmbedderPrint("hashing", "0" * 64, 64)
OTHERWISE = [
    (Fingerprint(replace(MADE, id="mpnet")), "embedder.id is hashing there, mpnet now$"),
    (Fingerprint(replace(MADE, dimension=768)), "embedder.dimension is 64 there, 768 now$"),
    (Fingerprint(replace(MADE, sha256="1" * 64)), "embedder.sha256 is 0+ there, 1+ now$"),
    (Fingerprint(MADE, ChunkerPrint(max_words=200)), "chunker.max_words is 180 there, 200 now$"),
    (Fingerprint(MADE, ChunkerPrint(1, 90)), "chunker.version is .*; chunker.target_words is"),
]


@pytest.mark.parametrize(("wanted", "message"), OTHERWISE)
def test_store_made_otherwise(
    new_store: OpenStore, tmp_path: Path, wanted: Fingerprint, message: str
) -> None:
    new_store().close()
    for opening in (Store.open, Store.create):
        with pytest.raises(StoreError, match=message) as caught:
            opening(tmp_path / ".factcheck", wanted)
        assert caught.value.hint is not None
        assert caught.value.hint.startswith("factcheck index --rebuild PATH...")


def test_create_does_not_touch_other_folders(tmp_path: Path) -> None:
    (tmp_path / "chroma").mkdir()
    with pytest.raises(StoreError, match="is not a store, and not empty"):
        Store.create(tmp_path, Fingerprint.of(HashingEmbedder()))
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be made"):
        Store.create(tmp_path / "file", Fingerprint.of(HashingEmbedder()))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "expected schema factcheck.store/3, got None"),
        ('{"schema": "factcheck.store/9"}', "got factcheck.store/9"),
        ('{"schema": "factcheck.store/3"}', "is incomplete"),
        ('{"schema": "factcheck.store/erasing"}', "the store's rebuilding was interrupted"),
    ],
)
def test_broken_store_json(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "store.json").write_text(content)
    with pytest.raises(StoreError, match=message) as caught:
        Store.open(tmp_path)
    assert "--rebuild" in str(caught.value.hint)


@pytest.mark.parametrize("name", ["sources.sqlite3", "chroma/chroma.sqlite3"])
def test_damaged_files(new_store: OpenStore, tmp_path: Path, name: str) -> None:
    new_store().close()
    (tmp_path / ".factcheck" / name).write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match=r"is damaged|cannot be opened"):
        Store.open(tmp_path / ".factcheck")


def test_erase_removes_the_store_and_nothing_else(new_store: OpenStore, tmp_path: Path) -> None:
    store = new_store()
    put(store, record(), passages(2), unit_vectors(2))
    store.close()
    path = tmp_path / ".factcheck"
    (path / "notes.txt").touch()
    Store.erase(path)
    assert {entry.name for entry in path.iterdir()} == {"notes.txt", "writer.lock"}
    Store.erase(path)
    (path / "notes.txt").unlink()
    assert new_store().count() == 0


def test_a_store_that_a_run_is_writing_is_not_erased(store: Store) -> None:
    written = put(store, record(), passages(2), unit_vectors(2))
    with store.writing(), pytest.raises(StoreError, match="another run is writing to it"):
        Store.erase(store.path)
    with Store.open(store.path) as again:
        assert (again.sources(), again.count()) == ((written,), 2)


@pytest.mark.parametrize("there", ["folder", "other file", "nothing"])
def test_what_cannot_be_locked_is_said(tmp_path: Path, there: str) -> None:
    lock = tmp_path / "lock"
    if there == "folder":
        lock.mkdir()
    elif there == "other file":
        lock.write_bytes(b"no database" * 1000)
    else:
        lock = tmp_path / "none" / "lock"
    with pytest.raises(StoreError, match="the store: cannot be locked: "):
        exclusive(lock, "the store").__enter__()


def test_store_json_says_what_it_was_made_with(new_store: OpenStore, tmp_path: Path) -> None:
    new_store()
    assert json.loads((tmp_path / ".factcheck" / "store.json").read_text()) == {
        "schema": "factcheck.store/3",
        "embedder": {"id": "hashing", "sha256": "0" * 64, "dimension": 64},
        "chunker": {"version": 5, "target_words": 150, "max_words": 180},
    }


@both_kinds
def test_one_writer_at_a_time(new_store: OpenStore) -> None:
    store, other = new_store(), new_store()
    with store.writing():
        with pytest.raises(StoreError, match="another run is writing"), other.writing():
            pass
        assert other.count() == 0  # reading goes on
    with other.writing():
        pass


def test_chroma_keeps_cosine_and_no_embedder(store: Store) -> None:
    collection = store._passages._collection
    assert collection.name == store.collection == "passages"
    configuration = collection.configuration_json
    assert configuration["hnsw"]["space"] == "cosine"
    assert configuration["hnsw"]["ef_search"] == 200
    assert collection._embedding_function is None


OFFLINE = """
import socket, sys
def refuse(*args): raise SystemExit("a connection was tried")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
import numpy as np
from pathlib import Path
from factcheck_local.indexer.fingerprint import EmbedderPrint, Fingerprint
from factcheck_local.indexer.store import Store
assert "chromadb" not in sys.modules
with Store.create(Path("store"), Fingerprint(EmbedderPrint("e", "0" * 64, 2))) as store:
    store.query(np.ones((1, 2), dtype=np.float32), k=1)
    settings = store._passages._collection._client.get_settings()
    assert settings.anonymized_telemetry is False
    assert not settings.chroma_otel_collection_endpoint
assert not {"onnxruntime", "posthog", "torch"} & set(sys.modules), "an embedder or telemetry"
"""


def test_no_connection_and_no_telemetry(tmp_path: Path) -> None:
    """Not even where the environment or a ``.env`` file asks for it."""
    hostile = {
        "ANONYMIZED_TELEMETRY": "True",
        "CHROMA_API_IMPL": "chromadb.api.fastapi.FastAPI",
        "CHROMA_SERVER_HOST": "198.51.100.1",
        "CHROMA_OTEL_COLLECTION_ENDPOINT": "http://198.51.100.1:4317",
        "CHROMA_OTEL_GRANULARITY": "all",
    }
    (tmp_path / ".env").write_text("".join(f"{key}={value}\n" for key, value in hostile.items()))
    package = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE],
        cwd=tmp_path,
        env={**os.environ, **hostile, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_the_offline_test_can_fail() -> None:
    """The guard of the test above does see a connection."""
    guard = OFFLINE.partition("import numpy")[0]
    done = subprocess.run(
        [sys.executable, "-c", f"{guard}socket.create_connection(('127.0.0.1', 9))"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "a connection was tried" in done.stderr
    assert socket.socket.connect is not None
