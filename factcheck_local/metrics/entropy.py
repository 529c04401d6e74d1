"""Entropy of the posteriors: how undecided an assessment is.

    E  = (1/n) sum of -P(a_i) log10 P(a_i)
    E2 = (1/n) sum of -P(a_i) log2 P(a_i) - (1 - P(a_i)) log2 (1 - P(a_i))

Reference: FactReasoner, section 3.2, for E, which is its measure of factuality
without gold labels. E2 is Shannon's entropy of each atom, in bits.

E is not an entropy: it leaves out the false half. The paper says that it is
infinite when every atom is certainly false; in fact -p log p tends to 0 as p
does, so E is 0 both when all atoms are certainly true and when all are
certainly false, and largest at P = 1/e. E2 is 0 in the same two cases, but
symmetric and largest, 1 bit, at one half. Read either beside the precision.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from factcheck_local.metrics import _checks


def entropy(probabilities: Sequence[float]) -> float | None:
    """E in [0, 0.1598], decimal logarithm; None without atoms.

    Args:
        probabilities: P(a_i), shape (n,), in [0, 1].

    Raises:
        ValueError: if a probability is outside [0, 1].
    """
    p = _checks.probabilities(probabilities)
    return float(_minus_p_log2_p(p).mean() * np.log10(2.0)) if p.size else None


def binary_entropy(probabilities: Sequence[float]) -> float | None:
    """E2 in [0, 1] bits; None without atoms.

    Args:
        probabilities: P(a_i), shape (n,), in [0, 1].

    Raises:
        ValueError: if a probability is outside [0, 1].
    """
    p = _checks.probabilities(probabilities)
    return float((_minus_p_log2_p(p) + _minus_p_log2_p(1.0 - p)).mean()) if p.size else None


def _minus_p_log2_p(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """-p log2 p with its limit 0 at p = 0."""
    return -p * np.log2(np.where(p > 0.0, p, 1.0))
