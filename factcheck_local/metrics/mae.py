"""Mean absolute error of the factual precision of answers.

    MAE = (1/|Y|) sum over y of |Pr(y) - Pr*(y)|

with Pr* from gold labels.

Reference: FactReasoner, section 4.

Differs from a correlation: it sees a constant bias. An answer without a
precision (no atoms) has to be left out by the caller, who then says how many.
"""

from collections.abc import Sequence

import numpy as np

from factcheck_local.metrics import _checks


def mae(predicted: Sequence[float], gold: Sequence[float]) -> float | None:
    """MAE in the unit of its arguments, at least 0; None without items.

    Args:
        predicted: shape (n,).
        gold: shape (n,).

    Raises:
        ValueError: if the lengths differ or a value is not finite.
    """
    _checks.same_length(predicted, gold)
    difference = np.asarray(predicted, dtype=np.float64) - np.asarray(gold, dtype=np.float64)
    if not np.all(np.isfinite(difference)):
        raise ValueError(f"expected finite values, got {list(predicted)} and {list(gold)}")
    return float(np.abs(difference).mean()) if difference.size else None
