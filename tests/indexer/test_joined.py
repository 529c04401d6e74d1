"""Several stores read as one: what is found, whose it is, and what cannot be joined."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from factcheck_local.core.errors import StoreError
from factcheck_local.core.types import titled
from factcheck_local.indexer.address import ServerAddress, StorePlace, collection_in
from factcheck_local.indexer.joined import JoinedPlace, JoinedStore, below, open_place
from factcheck_local.indexer.reliability import ReliabilityProfile
from factcheck_local.indexer.scope import Condition, in_scope
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.pipeline.retrieval.search import search
from factcheck_local.pipeline.settings import Retrieval

from .helpers import HashingEmbedder, write

HR: dict[str, str | bytes] = {
    "leave.md": "# Leave\n\nStaff have 27 days of leave a year.",
    "pay.md": "---\naccess: hr\n---\n# Pay\n\nPay is due on the last day of the month.",
}
IT: dict[str, str | bytes] = {
    "leave.md": "# Leave of accounts\n\nAccounts of people on leave stay open for 90 days.",
    "backup.md": "# Backup\n\nBackups are kept for 30 days.",
}
QUERIES = ["days of leave", "for how long are backups kept", "when is pay due"]


@pytest.fixture
def stores(
    tmp_path: Path, new_store: Callable[..., Store], embedder: HashingEmbedder
) -> dict[str, Store]:
    made = {}
    for name, files, prior in (("hr", HR, 0.95), ("it", IT, 0.6)):
        folder = tmp_path / f"{name}-docs"
        folder.mkdir()
        write(folder, files)
        write(folder, {"reliability.toml": f"default = {prior}\n"})
        made[name] = new_store(name)
        sync([folder], made[name], embedder, ReliabilityProfile.load(folder / "reliability.toml"))
    return made


@pytest.fixture
def joined(stores: dict[str, Store]) -> JoinedStore:
    return JoinedStore(stores)


def found(
    store: Store | JoinedStore, embedder: HashingEmbedder, retrieval: Retrieval, **scope: object
) -> list[list[tuple[str, str]]]:
    hits = search(QUERIES, embedder.embed(QUERIES), store, 4, retrieval, **scope)  # type: ignore[arg-type]
    return [[(c.source, c.text) for c in of_query] for of_query in hits]


def test_each_keeps_its_sources_and_priors(joined: JoinedStore) -> None:
    priors = {record.source: record.prior for record in joined.sources()}
    assert priors == {
        "hr/leave.md": 0.95,
        "hr/pay.md": 0.95,
        "it/backup.md": 0.6,
        "it/leave.md": 0.6,
    }
    assert joined.count() == 4


def test_what_is_most_similar_is_what_one_store_of_all_would_give(
    joined: JoinedStore,
    tmp_path: Path,
    new_store: Callable[..., Store],
    embedder: HashingEmbedder,
) -> None:
    everything = tmp_path / "all"
    for name, files in (("hr", HR), ("it", IT)):
        (everything / name).mkdir(parents=True)
        write(everything / name, files)
    whole = new_store("whole")
    sync([everything], whole, embedder)
    assert found(joined, embedder, "dense") == found(whole, embedder, "dense")


@pytest.mark.parametrize("retrieval", ["dense", "lexical", "fused"])
def test_passages_of_both_are_found(
    joined: JoinedStore, embedder: HashingEmbedder, retrieval: Retrieval
) -> None:
    leave, backups, pay = found(joined, embedder, retrieval)
    assert {"hr/leave.md", "it/leave.md"} <= {source for source, _ in leave}
    assert backups[0][0] == "it/backup.md"
    assert pay[0][0] == "hr/pay.md"


def test_scope(joined: JoinedStore, embedder: HashingEmbedder) -> None:
    only_it = in_scope(joined.sources(), [Condition.parse("source=it/**")])
    assert only_it == frozenset({"it/backup.md", "it/leave.md"})
    for hits in found(joined, embedder, "fused", scope=only_it):
        assert {source for source, _ in hits} <= only_it
    public = in_scope(joined.sources(), groups=["sales"])
    assert public is not None
    assert "hr/pay.md" not in public
    assert all(
        source != "hr/pay.md"
        for hits in found(joined, embedder, "fused", scope=public)
        for source, _ in hits
    )
    assert found(joined, embedder, "fused", scope=frozenset()) == [[], [], []]


def test_passages_by_id_in_any_order(joined: JoinedStore, embedder: HashingEmbedder) -> None:
    (ranked, *_) = joined.query(embedder.embed(QUERIES[:1]), 4)
    ids = [id_ for id_, _ in ranked]
    assert [score for _, score in ranked] == sorted((s for _, s in ranked), reverse=True)
    contexts = joined.contexts(ids)
    assert [c.id for c in contexts] == ids
    assert [c.id for c in joined.contexts(ids[::-1])] == ids[::-1]
    own = embedder.embed([titled(c.title, c.text) for c in contexts])
    assert np.allclose(joined.embeddings(ids), own, atol=1e-6)
    assert np.array_equal(joined.embeddings(ids[::-1]), joined.embeddings(ids)[::-1])
    assert joined.embeddings([]).shape == (0, 64)
    for unknown in ("leave", "sales:1", ids[0] + "0"):
        with pytest.raises(StoreError, match="no passage"):
            joined.contexts([unknown])


def test_the_digest_tells_which_stores_and_what_is_in_them(
    joined: JoinedStore, stores: dict[str, Store], embedder: HashingEmbedder, tmp_path: Path
) -> None:
    before = joined.digest()
    assert JoinedStore(stores).digest() == before
    assert JoinedStore({"hr": stores["hr"], "support": stores["it"]}).digest() != before
    (tmp_path / "it-docs" / "backup.md").write_text("# Backup\n\nBackups are kept for 60 days.")
    sync([tmp_path / "it-docs"], stores["it"], embedder)
    assert joined.digest() != before


def test_a_successor_is_named_by_its_store_only_if_it_is_in_it(
    stores: dict[str, Store], joined: JoinedStore, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    old = {
        "moved.md": "---\nsuperseded_by: https://intranet/leave\n---\nIt is on the intranet now.",
        "old.md": "---\nsuperseded_by: leave.md\n---\nStaff have 20 days of leave a year.",
    }
    write(tmp_path / "hr-docs", dict(old))
    sync([tmp_path / "hr-docs"], stores["hr"], embedder)
    wanted = {"hr/moved.md": "https://intranet/leave", "hr/old.md": "hr/leave.md"}
    records = {r.source: r.superseded_by for r in joined.sources() if r.superseded_by}
    assert records == wanted
    (ranked,) = joined.query(embedder.embed(["leave"]), 10)
    contexts = joined.contexts([id_ for id_, _ in ranked])
    assert {c.source: c.superseded_by for c in contexts if c.superseded_by} == wanted


def test_stores_of_other_embedders_are_not_joined(
    stores: dict[str, Store], new_store: Callable[..., Store]
) -> None:
    class Another(HashingEmbedder):
        def __init__(self, name: str, sha256: str) -> None:
            super().__init__()
            self.id, self.sha256 = name, sha256

    name = new_store("name", Another("others", "0" * 64))
    with pytest.raises(
        StoreError, match=r"name: made with embedder others, and .*hr with hashing: they cannot be"
    ):
        JoinedStore({**stores, "other": name})
    weights = new_store("weights", Another("hashing", "1" * 64))
    with pytest.raises(
        StoreError, match=r"weights: made with other weights of hashing than .*hr: they cannot be"
    ):
        JoinedStore({**stores, "other": weights})
    with pytest.raises(StoreError, match="at least one"):
        JoinedStore({})


def test_names_of_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    server = ServerAddress.parse("http://localhost:8000/legal")
    places: list[StorePlace] = [
        Path("hr/.factcheck"),
        Path("it"),
        Path("old/it"),
        server,
        Path("a:b"),
    ]
    named = JoinedPlace.of(places)
    assert list(named.places) == ["hr", "it", "it-2", "legal", "a_b"]
    assert str(named).startswith("hr/.factcheck, it, old/it, http://localhost:8000/legal")
    moved = below(named, tmp_path)
    assert isinstance(moved, JoinedPlace)
    assert next(iter(moved.places.values())) == tmp_path / "hr/.factcheck"
    assert moved.places["legal"] == server
    assert below(server, tmp_path) == server


def test_one_that_cannot_be_opened_leaves_none_open(
    tmp_path: Path, stores: dict[str, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    close = Store.close

    def noted(store: Store) -> None:
        closed.append(store.place)
        close(store)

    monkeypatch.setattr(Store, "close", noted)
    first = stores["hr"].path
    with pytest.raises(StoreError, match="no store at"):
        open_place(JoinedPlace.of([first, tmp_path / "nothing"]))
    assert closed == [str(first)]
    with open_place(JoinedPlace.of([first, stores["it"].path])) as both:
        assert both.count() == 4
    assert sorted(closed[1:]) == sorted([str(first), str(stores["it"].path)])


def test_where_collections_are() -> None:
    assert collection_in(Path("s"), "hr") == Path("s/collections/hr")
    server = ServerAddress.parse("http://localhost:8000")
    assert str(collection_in(server, "legal")) == "http://localhost:8000/legal"
    with pytest.raises(StoreError, match="names a store already"):
        collection_in(ServerAddress.parse("http://localhost:8000/hr-1"), "legal")
    for name in ("", "-", "../up", "a/b", "n" * 101):
        with pytest.raises(StoreError, match="expected up to 100"):
            collection_in(Path("s"), name)
    for name in ("hr", "x-sources"):
        with pytest.raises(StoreError, match="expected a store's name"):
            collection_in(server, name)
