"""Expected calibration error over bins of equal width.

    ECE = sum over bins b of (n_b / n) |mean outcome in b - mean probability in b|

Reference: Naeini, Cooper and Hauskrecht (2015), "Obtaining well calibrated
probabilities using Bayesian binning".

Differs from the multi-class version (Guo et al. 2017), which bins the
confidence in the predicted class, in [1/2, 1]: this bins P(true) over [0, 1],
so that over- and underestimates of truth do not mix. The value depends on the
number of bins, which therefore has no default.
"""

from collections.abc import Sequence

import numpy as np

from factcheck_local.metrics import _checks


def ece(probabilities: Sequence[float], outcomes: Sequence[bool], bins: int) -> float | None:
    """ECE in [0, 1], lower is better; None without items.

    Args:
        probabilities: P(true), shape (n,), in [0, 1].
        outcomes: whether each is true, shape (n,).
        bins: how many; bin i holds [i/bins, (i+1)/bins), the last one 1 too.

    Raises:
        ValueError: if the lengths differ, a probability is outside [0, 1], or
            there is no bin.
    """
    _checks.same_length(probabilities, outcomes)
    if bins < 1:
        raise ValueError(f"expected at least one bin, got {bins}")
    p = _checks.probabilities(probabilities)
    if not p.size:
        return None
    index = np.minimum((p * bins).astype(np.intp), bins - 1)
    # Each bin adds |sum of (outcome - probability)| / n: its count cancels.
    gaps = np.bincount(index, weights=np.asarray(outcomes, dtype=bool) - p, minlength=bins)
    return float(np.abs(gaps).sum() / p.size)
