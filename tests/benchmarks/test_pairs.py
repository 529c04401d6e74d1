"""The dev sets: sampling, grouping, windows of WiCE's articles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.nli.pairs import DevSet, Pair, load_set, sample
from benchmarks.nli.wice import best_window, read_claims, window_around
from factcheck_local.core.errors import InputError


def pairs(labels: str) -> list[Pair]:
    names = {"e": "entailment", "c": "contradiction", "n": "neutral"}
    return [Pair(f"premise {i}", f"claim {i}", names[x]) for i, x in enumerate(labels)]


def test_a_sample_keeps_the_order_and_grows_into_the_larger_one() -> None:
    everything = pairs("eennceencnneencc")
    small, large = sample(everything, 2, seed=3), sample(everything, 4, seed=3)
    assert [p.label for p in small].count("contradiction") == 2
    assert len(small) == 6
    assert small == [p for p in everything if p in small]
    assert set(small) < set(large)
    assert sample(everything, 99, seed=3) == everything


def test_pairs_that_share_a_text_in_a_chain_are_one_cluster() -> None:
    texts = [("p1", "h1"), ("p2", "h2"), ("p1", "h3"), ("p3", "h3"), ("h2", "p1")]
    dev = DevSet("x", "", ("neutral",), tuple(Pair(p, h, "neutral") for p, h in texts))
    # The last pair has the same texts in the other roles, which is no sharing.
    assert sorted(dev.clusters()) == [[0, 2, 3], [1], [4]]


def test_a_premise_is_grouped_with_its_distinct_claims() -> None:
    rows = (Pair("p", "a", "neutral"), Pair("q", "b", "neutral"), Pair("p", "c", "entailment"))
    dev = DevSet("x", "", ("entailment", "neutral"), (*rows, rows[0]))
    assert dev.by_premise() == {"p": [rows[0], rows[2]], "q": [rows[1]]}


def test_a_set_is_read_with_its_labels_and_digest(tmp_path: Path) -> None:
    (tmp_path / "nli").mkdir()
    path = tmp_path / "nli" / "fever-symmetric-dev.jsonl"
    rows = [{"premise": f"p\u2028{i}", "hypothesis": "h", "label": "entailment"} for i in range(3)]
    # A line separator inside a text is not the end of a row.
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = load_set(tmp_path, "fever-symmetric-dev", limit=2)
    assert (len(found.pairs), found.labels) == (2, ("entailment",))
    assert found.summary()["clusters"] == 1
    assert len(found.digest) == 64
    path.write_text(json.dumps({"premise": "p", "hypothesis": "h", "label": "maybe"}))
    with pytest.raises(InputError, match="maybe"):
        load_set(tmp_path, "fever-symmetric-dev")
    with pytest.raises(InputError, match="unknown set"):
        load_set(tmp_path, "fever")


SENTENCES = ["one two three", "four five", "six", "seven eight nine ten", "eleven twelve"]


@pytest.mark.parametrize(
    ("chosen", "words", "expected"),
    [
        # 1 word of its own, 2 before, 4 after: 7.
        ({2}, 7, [1, 2, 3]),
        # Of 6 words 3 are left after those before: the 4 after don't fit, 3 more before do.
        ({2}, 6, [0, 1, 2]),
        ({2}, 3, [1, 2]),
        ({2}, 1, [2]),
        # 1 + 4 + 2 fit in 7.
        ({2, 4}, 7, [2, 3, 4]),
        # They don't in 6: the set alone, though its own 3 words would leave room.
        ({2, 4}, 6, [2, 4]),
        ({2}, 99, [0, 1, 2, 3, 4]),
    ],
)
def test_a_window_grows_around_the_support(
    chosen: set[int], words: int, expected: list[int]
) -> None:
    assert window_around(SENTENCES, frozenset(chosen), words) == expected


def test_the_window_most_similar_to_the_claim() -> None:
    assert best_window(SENTENCES, "Is six followed by seven?", words=5) == [2, 3]
    # Nothing in common: the first of equal ones.
    assert best_window(SENTENCES, "zero", words=5) == [0, 1]
    # A sentence that is longer than the window stands alone.
    assert best_window(SENTENCES, "seven eight nine ten", words=2) == [3]


def test_a_claim_that_nothing_supports_has_an_empty_set() -> None:
    row: dict[str, object] = {"claim": "six", "evidence": SENTENCES}
    rows: list[dict[str, object]] = [
        row | {"label": "not_supported", "supporting_sentences": [[]]},
        row | {"label": "supported", "supporting_sentences": [[2], [4]]},
    ]
    nothing, supported = read_claims(rows)
    assert nothing.supporting == ()
    assert supported.supporting == (frozenset({2}), frozenset({4}))
    assert 2 in nothing.window
    assert supported.passage(" ") == " ".join(SENTENCES)
