"""From which probability on a claim may be called true, if few of those called are to be wrong.

Conformal risk control (Angelopoulos et al. 2022, arXiv 2208.02814). Of n labelled claims let
called(t) be those with p >= t, and wrong(t) those of them that are not true. The loss of a
claim is 1{called} (1{wrong} - a), at most B = 1 - a; its mean is at most 0 where the share of
wrong claims among the called ones is at most a. The paper's bound

    n / (n + 1) · mean loss + B / (n + 1) <= 0   is   (wrong(t) + 1) / (called(t) + 1) <= a,

as if one more claim were called, and wrong. The threshold is the least t at which this holds.

What is promised. The paper's theorem needs a loss that only falls as t rises. This one does
not: a right claim that is no longer called makes it larger. The paper's way out, to replace
each loss by its largest value at any higher t, leaves nothing to call here, since a right
claim's loss becomes 0 and a wrong one's stays. Nor can any rule bound the share by a for those
sets of labels alone that happen to give a threshold: if 6 % of all claims are wrong whatever
their p, 6 % of the called ones are, and no finite set of labels shows that it is not 5 %. What
holds is an average over sets of labelled claims:

    E[share of wrong claims among those called; 0 where no threshold is found] <= a

for claims that are exchangeable with the labelled ones. Where p says nothing of being wrong,
each with probability r > a, this is r · P(a threshold is found). With the x > 0 for which
r exp(-x) + 1 - r = exp(-a x), exp(-x (wrong - a called)) is a martingale as claims are called
one by one; where the condition holds it is at least exp(x (1 - a)) >= r / a, and by Ville's
inequality it gets there with probability a / r at most. For shares that fall, rise or jump
with p it is a matter of simulation (``tests/metrics/test_called_threshold.py``): near a with
many labels, below it with few, never above beyond noise. It is the last crossing that is
taken, as by Benjamini & Hochberg; to stop at the first one that is lost again is worse where
the most probable claims are not the best. Over the sets that give a threshold the average is
above a where few do, so the promise is worth the more the more claims are called.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from factcheck_local.metrics import _checks

#: (wrong + 1) / (called + 1) may miss alpha by what rounding does to a decimal fraction.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Called:
    """A threshold, and what it does with the labelled claims.

    Attributes:
        threshold: claims of this p or more are called; one of the labelled claims' p.
        called: labelled claims that are.
        wrong: those of them that are not true.
    """

    threshold: float
    called: int
    wrong: int


def called_threshold(
    probabilities: Sequence[float], true: Sequence[bool], alpha: float
) -> Called | None:
    """The least threshold at which few enough of the called claims are wrong.

    Args:
        probabilities: p of each claim, shape (n,); higher is surer.
        true: whether it is true, shape (n,).
        alpha: the share of wrong claims among the called ones, in (0, 1).

    Returns:
        None where no threshold will do; ``fewest_called`` says how many claims one takes.

    Raises:
        ValueError: if a value is out of range, or the shapes do not match.
    """
    _check(alpha)
    p = _checks.probabilities(probabilities)
    _checks.same_length(probabilities, true)
    order = np.argsort(-p, kind="stable")
    ranked = p[order]
    wrong = np.cumsum(~np.asarray(true, dtype=bool)[order])
    called = np.arange(1, len(p) + 1)
    # Claims of the same p are called together.
    last_of_its_p = np.diff(ranked, append=-1.0) != 0
    holds = last_of_its_p & (wrong + 1 <= alpha * (called + 1) + _ROUNDING)
    if not holds.any():
        return None
    best = int(np.flatnonzero(holds)[-1])
    return Called(float(ranked[best]), int(called[best]), int(wrong[best]))


def fewest_called(alpha: float) -> int:
    """How many claims have to be called, if none of them is wrong: 1 / alpha - 1, rounded up.

    Raises:
        ValueError: if alpha is not in (0, 1).
    """
    _check(alpha)
    return math.ceil(1.0 / alpha - 1.0 - _ROUNDING)


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha: expected a value in (0, 1), got {alpha}")
