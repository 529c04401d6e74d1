"""Measures of one answer; every expected number is derived beside it."""

import math

import pytest

from factcheck_local.metrics import (
    binary_entropy,
    entropy,
    f1_at_k,
    factual_precision,
    hallucination_score,
    recall_at_k,
)


def test_factual_precision() -> None:
    assert factual_precision(3, 4) == 0.75
    assert factual_precision(0, 4) == 0.0
    assert factual_precision(0, 0) is None


@pytest.mark.parametrize(("supported", "total"), [(-1, 4), (5, 4), (0, -1)])
def test_factual_precision_refuses(supported: int, total: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        factual_precision(supported, total)


def test_f1_at_k() -> None:
    # S = 3, n = 4, K = 6: Pr = 3/4, R = 1/2, F1 = 2 * 3/8 / (5/4) = 3/5.
    assert recall_at_k(3, 6) == 0.5
    assert f1_at_k(3, 4, 6) == pytest.approx(0.6)
    # A K that is a median may be half an integer: R = 3/4.5 = 2/3.
    assert f1_at_k(3, 4, 4.5) == pytest.approx(2 * (3 / 4) * (2 / 3) / (3 / 4 + 2 / 3))


def test_recall_stops_at_one() -> None:
    assert recall_at_k(9, 6) == 1.0
    assert f1_at_k(9, 9, 6) == 1.0


def test_f1_at_k_without_support_and_without_atoms() -> None:
    assert f1_at_k(0, 4, 6) == 0.0
    assert f1_at_k(0, 0, 6) == 0.0


@pytest.mark.parametrize("k", [0, -1, math.nan])
def test_k_has_to_be_positive(k: float) -> None:
    with pytest.raises(ValueError, match="K > 0"):
        f1_at_k(1, 2, k)


def test_entropy_of_undecided_atoms() -> None:
    # -0.5 log10 0.5 = 0.5 * 0.30103
    assert entropy([0.5, 0.5, 0.5]) == pytest.approx(0.150515, abs=1e-6)
    assert binary_entropy([0.5, 0.5, 0.5]) == pytest.approx(1.0)


def test_entropy_is_zero_for_all_true_and_for_all_false() -> None:
    for certain in ([1.0, 1.0], [0.0, 0.0]):
        # The text tells 0.0 from -0.0, which a comparison does not.
        assert repr(entropy(certain)) == "0.0"
        assert repr(binary_entropy(certain)) == "0.0"


def test_entropy_is_not_symmetric_and_binary_entropy_is() -> None:
    # E([0.1]) = -0.1 * -1; E([0.9]) = -0.9 * log10(0.9)
    assert entropy([0.1]) == pytest.approx(0.1)
    assert entropy([0.9]) == pytest.approx(-0.9 * math.log10(0.9))
    expected = -0.1 * math.log2(0.1) - 0.9 * math.log2(0.9)
    assert binary_entropy([0.1]) == pytest.approx(expected)
    assert binary_entropy([0.9]) == pytest.approx(expected)
    assert entropy([0.1, 0.9]) == pytest.approx((0.1 - 0.9 * math.log10(0.9)) / 2)


def test_entropy_has_its_maximum_at_one_over_e() -> None:
    peak = entropy([1 / math.e])
    assert peak == pytest.approx(math.log10(math.e) / math.e)
    assert peak == pytest.approx(0.1598, abs=1e-4)


def test_entropy_of_nothing() -> None:
    assert entropy([]) is None
    assert binary_entropy([]) is None


@pytest.mark.parametrize("bad", [[1.1], [-0.1], [math.nan]])
def test_entropy_refuses(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="probabilities in"):
        entropy(bad)
    with pytest.raises(ValueError, match="probabilities in"):
        binary_entropy(bad)


def test_hallucination_score() -> None:
    # (3 + 0.5 * 2) / sqrt(16) = 1; with alpha 1, 5/4; twice as long, larger.
    assert hallucination_score(3, 2, 16) == 1.0
    assert hallucination_score(3, 2, 16, alpha=1.0) == 1.25
    assert hallucination_score(6, 4, 32) == pytest.approx(math.sqrt(2))
    assert hallucination_score(0, 0, 9) == 0.0
    assert hallucination_score(0, 0, 0) is None


@pytest.mark.parametrize(
    ("counts", "alpha"), [((5, 0, 4), 0.5), ((3, 2, 4), 0.5), ((-1, 0, 4), 0.5), ((1, 1, 4), -1.0)]
)
def test_hallucination_score_refuses(counts: tuple[int, int, int], alpha: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        hallucination_score(*counts, alpha=alpha)
