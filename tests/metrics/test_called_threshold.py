"""Thresholds by hand, and the promise by simulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.metrics import Called, called_threshold, fewest_called

Values = npt.NDArray[np.float64]


@pytest.mark.parametrize(("alpha", "fewest"), [(0.05, 19), (0.1, 9), (0.3, 3), (0.5, 1)])
def test_so_many_claims_are_needed_without_a_wrong_one(alpha: float, fewest: int) -> None:
    """1 / (called + 1) <= alpha."""
    assert fewest_called(alpha) == fewest
    p = np.linspace(0.9, 0.6, fewest).tolist()
    assert called_threshold(p[:-1], [True] * (fewest - 1), alpha) is None
    assert called_threshold(p, [True] * fewest, alpha) == Called(p[-1], fewest, 0)


def test_the_last_threshold_that_holds_is_taken() -> None:
    """By hand, alpha = 1/4: (wrong + 1) / (called + 1) over the claims from the surest down.

    1/2, 1/3, 1/4 holds, 2/5, 2/6, 2/7, 2/8 holds, 3/9, 4/10.
    """
    p = [0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.93, 0.92, 0.91]
    true = [True, True, True, False, True, True, True, False, False]
    assert called_threshold(p, true, 0.25) == Called(0.93, 7, 1)
    assert called_threshold(p[:6], true[:6], 0.25) == Called(0.97, 3, 0)
    # The order in which they are given makes no difference.
    assert called_threshold(p[::-1], true[::-1], 0.25) == Called(0.93, 7, 1)


def test_claims_of_one_p_are_called_together() -> None:
    # Of the three at 0.9 one is wrong: 2/4 for all of them, and none without the others.
    assert called_threshold([0.9, 0.9, 0.9], [True, True, False], 0.4) is None
    assert called_threshold([0.9, 0.9, 0.9], [True, True, False], 0.5) == Called(0.9, 3, 1)
    assert called_threshold([0.9, 0.9, 0.8], [True, True, False], 0.4) == Called(0.9, 2, 0)


def test_no_claims_have_no_threshold() -> None:
    assert called_threshold([], [], 0.05) is None
    assert called_threshold([0.9] * 50, [False] * 50, 0.05) is None


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1])
def test_refuses(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        called_threshold([0.9], [True], alpha)
    with pytest.raises(ValueError, match="alpha"):
        fewest_called(alpha)
    with pytest.raises(ValueError, match="as many of both"):
        called_threshold([0.9], [], 0.05)


#: The share of wrong claims at each p, in [0, 1].
WRONG: dict[str, Callable[[Values], Values]] = {
    "calibrated below 0.9": lambda p: np.maximum(1 - p - 0.1, 0.0),
    "falls to none": lambda p: (1 - p) ** 4,
    "the same everywhere, just too high": lambda p: np.full_like(p, 0.06),
    "the same everywhere, far too high": lambda p: np.full_like(p, 0.2),
    "a step": lambda p: np.where(p > 0.5, 0.01, 0.6),
    "the surest are the worst": lambda p: np.where(p > 0.95, 0.3, np.where(p > 0.3, 0.02, 0.5)),
    "rises, then falls": lambda p: np.where(p > 0.7, 0.06, np.where(p > 0.3, 0.03, 0.5)),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_promise_holds_over_many_draws(name: str) -> None:
    """The average share of wrong claims among the called, 0 without a threshold, is <= alpha.

    The share is that of all claims of the distribution, not of those drawn.
    """
    alpha, draws, n = 0.05, 600, 200
    grid = np.linspace(0, 1, 4001)
    # Integral of the share of wrong claims from each p up to 1.
    rates = WRONG[name](grid)
    steps = (rates[1:] + rates[:-1]) / 2 * np.diff(grid)
    above = np.append(np.cumsum(steps[::-1])[::-1], 0.0)
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(draws):
        p = rng.random(n)
        true = rng.random(n) >= WRONG[name](p)
        found = called_threshold(p.tolist(), true.tolist(), alpha)
        if found is None:
            shares.append(0.0)
        else:
            t = found.threshold
            shares.append(float(np.interp(t, grid, above)) / (1 - t))
    noise = 3 * float(np.std(shares)) / draws**0.5
    assert np.mean(shares) <= alpha + noise


def test_with_many_labels_nearly_all_that_may_be_called_are() -> None:
    """Wrong by (1 - p)⁴: above t the share is (1 - t)⁴ / 5, which is 0.05 at t = 0.293."""
    rng = np.random.default_rng(1)
    p = rng.random(20_000)
    found = called_threshold(p.tolist(), (rng.random(20_000) >= (1 - p) ** 4).tolist(), 0.05)
    assert found is not None
    assert found.threshold == pytest.approx(1 - 0.25**0.25, abs=0.03)
