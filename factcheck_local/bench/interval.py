"""The interval of a benchmark's figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from factcheck_local.metrics import bootstrap_ci

RESAMPLES = 1000

Unit = TypeVar("Unit")


def interval(
    units: Sequence[Unit], statistic: Callable[[Sequence[Unit]], float | None], seed: int
) -> tuple[float, float] | None:
    """95 %, by bootstrap over units; None for fewer than two.

    One unit, drawn again and again, would seem to be sure of itself.
    """
    if len(units) < 2:
        return None
    return bootstrap_ci(units, statistic, resamples=RESAMPLES, seed=seed)
