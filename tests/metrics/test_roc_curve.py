"""The ROC curve, against calculations by hand and the rank statistic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factcheck_local.metrics import auroc, roc_curve


def test_by_hand() -> None:
    """Thresholds 0.9, 0.5 (two items at once), 0.1: one hit, one hit and one miss, one miss."""
    found = roc_curve([0.9, 0.5, 0.5, 0.1], [True, True, False, False])
    assert found is not None
    false, true = found
    assert false.tolist() == [0.0, 0.0, 0.5, 1.0]
    assert true.tolist() == [0.0, 0.5, 1.0, 1.0]


def test_the_area_under_the_curve_is_the_auroc() -> None:
    generator = np.random.default_rng(0)
    # Rounded, so that there are equal scores.
    scores = generator.random(60).round(1)
    truth = generator.random(60) < scores
    found = roc_curve(scores.tolist(), truth.tolist())
    assert found is not None
    false, true = found
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(true, false) == pytest.approx(auroc(scores.tolist(), truth.tolist()))


@pytest.mark.parametrize("score", [-math.inf, math.inf])
def test_scores_that_are_equally_infinite_are_one_point(score: float) -> None:
    """As of the logarithm of 0: in either order of the items half of the pairs are won."""
    for outcomes in ([True, False], [False, True]):
        found = roc_curve([score, score], outcomes)
        assert found is not None
        assert [rates.tolist() for rates in found] == [[0.0, 1.0], [0.0, 1.0]]
        assert auroc([score, score], outcomes) == 0.5


@pytest.mark.parametrize("outcomes", [[], [True], [True, True], [False, False]])
def test_one_class_has_no_curve(outcomes: list[bool]) -> None:
    assert roc_curve([0.5] * len(outcomes), outcomes) is None


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="can be ordered"):
        roc_curve([0.5, math.nan, 0.1], [True, False, False])


def test_lengths_that_differ() -> None:
    with pytest.raises(ValueError, match="as many of both"):
        roc_curve([0.5], [True, False])
