"""Thresholds of verdicts from labelled claims, so that few of the claims called so are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from factcheck_local.core.errors import InputError
from factcheck_local.core.types import Thresholds, Verdict
from factcheck_local.metrics import Called, called_threshold, fewest_called


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim as a run saw it, and what is true of it.

    Attributes:
        probability: P of the run, in [0, 1].
        certainty: of the run, in [0, 1], see ``verdicts.decide.certainty``.
        label: what a person says.
        verdict: of the run; None where it is not known, and the side of ½ stands for it.
    """

    probability: float
    certainty: float
    label: Verdict
    verdict: Verdict | None = None

    def may_be(self, side: Verdict) -> bool:
        """Whether the run could call it so: only its certainty would keep it back.

        A conflict is none of both, and what is not found has no evidence on its side of ½.
        """
        here = self.probability > 0.5 if side.supports else self.probability < 0.5
        return here and self.verdict in (None, side, Verdict.UNDECIDED)


@dataclass(frozen=True, slots=True)
class Side:
    """What a threshold does on one side.

    Attributes:
        possible: labelled claims that could be called so.
        found: the threshold, and what it does with them; None where none will do.
    """

    possible: int
    found: Called | None


@dataclass(frozen=True, slots=True)
class Fitted:
    """Thresholds, and what they do with the claims that they were fitted on.

    Attributes:
        thresholds: a side without one is at 0, with nothing promised of it.
        supported: that side.
        contradicted: the other one.
    """

    thresholds: Thresholds
    supported: Side
    contradicted: Side

    @property
    def coverage(self) -> float:
        """Share of the claims that get *supported* or *contradicted*, in [0, 1]."""
        sides = (self.supported, self.contradicted)
        called = sum(s.found.called if s.found else s.possible for s in sides)
        return called / self.thresholds.claims

    @property
    def coverage_before(self) -> float:
        """The same without thresholds."""
        return (self.supported.possible + self.contradicted.possible) / self.thresholds.claims


def fit_thresholds(
    claims: Sequence[LabelledClaim], alpha: float, *, data: str, assessor: str
) -> Fitted:
    """The thresholds that leave least undecided, see ``metrics.called_threshold``.

    Args:
        claims: drawn as those are that the thresholds are for.
        alpha: of the claims called supported at most this share is not; likewise of those
            called contradicted; in (0, 1).
        data: what claims these are.
        assessor: whose certainty it is.

    Raises:
        InputError: if no threshold will do on either side.
    """
    supported, contradicted = (
        fit_side(claims, side, alpha) for side in (Verdict.SUPPORTED, Verdict.CONTRADICTED)
    )
    if not (supported.found or contradicted.found):
        raise InputError(
            f"no threshold keeps to {100 * alpha:g} %: of {len(claims)} claims "
            f"{supported.possible} could be called supported, {contradicted.possible} "
            f"contradicted; it takes at least {fewest_called(alpha)} of a side, none of them "
            "wrong, or more with few wrong ones"
        )
    thresholds = Thresholds(
        supported=supported.found.threshold if supported.found else 0.0,
        contradicted=contradicted.found.threshold if contradicted.found else 0.0,
        alpha=alpha,
        claims=len(claims),
        data=data,
        assessor=assessor,
    )
    return Fitted(thresholds, supported, contradicted)


def fit_side(claims: Sequence[LabelledClaim], side: Verdict, alpha: float) -> Side:
    """The threshold of one side, *supported* or *contradicted*; see ``fit_thresholds``."""
    own = [c for c in claims if c.may_be(side)]
    sure = [c.certainty for c in own]
    return Side(len(own), called_threshold(sure, [c.label is side for c in own], alpha))
