"""The reports on the relevance filter and the quotes, and the accuracy against a peer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.nli.gate import gate_report
from benchmarks.nli.pairs import DevSet, Pair
from benchmarks.nli.quotes import quote_report, quoted_sentences
from benchmarks.nli.wice import WiceClaim
from benchmarks.peer_factreasoner import GoldPair, gold_accuracy, read_compared, to_markdown
from factcheck_local.core.errors import InputError
from factcheck_local.core.types import Span
from factcheck_local.models.contracts import FloatArray


class LetterEmbedder:
    """Vectors of the counts of a, b and c."""

    id = "letters"
    sha256 = "0" * 64
    dimension = 3

    def embed(self, texts: Sequence[str]) -> FloatArray:
        counts = np.array([[t.count(x) for x in "abc"] for t in texts], dtype=np.float32)
        vectors: FloatArray = counts / np.linalg.norm(counts, axis=1, keepdims=True)
        return vectors


def test_the_filter_is_judged_by_what_it_keeps_and_drops() -> None:
    rows = (
        Pair("a", "a", "entailment"),
        Pair("aaab", "b", "contradiction"),  # cosine 1/√10 = 0.32
        Pair("a", "b", "neutral"),
        Pair("ab", "a", "neutral"),
    )
    dev = DevSet("x", "", ("entailment", "contradiction", "neutral"), rows)
    low, high = gate_report(dev, LetterEmbedder(), [0.3, 0.35])["thresholds"]
    assert (low["related_kept"], low["neutral_dropped"]) == (1.0, 0.5)
    assert (high["related_kept"], high["neutral_dropped"]) == (0.5, 0.5)


def claim(text: str, window: tuple[int, ...], *supporting: set[int]) -> WiceClaim:
    evidence = ("Aa aa.", "Bb bb.", "Cc cc.", "Ab ab.")
    return WiceClaim(text, "supported", evidence, window, tuple(map(frozenset, supporting)))


def test_quoted_sentences_are_those_that_a_span_touches() -> None:
    asked = claim("a", (1, 3), {1})
    assert asked.passage("\n") == "Bb bb.\nAb ab."
    assert quoted_sentences(asked, [Span(0, 6)]) == {1}
    assert quoted_sentences(asked, [Span(7, 13)]) == {3}
    assert quoted_sentences(asked, [Span(3, 9)]) == {1, 3}


def test_quotes_are_judged_by_the_set_that_they_cover_best() -> None:
    claims = [
        claim("a", (0, 1, 2), {0, 1}, {3}),  # quotes sentence 0: right, half of {0, 1}
        claim("b", (0, 1, 2), {2}),  # quotes sentence 1: wrong
        claim("c", (2,), {2}),  # nothing else to quote: left out
        replace(claim("c", (0, 1), {1}), label="not_supported"),  # not asked for
    ]
    found = quote_report(claims, LetterEmbedder(), seed=0)
    assert found["left_out"] == 1
    summary = found["by_label"]["supported"]
    assert (summary["claims"], summary["quoted_sentences"]) == (2, 2)
    assert summary["precision"] == pytest.approx(1 / 2)
    assert summary["recall"] == pytest.approx((1 / 2 + 0) / 2)
    # Two of the three sentences of the first window, one of the second.
    assert summary["random_precision"] == pytest.approx((2 / 3 + 1 / 3) / 2)


def test_an_atom_is_supported_by_the_majority_of_its_pairs() -> None:
    pairs = [
        GoldPair("a0", "c0", "p", "h", True),
        GoldPair("a0", "c1", "p", "h", True),
        GoldPair("a1", "c2", "p", "h", False),
        GoldPair("a2", "c3", "p", "h", False),
        GoldPair("a2", "c4", "p", "h", False),
    ]
    labels = ["entailment", "neutral", "entailment", "entailment", "contradiction"]
    found = gold_accuracy(pairs, labels)
    # a0 has a vote for it, a1 too, a2 one for and one against.
    assert found["atom_accuracy"] == pytest.approx(2 / 3)
    assert found["atom_balanced_accuracy"] == pytest.approx((1 + 1 / 2) / 2)
    # Right: the first pair and the last.
    assert found["pair_accuracy"] == pytest.approx(2 / 5)
    assert found["pair_balanced_accuracy"] == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_a_peer_stands_beside_ours() -> None:
    def side(seconds: float, failed: int) -> dict[str, object]:
        pairs = [GoldPair("a0", "c0", "p", "h", True), GoldPair("a1", "c1", "p", "h", False)]
        return {
            "seconds": seconds,
            "pairs_per_second": 2 / seconds,
            "failed": failed,
            "labels": {"entailment": 1, "contradiction": 0, "neutral": 1},
            **gold_accuracy(pairs, ["entailment", "neutral"]),
        }

    result = {
        "ours": side(4.0, 0),
        "peer": side(100.0, 1),
        "agreement": 0.5,
        "pairs": [{}, {}],
        "signature": "s",
    }
    page = to_markdown(result)
    assert "| pairs without an answer | 0 | 1 |" in page
    assert "25.0 times the pairs a second; the same label for 0.500 of 2 pairs" in page


def test_pairs_of_a_run_come_passage_by_passage_and_without_gold(tmp_path: Path) -> None:
    found = {
        "atoms": [{"id": "a1", "text": "One."}, {"id": "a2", "text": "Two."}],
        "contexts": [{"id": "c1", "text": "First."}, {"id": "c2", "text": "Second."}],
        "relations": [
            {"from": "c2", "to": "a1"},
            {"from": "c1", "to": "a1"},
            {"from": "c1", "to": "c2"},
            {"from": "c1", "to": "a2"},
        ],
    }
    file = tmp_path / "run.json"
    file.write_text(json.dumps(found))
    pairs = read_compared(file)
    assert [(p.premise, p.hypothesis) for p in pairs] == [
        ("First.", "One."),
        ("First.", "Two."),
        ("Second.", "One."),
    ]
    assert set(gold_accuracy(pairs, ["neutral"] * 3).values()) == {None}
    file.write_text("{}")
    with pytest.raises(InputError, match="not an assessment"):
        read_compared(file)
