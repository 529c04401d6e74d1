"""Brier score: mean squared error of probabilities.

    B = (1/n) sum of (P(a_i) - o_i)^2,  o_i = 1 if atom i is true, else 0

Reference: Brier (1950), "Verification of forecasts expressed in terms of
probability".

Differs from Brier's own definition, which sums over both classes and is twice
this. Always saying one half scores 0.25.
"""

from collections.abc import Sequence

import numpy as np

from factcheck_local.metrics import _checks


def brier(probabilities: Sequence[float], outcomes: Sequence[bool]) -> float | None:
    """B in [0, 1], lower is better; None without items.

    Args:
        probabilities: P(true), shape (n,), in [0, 1].
        outcomes: whether each is true, shape (n,).

    Raises:
        ValueError: if the lengths differ or a probability is outside [0, 1].
    """
    _checks.same_length(probabilities, outcomes)
    p = _checks.probabilities(probabilities)
    truth = np.asarray(outcomes, dtype=bool).astype(np.float64)
    return float(((p - truth) ** 2).mean()) if p.size else None
