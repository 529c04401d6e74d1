"""Percentile bootstrap: a confidence interval for any statistic of a list of items.

    draw n of the n items with replacement, compute the statistic, repeat;
    the interval runs from the (1-level)/2 to the (1+level)/2 quantile.

Reference: Efron (1979), "Bootstrap methods: another look at the jackknife".

Differs from ``scipy.stats.bootstrap``, whose default is the bias-corrected
interval: the percentile interval is plainer, defined for every statistic, and
too narrow for very few items; of a single one, drawn again and again, it would
have no width, and there is none. Resample what is independent: answers, not the
atoms of one answer.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def bootstrap_ci(
    items: Sequence[Item],
    statistic: Callable[[Sequence[Item]], float | None],
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """The interval (low, high); the same for the same seed.

    Args:
        items: the independent units, shape (n,).
        statistic: of a list of items; None where undefined (a resample with a
            single class, say). Such resamples are left out.
        level: coverage, in (0, 1).
        resamples: how many to draw, at least 1.
        seed: of numpy's default generator.

    Returns:
        None for fewer than two items, or if the statistic is undefined for more than
        half of the resamples: what is left would no longer speak for the data.

    Raises:
        ValueError: if ``level`` or ``resamples`` is out of range.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"expected a level in (0, 1), got {level}")
    if resamples < 1:
        raise ValueError(f"expected at least one resample, got {resamples}")
    if len(items) < 2:
        return None
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(items), size=(resamples, len(items)))
    values = [statistic([items[i] for i in row]) for row in drawn.tolist()]
    defined = [value for value in values if value is not None]
    if 2 * len(defined) < resamples:
        return None
    low, high = np.quantile(defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)
