"""Area under the ROC curve, as the rank statistic it is.

    AUROC = P(score of a true item > score of a false one) + P(equal) / 2
          = (R - m (m + 1) / 2) / (m k)

with R the sum of the midranks of the m true items among all m + k.

Reference: Mann and Whitney (1947); Hanley and McNeil (1982) for the identity.

Differs from tools that integrate the curve by a step: equal scores count one
half, as the trapezoid of scikit-learn does. Where there is a single class it
is None, where scikit-learn warns and returns NaN.
"""

from collections.abc import Sequence

import numpy as np

from factcheck_local.metrics import _checks


def auroc(scores: Sequence[float], outcomes: Sequence[bool]) -> float | None:
    """AUROC in [0, 1]; None unless both classes occur.

    Args:
        scores: shape (n,), higher for what is believed true; any scale.
        outcomes: whether each is true, shape (n,).

    Raises:
        ValueError: if the lengths differ or a score is NaN.
    """
    _checks.same_length(scores, outcomes)
    values = _checks.orderable(scores)
    truth = np.asarray(outcomes, dtype=bool)
    positives = int(truth.sum())
    negatives = truth.size - positives
    if not positives or not negatives:
        return None
    _, group, size = np.unique(values, return_inverse=True, return_counts=True)
    # Equal scores share the mean of the ranks (from 1) that they occupy.
    midranks = (np.cumsum(size) - (size - 1) / 2.0)[group]
    rank_sum = float(midranks[truth].sum())
    return (rank_sum - positives * (positives + 1) / 2.0) / (positives * negatives)
