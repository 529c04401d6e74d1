"""Of several ways to take a part of an answer apart, the one that is most like the others.

What a small model gets wrong, whom "they" are, which noun a rule is about, it seldom gets wrong in
the same way twice; what it gets right it says alike. So the way with the least expected
difference to what might have been written counts: minimum Bayes risk decoding (Kumar & Byrne
2004), over ways that were drawn (Eikema & Aziz 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from factcheck_local.core.text.wording import negations, words_and_numbers

#: Words and numbers of each claim of a way.
_Way = Sequence[frozenset[str]]


def most_like_the_others(ways: Sequence[Sequence[str]]) -> int:
    """Which of several ways says what all of them say, the first of equals.

    Args:
        ways: at least one, the claims of each.
    """
    said = [[_words(claim) for claim in way] for way in ways]
    return max(range(len(said)), key=lambda i: fmean(_alike(said[i], way) for way in said))


def likeness(way: Sequence[str], other: Sequence[str]) -> float:
    """How much two ways say the same, in [0, 1], by the words of their claims."""
    return _alike([_words(claim) for claim in way], [_words(claim) for claim in other])


def _words(claim: str) -> frozenset[str]:
    # A claim and its denial are two.
    return words_and_numbers(claim) | {f"not {n}" for n in range(negations(claim))}


def _alike(some: _Way, others: _Way) -> float:
    """How much two ways say the same, in [0, 1], each claim beside one of the others at most.

    Two ways that claim nothing are the same.
    """
    if not some or not others:
        return float(not some and not others)
    # A search for passages, which splits nothing, should not wait for this.
    from scipy.optimize import linear_sum_assignment

    found = np.array([[_same(one, other) for other in others] for one in some])
    return float(2 * found[linear_sum_assignment(found, maximize=True)].sum() / sum(found.shape))


def _same(one: frozenset[str], other: frozenset[str]) -> float:
    """What two claims have in common, as F1."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0
