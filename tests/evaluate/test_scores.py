"""Figures of a benchmark, against calculations by hand."""

from __future__ import annotations

from typing import Any

import pytest

from factcheck_local.evaluate import factor
from factcheck_local.evaluate.scores import always_supported, difference, points, score


def atom(gold: bool | None, p: float | None, verdict: str | None = None) -> dict[str, Any]:
    """With the verdict that P has by itself, unless another is given."""
    verdict = verdict or ("contradicted" if p is not None and p < 0.5 else "supported")
    return {"gold": gold, "label": None, "verdict": verdict, "probability": p}


def row(*atoms: dict[str, Any], segments: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    named = [{**a, "id": f"a{n}"} for n, a in enumerate(atoms)]
    return {"atoms": named, "segments": list(segments), "seconds": 2.0, "calls": 3}


def segment(gold: bool, wrong: bool | None, error: str | None = None) -> dict[str, Any]:
    return {"gold": gold, "error": error, "wrong": wrong, "unsupported": wrong}


#: What is kept of an item that could not be assessed.
FAILED: dict[str, Any] = {"failure": "too long", "atoms": [], "segments": []}


ROWS = [
    # One of two is right; the gold precision is 1/2, the one found 1.
    row(atom(True, 0.9), atom(False, 0.8), atom(None, 0.1, "contradicted")),
    # Not found is not supported, whatever P; the gold precision is 1/2, the one found 0.
    row(atom(True, 0.6, "not_found"), atom(False, 0.2, "contradicted"), atom(True, None)),
]


def value(scores: dict[str, Any], name: str) -> float | None:
    found: float | None = scores["measures"][name]["value"]
    return found


def test_claims_by_hand() -> None:
    """Supported and gold: one; supported: two; gold: two."""
    found = score(ROWS)
    assert value(found, "precision") == 1 / 2
    assert value(found, "recall") == 1 / 2
    assert value(found, "f1") == 1 / 2
    assert value(found, "balanced_accuracy") == 1 / 2
    # 0.9 beats 0.8 and 0.2, 0.6 beats 0.2: three pairs of four.
    assert value(found, "auroc") == 3 / 4
    assert value(found, "mae") == 1 / 2
    # Over all scored atoms: 2 of 3, 0 of 2.
    assert value(found, "mean_precision") == pytest.approx(1 / 3)
    # One of three contradicted; one of two, and one of two undecided.
    assert value(found, "hallucination_score") == pytest.approx((1 / 3**0.5 + 1.5 / 2**0.5) / 2)
    assert (found["claims"], found["labelled"], found["unscored"]) == (6, 5, 1)
    assert (found["seconds_a_claim"], found["calls_a_claim"]) == (4 / 6, 1.0)


def test_methods_are_compared_by_p_and_coverage_says_what_was_called() -> None:
    """Called: 0.9 and 0.1; P > ½ and found: three of the four that are gold."""
    open_ones = ("undecided", "conflicting", "not_found")
    found = score(
        [row(atom(True, 0.9), *(atom(True, 0.8, v) for v in open_ones), atom(False, 0.1))]
    )
    assert value(found, "coverage") == 2 / 5
    assert value(found, "precision") == 1.0
    assert value(found, "recall") == 3 / 4
    assert value(found, "mean_precision") == 3 / 5
    # C = 1, U = 1 of V = 5, alpha ½
    assert value(found, "hallucination_score") == pytest.approx(1.5 / 5**0.5)
    # P is still what ranks them.
    assert value(found, "auroc") == 1.0


def test_k_is_the_median_number_of_atoms() -> None:
    found = score([*ROWS, row(atom(True, 0.9))])
    assert found["k"] == 3.0
    # S = 2, 0, 1 of 3, 2, 1; F1@3: 2/3, 0, and 2 · 1 · 1/3 / (4/3) = 1/2.
    assert value(found, "f1_at_k") == pytest.approx((2 / 3 + 0 + 1 / 2) / 3)


def test_an_answer_without_claims_has_f1_at_k_0_and_counts_for_k() -> None:
    """What failed does neither: nothing is known of it."""
    found = score([*ROWS, row(), FAILED, row(atom(True, None))])
    # 3, 3, 0 and 1 atoms; the last one was not scored.
    assert found["k"] == 2.0
    # S = 2 of 3: R = 1, F1 = 2 · 2/3 / (5/3); 0 of 2; none.
    assert value(found, "f1_at_k") == pytest.approx((4 / 5 + 0 + 0) / 3)
    assert score([row(atom(True, 0.9)), row(), row()])["k"] == 1.0
    assert score([row(), FAILED])["k"] is None


def test_segments_are_wrong_by_contradiction_or_by_lack_of_support() -> None:
    segments = (
        {"gold": True, "error": None, "wrong": True, "unsupported": True},
        {"gold": True, "error": None, "wrong": False, "unsupported": True},
        {"gold": False, "error": None, "wrong": False, "unsupported": True},
        {"gold": False, "error": None, "wrong": False, "unsupported": False},
        {"gold": True, "error": None, "wrong": None, "unsupported": None},
    )
    found = score([row(atom(True, 0.9), segments=segments)])
    assert value(found, "segment_f1") == pytest.approx(2 / 3)
    assert value(found, "segment_balanced_accuracy") == 3 / 4
    assert value(found, "segment_f1_unsupported") == pytest.approx(4 / 5)


def test_a_difference_is_drawn_in_pairs() -> None:
    better = [row(atom(True, 0.9), atom(False, 0.1, "contradicted")) for _ in range(5)]
    worse = [row(atom(True, 0.1, "contradicted"), atom(False, 0.9)) for _ in range(5)]
    found = difference(better, worse, "f1")
    assert found == {"value": 1.0, "ci95": (1.0, 1.0), "left_out": 0}
    with pytest.raises(ValueError, match="zip"):
        difference(better, worse[:4], "f1")


def test_always_supported_is_what_a_figure_is_read_by() -> None:
    found = score(always_supported(ROWS))
    assert value(found, "recall") == 1.0
    assert value(found, "balanced_accuracy") == 1 / 2
    assert value(found, "auroc") == 1 / 2
    assert found["unscored"] == 0


def test_what_cannot_be_computed_is_none() -> None:
    found = score([row(atom(None, None))])
    assert {m["value"] for m in found["measures"].values()} == {None}
    assert points([row(atom(None, 0.5))]) == ([], [])
    assert score([])["measures"]["f1"]["value"] is None


def test_of_one_answer_the_claims_are_drawn() -> None:
    one = [row(*(atom(i % 2 == 0, 0.9 if i % 3 else 0.1) for i in range(24)))]
    claims = [row(a) for a in one[0]["atoms"]]
    found = score(one, seed=5)["measures"]
    assert found["precision"] == score(claims, seed=5)["measures"]["precision"]
    low, high = found["precision"]["ci95"]
    assert low < found["precision"]["value"] < high
    # One precision of one answer says nothing of how much others differ.
    assert found["mae"]["ci95"] is None
    assert found["mean_precision"]["ci95"] is None


def test_methods_on_one_answer_are_compared_claim_by_claim() -> None:
    one = [row(*(atom(i % 2 == 0, 0.9 if i % 3 else 0.1) for i in range(24)))]
    other = [row(*(atom(i % 2 == 0, 0.9 if i % 5 else 0.1) for i in range(24)))]
    found = difference(one, other, "balanced_accuracy")
    assert found["ci95"][0] < found["value"] < found["ci95"][1]
    assert difference(one, other, "mae")["ci95"] is None


def test_a_method_that_failed_on_the_one_answer_is_compared_without_an_interval() -> None:
    one = [row(atom(True, 0.9), atom(False, 0.1))]
    failed = [row()]
    assert difference(one, failed, "f1") == {"value": None, "ci95": None, "left_out": 2}
    assert difference(failed, one, "f1") == {"value": None, "ci95": None, "left_out": 2}


def test_a_difference_is_of_what_both_gave_a_verdict_on() -> None:
    """Two methods that say the same do not differ by what one of them failed on."""
    said = [row(atom(True, 0.9), atom(False, 0.8), atom(True, 0.2)), row(atom(False, 0.9))]
    failing = [row(atom(True, 0.9), atom(False, None), atom(True, 0.2)), FAILED]
    for measure in ("f1", "precision", "mae", "mean_precision", "coverage"):
        found = difference(said, failing, measure)
        assert (found["value"], found["left_out"]) == (0.0, 2), measure
        assert difference(failing, said, measure)["value"] == 0.0, measure


def test_one_completion_has_no_interval() -> None:
    pairs = [
        {"gold": gold, "entailment": p, "contradiction": 1 - p}
        for gold, p in (("entailment", 0.9), ("contradiction", 0.2))
    ]
    one = factor.score([{"item": "row0", "model": "m", "pairs": pairs}])
    assert one["measures"]["auroc_entailment"] == {"value": 1.0, "ci95": None}


def test_one_claim_has_no_interval() -> None:
    assert score([row(atom(True, 0.9))])["measures"]["f1"] == {"value": 1.0, "ci95": None}


def test_answers_and_kinds_of_error() -> None:
    """An answer is wrong if a segment is; of each kind of error the share that is found."""
    knowledge, reasoning = "knowledge_error", "reasoning_error"
    wrong = (
        {"gold": True, "error": knowledge, "wrong": True, "unsupported": True},
        {"gold": True, "error": knowledge, "wrong": False, "unsupported": False},
        {"gold": True, "error": knowledge, "wrong": None, "unsupported": None},
        {"gold": False, "error": None, "wrong": False, "unsupported": False},
    )
    missed = ({"gold": True, "error": reasoning, "wrong": False, "unsupported": True},)
    right = ({"gold": False, "error": None, "wrong": False, "unsupported": False},)
    found = score([row(segments=segments) for segments in (wrong, missed, right)])
    # Of two wrong answers one is found, and none is found that is not.
    assert value(found, "response_f1") == pytest.approx(2 / 3)
    assert value(found, "response_balanced_accuracy") == 3 / 4
    assert value(found, f"recall of {knowledge}") == 1 / 2
    assert value(found, f"recall of {reasoning}") == 0


def test_the_label_of_an_answer_is_of_all_of_its_segments() -> None:
    """What was not scored leaves the answer open, and does not make it a right one."""
    open_one = row(segments=(segment(True, None), segment(False, False)))
    found_one = row(segments=(segment(True, None), segment(False, True)))
    right = row(segments=(segment(False, False),))
    found = score([open_one, found_one, right])
    assert value(found, "response_f1") == 1.0
    assert value(found, "response_balanced_accuracy") == 1.0
    assert found["unscored_segments"] == 2
    assert value(score([open_one]), "response_f1") is None
