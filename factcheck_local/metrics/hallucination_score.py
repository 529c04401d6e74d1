"""Hallucination score: wrong and undecided units, relative to the answer's length.

    H = (|C| + alpha |U|) / sqrt(|V|)

with C the contradicted (unsupported) units, U the undecided ones and V all
verifiable units.

Reference: Bayat et al. (2024), "FactBench".

Differs from a rate: the square root lets a long answer with the same share of
errors score worse, so H is not bounded by 1 and not a percentage.
"""

import math

from factcheck_local.metrics import _checks


def hallucination_score(
    contradicted: int, undecided: int, verifiable: int, *, alpha: float = 0.5
) -> float | None:
    """H >= 0, lower is better; None if nothing was verifiable.

    Args:
        contradicted: number of contradicted or unsupported units.
        undecided: number of undecided units.
        verifiable: number of all verifiable units, these included.
        alpha: weight of an undecided unit, at least 0.

    Raises:
        ValueError: if a number is negative, or the first two exceed the third.
    """
    _checks.count("verifiable", verifiable)
    _checks.count("contradicted", contradicted, at_most=verifiable)
    _checks.count("undecided", undecided, at_most=verifiable - contradicted)
    if not alpha >= 0:
        raise ValueError(f"expected alpha >= 0, got {alpha}")
    return (contradicted + alpha * undecided) / math.sqrt(verifiable) if verifiable else None
