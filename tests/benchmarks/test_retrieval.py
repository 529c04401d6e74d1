"""The retrieval benchmark: the sample of claims, ranks, and rows that are compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.evidence import Collection, Query, factcheckbench, handbook, wice
from benchmarks.retrieval import indexed, measure
from factcheck_local.models.contracts import Message
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.retrieval.rerankers import EncoderReranker

ROWS = [
    {
        "claim": f"Claim {i} speaks of pumps.",
        "evidence": [f"Pumps of kind {i}.", "They are red."],
        "supporting_sentences": [[0]] if i % 2 else [],
    }
    for i in range(20)
]


def test_a_sample_is_of_claims_and_the_same_for_every_measure() -> None:
    whole = wice(ROWS)
    some = whole.sample(6, seed=1)
    assert len(some.claims) == 6
    assert some == whole.sample(6, seed=1)
    assert some != whole.sample(6, seed=2)
    assert (some.documents, some.digest) == (whole.documents, whole.digest)
    chosen = set(some.claims)
    assert [q.text for q in some.queries["by article"]] == [c for c in whole.claims if c in chosen]
    assert {q.text for q in some.queries["by sentence"]} <= chosen
    assert whole.sample(None, seed=1) is whole.sample(20, seed=1) is whole


def test_gold_evidence() -> None:
    row = {"sentences": {"s": {"claims": ["A.", "B."], "auto_evidence": [["x", " "], ["x", "y"]]}}}
    found = factcheckbench([row])
    assert sorted(found.documents.values()) == ["x", "y"]
    name = {text: name for name, text in found.documents.items()}
    assert [q.sources for q in found.queries["own evidence"]] == [
        {name["x"]},
        {name["x"], name["y"]},
    ]


def test_the_pages_that_a_label_names(tmp_path: Path) -> None:
    """The files are the corpus, the answers are not; a claim without a page is left out."""
    (tmp_path / "answers").mkdir()
    (tmp_path / "pumps.md").write_text("# Pumps\n\nThe pump stands in the cellar.\n")
    text = "The pump is in the cellar."
    claims = [{"text": text, "sources": ["pumps.md"]}, {"text": "It is red.", "sources": []}]
    labels = tmp_path / "answers" / "a.labels.json"
    labels.write_text(json.dumps({"claims": claims}))
    (tmp_path / "answers" / "a.md").write_text("The pump is in the cellar. It is red.")
    found = handbook(tmp_path)
    assert found.queries == {"by page": [Query(text, "a.labels.json", frozenset({"pumps.md"}))]}
    with indexed(found, FakeEmbedder(), tmp_path / "cache") as store:
        assert store.count() == 1
        row, *_ = measure(found, store, FakeEmbedder(), ways=["fused"])
    assert row["hit@3"] == 1.0
    before = found.digest
    (tmp_path / "pumps.md").write_text("# Pumps\n\nGone.\n")
    assert found.digest != before


DOCUMENTS = {
    "first.txt": "The pump stands in the cellar of the old house.",
    "second.txt": "The old house has a terrace.",
    "third.txt": "Lunch is served in the old canteen.",
    "right.txt": "The roof is watered by electric means.",
}
CLAIM = "The pump of the old house feeds the garden."


def test_rows_for_queries_and_for_the_reranker(tmp_path: Path) -> None:
    """The gold passage is last in the search, first for the reranker and for the LLM's query."""
    collection = Collection("set", DOCUMENTS, {"all": [Query(CLAIM, "", frozenset({"right.txt"}))]})

    def reply(messages: Sequence[Message]) -> str:
        return "found" if "\nPassages:" in messages[-1].content else "electric roof garden"

    classifier = FakePairClassifier(lambda p, _h: (0, 0.9, 0.1) if "roof" in p else (0, 0.1, 0.9))
    embedder = FakeEmbedder()
    with indexed(collection, embedder, tmp_path) as store:
        rows = measure(
            collection,
            store,
            embedder,
            ways=["lexical"],
            reranker=EncoderReranker(EncoderPairScorer(classifier)),
            llm=FakeChatModel(reply),
        )
    assert [row["retrieval"] for row in rows] == [
        "lexical",
        "lexical, reranked",
        "lexical, queries of the LLM",
        "lexical, queries of the LLM, reranked",
    ]
    assert [row["milliseconds_a_query"] is None for row in rows] == [False, True, True, True]
    plain, reranked, asked, both = (row["mrr"] for row in rows)
    assert plain == pytest.approx(1 / 4)
    # Ranks of the search, twice, and of the encoder, which finds the others alike:
    # 2/2 + 1/3, 2/3 + 1/4 = 0.92, 2/4 + 1/5, and the right one with 2/5 + 1/2 = 0.9.
    assert reranked == pytest.approx(1 / 3)
    assert asked == both == 1.0
    assert all(row["hit@5"] == 1.0 for row in rows)


def test_a_hit_is_one_right_passage_and_intervals_draw_whole_articles(tmp_path: Path) -> None:
    """Each claim has two right documents, of which one is found at once: a hit all the same.

    Of the two articles all claims of one are found and none of the other: as claims are drawn
    with their article, both extremes are drawn often enough to bound the interval.
    """
    found = [Query(CLAIM, "a", frozenset({"first.txt", "right.txt"}))] * 10
    lost = [Query(CLAIM, "b", frozenset({"none.txt", "absent.txt"}))] * 10
    collection = Collection("set", DOCUMENTS, {"all": [*found, *lost]})
    with indexed(collection, FakeEmbedder(), tmp_path) as store:
        (row,) = measure(collection, store, FakeEmbedder(), ways=["lexical"])
    for name in ("hit@3", "mrr"):
        assert (row[name], row[f"{name}_ci95"]) == (0.5, (0.0, 1.0)), name
    assert not [name for name in row if name.startswith("recall")]


def test_a_claim_is_drawn_with_its_article_or_its_answer() -> None:
    assert {q.group for q in wice([*ROWS, *ROWS]).queries["by article"]} == set(
        wice(ROWS).documents
    )
    rows = [{"sentences": {"s": {"claims": [c], "auto_evidence": [["x"]]}}} for c in ("A.", "B.")]
    own = factcheckbench([*rows, rows[0]]).queries["own evidence"]
    assert [(q.text, q.group) for q in own] == [("A.", "answer0"), ("B.", "answer1")]
