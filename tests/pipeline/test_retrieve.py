"""Retrieval by meaning, by words and by both, without copies, for several queries, reranked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from factcheck_local.core.progress import Progress
from factcheck_local.core.types import Atom, Context
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.pipeline.retrieval.fusion import reciprocal_rank_fusion
from factcheck_local.pipeline.retrieval.search import retrieve, search
from factcheck_local.pipeline.settings import Retrieval

PAGES = {
    "leave.md": "# Leave\n\nStaff get 25 days of annual leave.",
    "holiday.md": "# Time off\n\nHow much vacation an employee has depends on the contract.",
    "pump.md": "# Parts\n\nThe pump is part QX-4471 and lies in the cellar.",
    "valve.md": "# Parts\n\nThe valve is part QX-4472 and lies in the attic.",
    "canteen.md": "# Canteen\n\nLunch is served from noon.",
}


def test_fusion_by_hand() -> None:
    found = reciprocal_rank_fusion([["a", "b", "c"], ["b", "d"]], constant=60)
    assert [i for i, _ in found] == ["b", "a", "d", "c"]
    assert found[0][1] == pytest.approx(1 / 62 + 1 / 61)
    assert reciprocal_rank_fusion([["b"], ["a"]])[0][0] == "a"
    weighed = reciprocal_rank_fusion([["b"], ["a", "b"]], 10, weights=[1.5, 1.0])
    assert [i for i, _ in weighed] == ["b", "a"]
    assert [score for _, score in weighed] == pytest.approx([1.5 / 11 + 1 / 12, 1 / 11])
    assert reciprocal_rank_fusion([]) == []


@pytest.fixture
def store(tmp_path: Path, minilm: SentenceTransformerEmbedder) -> Store:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name, text in PAGES.items():
        (corpus / name).write_text(text, encoding="utf-8")
    made = Store.create(tmp_path / "store", Fingerprint.of(minilm))
    sync([corpus], made, minilm)
    return made


@pytest.mark.parametrize(
    ("retrieval", "query", "first"),
    [
        ("dense", "vacation days of employees", {"leave.md", "holiday.md"}),
        ("lexical", "the part QX-4472", {"valve.md"}),
        ("fused", "the part QX-4472", {"valve.md"}),
        ("fused", "vacation days of employees", {"holiday.md", "leave.md"}),
    ],
)
def test_each_way_finds_what_it_is_good_at(
    store: Store,
    minilm: SentenceTransformerEmbedder,
    retrieval: Retrieval,
    query: str,
    first: set[str],
) -> None:
    (found,) = search([query], minilm.embed([query]), store, 2, retrieval)
    assert found[0].source in first
    assert len(found) <= 2
    again = search([query], minilm.embed([query]), store, 2, retrieval)
    assert again == [found]


def test_no_queries_and_no_hits(store: Store, minilm: SentenceTransformerEmbedder) -> None:
    assert search([], minilm.embed([]), store, 3, "fused") == []
    assert search(["zzz"], minilm.embed(["zzz"]), store, 3, "lexical") == [[]]


def test_copies_do_not_fill_the_list(
    tmp_path: Path, store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    for i in range(4):
        (copies / f"copy{i}.md").write_text(PAGES["leave.md"], encoding="utf-8")
    (copies / "reliability.toml").write_text(
        'default = 0.7\n[[source]]\nmatch = "copy2.md"\nprior = 0.97\n'
    )
    sync([copies], store, minilm)
    atom = Atom("a", "Staff get 25 days of annual leave.", "Staff get 25 days of annual leave.")
    found = retrieve([atom], store, minilm, k=3, retrieval="fused")
    sources = [c.source for c in found.contexts]
    # Of the five copies the one that is trusted most.
    assert sources[0].endswith("copy2.md")
    assert len([s for s in sources if "copy" in s or s.endswith("leave.md")]) == 1
    assert found.by_atom["a"] == tuple(c.id for c in found.contexts)
    assert found.context_vectors.shape == (len(found.contexts), minilm.dimension)


def test_the_rankings_of_a_group_are_fused(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    texts = ["the part QX-4472", "lunch noon", "the part QX-4472"]
    vectors = minilm.embed(texts)
    alone = search(texts, vectors, store, 5, "lexical")
    assert [found[0].source for found in alone] == ["valve.md", "canteen.md", "valve.md"]
    both, last = search(texts, vectors, store, 5, "lexical", of=[0, 0, 1])
    assert last == alone[2]
    rankings = [[c.id for c in found] for found in alone[:2]]
    assert [c.id for c in both] == [i for i, _ in reciprocal_rank_fusion(rankings)]
    assert {c.source for c in both[:2]} == {"valve.md", "canteen.md"}


ATOM = Atom("a", "The valve lies in the attic.", "The valve lies in the attic.")


def test_further_queries_find_what_the_atom_does_not(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    other = Atom("b", "Lunch is served from noon.", "Lunch is served from noon.")
    plain = retrieve([ATOM, other], store, minilm, k=2, retrieval="lexical")
    asked = retrieve(
        [ATOM, other], store, minilm, k=2, retrieval="lexical", queries={"a": ("annual leave",)}
    )
    sources = {c.id: c.source for c in (*plain.contexts, *asked.contexts)}
    assert "leave.md" not in {sources[i] for i in plain.by_atom["a"]}
    assert {sources[i] for i in asked.by_atom["a"]} == {"valve.md", "leave.md"}
    assert asked.by_atom["b"] == plain.by_atom["b"]
    # What is compared with the passages is still the atom.
    assert (asked.atom_vectors == plain.atom_vectors).all()


class Backwards:
    """A ``Reranker`` that prefers what was found last."""

    id = "backwards"
    sha256 = "0" * 64
    search_weight = 0

    def __init__(self) -> None:
        self.calls: list[tuple[str, Context]] = []

    def scores(
        self,
        pairs: Sequence[tuple[str, Context]],
        progress: Progress = lambda _done, _all: None,
    ) -> list[float | None]:
        self.calls += pairs
        progress(len(pairs), len(pairs))
        return [None if "silence" in claim else float(i) for i, (claim, _) in enumerate(pairs)]


def test_the_reranker_chooses_among_more_than_k_none_of_them_copies(
    tmp_path: Path, store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    (copies / "copy.md").write_text(PAGES["valve.md"], encoding="utf-8")
    sync([copies], store, minilm)
    reranker = Backwards()
    plain = retrieve([ATOM], store, minilm, k=len(PAGES))
    found = retrieve([ATOM], store, minilm, k=1, reranker=reranker)
    # Five pages and a copy: the copy is not read, and each page once.
    assert [c.id for _, c in reranker.calls] == list(plain.by_atom["a"])
    assert len(reranker.calls) == len(PAGES)
    assert {claim for claim, _ in reranker.calls} == {ATOM.text}
    assert len(found.by_atom["a"]) == 1
    assert found.context_vectors.shape == (1, minilm.dimension)
    assert found.unread == 0


def test_an_atom_that_cannot_be_read_keeps_its_passages(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    atom = Atom("a", "There is silence about the valve.", "There is silence about the valve.")
    found = retrieve([atom], store, minilm, k=3, reranker=Backwards())
    assert found.by_atom == retrieve([atom], store, minilm, k=3).by_atom
    assert found.unread == 1
