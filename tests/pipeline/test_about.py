"""What an answer is about: the last place goes to the documents that its claims find together."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.core.types import Atom
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.pipeline.retrieval.about import by_documents
from factcheck_local.pipeline.retrieval.search import retrieve

SOURCES = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}


def test_the_last_place_goes_to_the_document_that_the_others_find() -> None:
    ranked = [
        [("b1", 0.20), ("c1", 0.16), ("a1", 0.15)],
        [("a1", 0.20), ("c1", 0.10)],
        [("a2", 0.20), ("c1", 0.10)],
    ]
    assert by_documents(ranked, SOURCES, k=1)[0] == ["a1", "b1", "c1"]
    assert by_documents(ranked, SOURCES, k=2) == [["b1", "a1", "c1"], ["a1", "c1"], ["a2", "c1"]]
    assert by_documents(ranked, SOURCES, k=3)[0] == ["b1", "c1", "a1"]


def test_what_a_claim_finds_itself_does_not_count_for_it() -> None:
    """Else a further passage of what it finds first would grow most."""
    ranked = [[("a1", 0.30), ("b1", 0.20), ("a2", 0.19)], [("c1", 0.20)]]
    assert by_documents(ranked, SOURCES, k=2)[0] == ["a1", "b1", "a2"]


def test_the_score_grows_by_the_mean_of_one_through_the_rank() -> None:
    others = [[("c1", 0.2), ("a1", 0.1)], [("c1", 0.2)]]
    for b1, second in ((0.1124, "a1"), (0.1126, "b1")):
        # a's share is (1/2 + 0) / 2, so that 0.1 becomes 0.1125.
        ranked = [[("c1", 0.3), ("b1", b1), ("a1", 0.1)], *others]
        assert by_documents(ranked, SOURCES, k=2)[0][1] == second
    # What stands behind the k does not count.
    late = [[("c1", 0.2), ("c2", 0.15), ("a1", 0.1)], [("c1", 0.2)]]
    ranked = [[("c1", 0.3), ("b1", 0.11), ("a1", 0.1)], *late]
    assert by_documents(ranked, SOURCES | {"c2": "c"}, k=2)[0][1] == "b1"


@given(
    st.lists(
        st.lists(st.sampled_from(sorted(SOURCES)), unique=True).map(
            lambda ids: [(id_, 1 / (10 + rank)) for rank, id_ in enumerate(ids)]
        ),
        max_size=4,
    )
)
def test_no_passage_is_lost_or_added(ranked: list[list[tuple[str, float]]]) -> None:
    found = by_documents(ranked, SOURCES, k=2)
    assert [sorted(ids) for ids in found] == [sorted(id_ for id_, _ in own) for own in ranked]
    if len(ranked) < 2:
        assert found == [[id_ for id_, _ in own] for own in ranked]


@pytest.fixture
def store(tmp_path: Path, minilm: SentenceTransformerEmbedder) -> Store:
    pages = {
        "referrals": "# Referrals\n\nWho refers an engineer gets 900 euros.\n\n## When\n\n"
        "Half comes on the first day, half after probation.",
        "sales": "# Commission\n\nHalf of the bonus for a sale comes on the day when it is signed.",
        "pay": "# Bonus\n\nHalf of the bonus of a team comes when the year starts.",
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    opened = Store.create(tmp_path / "store", Fingerprint.of(minilm))
    sync([tmp_path], opened, minilm, exclude=["store/**"])
    return opened


def test_a_claim_that_says_too_little_alone_is_found_among_the_others(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    vague, *others = (
        Atom(text[:9], text, text)
        for text in (
            "Half of the bonus comes when somebody starts.",
            "Employees who refer an engineer get 900 euros.",
            "Referrals of engineers are paid with 900 euros.",
        )
    )
    with store:
        alone = retrieve([vague], store, minilm, k=1, retrieval="fused")
        found = retrieve([vague, *others], store, minilm, k=1, retrieval="fused")
    assert [c.source for c in alone.contexts] != ["referrals.md"]
    assert {c.source for c in found.contexts} == {"referrals.md"}
