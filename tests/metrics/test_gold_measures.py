"""Measures against gold labels; derived by hand or by a second definition."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.metrics import (
    PrecisionRecall,
    auroc,
    balanced_accuracy,
    bootstrap_ci,
    brier,
    confusion_matrix,
    ece,
    mae,
    precision_recall,
)


def test_confusion_matrix_has_gold_in_its_rows() -> None:
    matrix = confusion_matrix(["s", "s", "c", "u"], ["s", "c", "c", "s"], ["s", "c", "u"])
    assert matrix.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    ("gold", "predicted", "labels", "message"),
    [
        (["s"], ["s", "c"], ["s", "c"], "got 1 and 2"),
        (["s", "s"], ["s", "x"], ["s", "c"], "item 1: label 'x'"),
        (["s"], ["s"], ["s", "s"], "distinct labels"),
    ],
)
def test_confusion_matrix_refuses(
    gold: list[str], predicted: list[str], labels: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        confusion_matrix(gold, predicted, labels)


def test_balanced_accuracy() -> None:
    # 8 true, 6 found; 2 false, 1 found: (6/8 + 1/2) / 2 = 0.625, accuracy 0.7.
    gold = [True] * 8 + [False] * 2
    predicted = [True] * 6 + [False] * 2 + [False, True]
    assert balanced_accuracy(gold, predicted) == pytest.approx(0.625)


def test_balanced_accuracy_of_a_constant_guess_is_chance() -> None:
    assert balanced_accuracy(["a", "a", "a", "b", "c"], ["a"] * 5) == pytest.approx(1 / 3)


def test_a_prediction_outside_the_gold_classes_is_an_error_only() -> None:
    # "undecided" has no gold item: recalls 1/2 and 1/1.
    assert balanced_accuracy(["s", "s", "c"], ["s", "undecided", "c"]) == pytest.approx(0.75)


def test_balanced_accuracy_needs_two_classes() -> None:
    assert balanced_accuracy([True, True], [True, False]) is None
    assert balanced_accuracy([], []) is None


def test_precision_recall() -> None:
    # Predicted wrong: items 0, 1, 2; truly wrong: 0, 3. One hit.
    gold, predicted = [True, False, False, True], [True, True, True, False]
    assert precision_recall(gold, predicted) == PrecisionRecall(1 / 3, 1 / 2, 2 / 5)


def test_precision_recall_of_nothing_is_none() -> None:
    assert precision_recall([True], [False]) == PrecisionRecall(None, 0.0, 0.0)
    assert precision_recall([False], [True]) == PrecisionRecall(0.0, None, 0.0)
    assert precision_recall([False], [False]) == PrecisionRecall(None, None, None)
    assert precision_recall(["c", "s"], ["c", "c"], positive="c") == PrecisionRecall(0.5, 1, 2 / 3)


def test_mae() -> None:
    # |0.5 - 1| and |0.9 - 0.7|
    assert mae([0.5, 0.9], [1.0, 0.7]) == pytest.approx(0.35)
    assert mae([], []) is None


@pytest.mark.parametrize(("predicted", "gold"), [([0.5], []), ([math.nan], [0.5])])
def test_mae_refuses(predicted: list[float], gold: list[float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        mae(predicted, gold)


def test_brier() -> None:
    # (0.8 - 1)^2 = 0.04, (0.3 - 0)^2 = 0.09
    assert brier([0.8, 0.3], [True, False]) == pytest.approx(0.065)
    assert brier([0.5] * 3, [True, False, True]) == 0.25
    assert brier([], []) is None


def test_ece() -> None:
    # Two bins: {0.1, 0.3} with outcomes 0, 1 → |1/2 - 0.2| * 2/5;
    # {0.5, 0.9, 1.0} with outcomes 1, 1, 0 → |2/3 - 0.8| * 3/5. Sum 0.12 + 0.08.
    p, outcomes = [0.1, 0.3, 0.5, 0.9, 1.0], [False, True, True, True, False]
    assert ece(p, outcomes, 2) == pytest.approx(0.2)
    # One bin: |3/5 - 2.8/5|
    assert ece(p, outcomes, 1) == pytest.approx(0.04)
    assert ece([0.0, 1.0], [False, True], 10) == 0.0
    assert ece([], [], 10) is None


def test_auroc() -> None:
    # True 0.9, 0.4; false 0.5, 0.4. Pairs: 0.9 wins twice, 0.4 loses once and
    # ties once: (1 + 1 + 0 + 1/2) / 4.
    assert auroc([0.9, 0.5, 0.4, 0.4], [True, False, True, False]) == pytest.approx(0.625)
    assert auroc([1, 2, 3], [False, False, True]) == 1.0
    assert auroc([1, 2, 3], [True, False, False]) == 0.0
    assert auroc([7, 7, 7], [True, False, True]) == 0.5


@pytest.mark.parametrize("outcomes", [[], [True, True], [False]])
def test_auroc_needs_both_classes(outcomes: list[bool]) -> None:
    assert auroc([0.5] * len(outcomes), outcomes) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=30))
def test_auroc_is_the_share_of_pairs_won(items: list[tuple[int, bool]]) -> None:
    true = [score for score, outcome in items if outcome]
    false = [score for score, outcome in items if not outcome]
    wins = [(t > f) + (t == f) / 2 for t in true for f in false]
    expected = sum(wins) / len(wins) if wins else None
    actual = auroc([score for score, _ in items], [outcome for _, outcome in items])
    assert actual == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("measure", [brier, auroc, lambda p, o: ece(p, o, 10)])
@pytest.mark.parametrize(
    ("probabilities", "outcomes"), [([0.5], []), ([math.nan, 0.5], [True, False])]
)
def test_probability_measures_refuse(
    measure: Callable[[Sequence[float], Sequence[bool]], float | None],
    probabilities: list[float],
    outcomes: list[bool],
) -> None:
    with pytest.raises(ValueError, match="expected"):
        measure(probabilities, outcomes)


def test_ece_needs_a_bin() -> None:
    with pytest.raises(ValueError, match="at least one bin"):
        ece([0.5], [True], 0)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def test_bootstrap_of_a_mean_matches_the_normal_approximation() -> None:
    # 400 items, half 0 and half 1: standard error 0.5 / sqrt(400) = 0.025.
    interval = bootstrap_ci([0.0, 1.0] * 200, mean, resamples=4000, seed=5)
    assert interval == pytest.approx((0.5 - 1.96 * 0.025, 0.5 + 1.96 * 0.025), abs=0.005)


def test_bootstrap_is_seeded() -> None:
    items = np.random.default_rng(0).random(30).tolist()
    assert bootstrap_ci(items, mean, seed=1) == bootstrap_ci(items, mean, seed=1)
    assert bootstrap_ci(items, mean, seed=1) != bootstrap_ci(items, mean, seed=2)


def test_bootstrap_of_identical_items_has_no_width() -> None:
    assert bootstrap_ci([0.25] * 7, mean, resamples=50) == (0.25, 0.25)


def test_a_wider_level_holds_the_narrower() -> None:
    items = np.random.default_rng(0).random(50).tolist()
    wide, narrow = bootstrap_ci(items, mean, level=0.99), bootstrap_ci(items, mean, level=0.5)
    assert wide is not None
    assert narrow is not None
    assert wide[0] < narrow[0] < mean(items) < narrow[1] < wide[1]


def test_undefined_resamples_are_left_out() -> None:
    def statistic(items: Sequence[tuple[float, bool]]) -> float | None:
        return auroc([score for score, _ in items], [outcome for _, outcome in items])

    # A resample of 8 items is of one class with probability 2 / 2^8, so some
    # of 2000 are; with one class alone all of them are.
    interval = bootstrap_ci([(0.9, True), (0.1, False)] * 4, statistic, resamples=2000)
    assert interval == (1.0, 1.0)
    assert bootstrap_ci([(0.9, True), (0.1, True)], statistic) is None


@pytest.mark.parametrize("items", [[], [0.5]])
def test_bootstrap_of_fewer_than_two_items(items: list[float]) -> None:
    """One item drawn again and again would look certain."""
    assert bootstrap_ci(items, mean) is None


@pytest.mark.parametrize("arguments", [{"level": 1.0}, {"level": 0.0}, {"resamples": 0}])
def test_bootstrap_refuses(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        bootstrap_ci([1.0], mean, **arguments)  # type: ignore[arg-type]
