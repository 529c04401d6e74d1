"""F1@K: factual precision weighed against saying enough.

    R_K = min(S / K, 1)        F1@K = 2 Pr R_K / (Pr + R_K), 0 if S = 0

Reference: Wei et al. (2024), "Long-form factuality in large language models"
(SAFE); Song et al. (2024), "VeriScore", which takes K as the median number of atoms
over the data set, separately for each domain, and averages over all answers.

Differs from tools that fix K (SAFE reports 64 and 178): K has no default here,
because a value depends on it more than on the answer.
"""

from factcheck_local.metrics import _checks
from factcheck_local.metrics.factual_precision import factual_precision


def recall_at_k(supported: int, k: float) -> float:
    """R_K in [0, 1].

    Args:
        supported: S, the number of supported atoms.
        k: number of supported atoms that counts as enough; a median may be
            half an integer.

    Raises:
        ValueError: if S is negative or K is not greater than 0.
    """
    _checks.count("supported", supported)
    if not k > 0:
        raise ValueError(f"expected K > 0, got {k}")
    return min(supported / k, 1.0)


def f1_at_k(supported: int, total: int, k: float) -> float:
    """F1@K in [0, 1]; 0 without atoms, as what says nothing says too little.

    Args:
        supported: S, the number of supported atoms.
        total: n, the number of atoms that were scored.
        k: see ``recall_at_k``.

    Raises:
        ValueError: unless 0 <= supported <= total and K > 0.
    """
    recall = recall_at_k(supported, k)
    precision = factual_precision(supported, total)
    if not precision:
        return 0.0
    return 2.0 * precision * recall / (precision + recall)
