"""Area under the ROC curve, which is a share of pairs.

    AUROC = P(score of a true item > score of a false one) + P(equal) / 2

Reference: Mann and Whitney (1947); Hanley and McNeil (1982) for the identity.

Differs from tools that integrate the curve by a step: equal scores count one
half, as the trapezoid of scikit-learn does. Where there is a single class it
is None, where scikit-learn warns and returns NaN.
"""

from collections.abc import Sequence

import numpy as np

from factcheck_local.metrics.roc_curve import roc_curve


def auroc(scores: Sequence[float], outcomes: Sequence[bool]) -> float | None:
    """AUROC in [0, 1]; None unless both classes occur.

    Args:
        scores: shape (n,), higher for what is believed true; any scale.
        outcomes: whether each is true, shape (n,).

    Raises:
        ValueError: if the lengths differ or a score is NaN.
    """
    curve = roc_curve(scores, outcomes)
    return None if curve is None else float(np.trapezoid(curve[1], curve[0]))
