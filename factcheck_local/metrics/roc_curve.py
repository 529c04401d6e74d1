"""The receiver operating characteristic: the rates of both kinds of answers at every threshold.

Reference: Fawcett (2006), "An introduction to ROC analysis".

Differs from scikit-learn's ``roc_curve``: no point is dropped for lying on a line between
two others, and no thresholds are returned.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from factcheck_local.metrics import _checks

Floats = NDArray[np.float64]


def roc_curve(scores: Sequence[float], outcomes: Sequence[bool]) -> tuple[Floats, Floats] | None:
    """False and true positive rates, from (0, 0) to (1, 1); None unless both classes occur.

    Args:
        scores: shape (n,), higher for what is believed true; any scale.
        outcomes: whether each is true, shape (n,).

    Raises:
        ValueError: if the lengths differ or a score is NaN.
    """
    _checks.same_length(scores, outcomes)
    values = _checks.orderable(scores)
    truth = np.asarray(outcomes, dtype=bool)
    if truth.all() or not truth.any():
        return None
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    hits, misses = np.cumsum(truth[order]), np.cumsum(~truth[order])
    # Equal scores cannot be told apart by a threshold: one point for all of them. They are
    # compared and not subtracted, since log 0 may be among them.
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(values) - 1)
    rates = [np.concatenate([[0.0], part[ends] / part[-1]]) for part in (misses, hits)]
    return rates[0], rates[1]
