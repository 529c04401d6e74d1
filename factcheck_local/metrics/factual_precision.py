"""Factual precision: the share of an answer's atoms that are supported.

    Pr(y) = S(y) / n

Reference: Min et al. (2023), "FActScore"; FactReasoner, section 3.2, with
S(y) = #{i : P(a_i) > P(not a_i)}.

Differs from the FActScore tool, which multiplies by a penalty for answers of
fewer than ten atoms and averages over answers: this is one answer, no penalty.
"""

from factcheck_local.metrics import _checks


def factual_precision(supported: int, total: int) -> float | None:
    """Pr in [0, 1], or None if there are no atoms.

    Args:
        supported: S, the number of supported atoms.
        total: n, the number of atoms that were scored.

    Raises:
        ValueError: unless 0 <= supported <= total.
    """
    _checks.count("total", total)
    _checks.count("supported", supported, at_most=total)
    return supported / total if total else None
