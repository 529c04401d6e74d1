"""From a model's own probabilities to honest ones: vector scaling with one slope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import InputError, ModelError
from factcheck_local.core.types import Relation, RelationLabel, Thresholds
from factcheck_local.pipeline.relation.scorer import (
    LogProbabilities,
    PairScorer,
    Premise,
    at_once,
)

#: The three labels in the order of every row of probabilities.
LABELS = (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION, RelationLabel.NEUTRAL)

#: Weight of the penalty in `fit`: it decides only what the labels leave open.
L2 = 1e-3


@dataclass(frozen=True, slots=True)
class Calibration:
    """Vector scaling with one slope: logit = slope · log p + bias.

    A small model favours a label whatever the pair; the bias takes that
    away (contextual calibration, Zhao et al. 2021), the slope makes the
    probabilities as sure as they are right (temperature scaling, Guo et al. 2017).

    Attributes:
        slope: above 0; 1 leaves the sureness as it is.
        bias: of entailment, contradiction and neutral, in nats.
    """

    slope: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @classmethod
    def from_card(cls, calibration: Mapping[str, Any], key: str) -> Calibration:
        """The calibration that a card holds under a key; none leaves scores as they are.

        Args:
            calibration: the card's ``calibration`` tables.
            key: the id of the prompt for an LLM, ``encoder`` for an encoder.

        Raises:
            ModelError: if it is malformed.
        """
        if key not in calibration:
            return cls()
        try:
            return cls.from_values(calibration[key])
        except ValueError as error:
            raise ModelError(f"calibration of {key}: {error}") from error

    @classmethod
    def from_values(cls, values: object) -> Calibration:
        """The calibration of a table ``{slope, bias}``, as a card or a store holds it.

        Raises:
            ValueError: if it is malformed.
        """
        if not isinstance(values, Mapping) or not {"slope", "bias"} <= set(values):
            raise ValueError(f"expected a slope and a bias, got {values!r}")
        try:
            entailment, contradiction, neutral = (float(b) for b in values["bias"])
            slope = float(values["slope"])
        except (TypeError, OverflowError) as error:
            raise ValueError(f"expected a slope and three biases, got {values!r}") from error
        if not (slope > 0 and np.isfinite([slope, entailment, contradiction, neutral]).all()):
            raise ValueError(f"expected a slope > 0 and finite biases, got {values!r}")
        return cls(slope, (entailment, contradiction, neutral))

    def apply(self, log_p: LogProbabilities) -> npt.NDArray[np.float64]:
        """Calibrated probabilities, shape (n, 3), of natural-log probabilities (n, 3)."""
        logits = self.slope * log_p + np.asarray(self.bias)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        found: npt.NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return found


class CalibratedRelationModel:
    """A scorer with its calibration; implements ``RelationModel``.

    Attributes:
        scorer: gives the model's own probabilities.
        calibration: what makes them honest.
        risk: thresholds of verdicts that the model comes with, for this calibration.
        id: the scorer's.
        sha256: the scorer's.
    """

    def __init__(
        self,
        scorer: PairScorer,
        calibration: Calibration | None = None,
        risk: Thresholds | None = None,
    ) -> None:
        self.scorer = scorer
        self.calibration = calibration or Calibration()
        self.risk = risk
        self.id = scorer.id
        self.sha256 = scorer.sha256
        self.at_once = at_once(scorer)

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """Score each hypothesis against the premise; see ``RelationModel``."""
        rows = self.calibration.apply(self.scorer.score(premise, hypotheses))
        return [Relation(*map(float, row)) for row in rows]


def fit(log_p: LogProbabilities, labels: Sequence[int], *, l2: float = L2) -> Calibration:
    """The calibration under which the labels are most probable.

    Minimises the mean of -ln p(label) plus ``l2`` · (ln² slope + Σ bias²). The slope
    is fitted as its logarithm, so it is above 0; the bias of neutral is 0, since only
    differences of biases count. The penalty keeps labels that are perfectly separated
    from asking for an endless slope.

    A label that never occurs cannot be fitted: its probability is then left out and
    the others renormalised, so a set without neutral pairs does not teach the model
    that nothing is neutral.

    Args:
        log_p: finite natural-log probabilities, shape (n, 3).
        labels: index of each pair's label in ``LABELS``, shape (n,).
        l2: weight of the penalty, at least 0.

    Raises:
        InputError: if there are fewer than two different labels.
        ValueError: if the shapes do not match, or a value is out of range.
    """
    from scipy.optimize import minimize

    gold = checked(log_p, labels)
    present = np.unique(gold)
    if len(present) < 2:
        raise InputError(
            "a calibration needs pairs of two labels or more, got "
            + (f"{LABELS[present[0]].value} only" if len(present) else "none")
        )
    own = np.eye(3)[gold][:, present]
    rows = log_p[:, present]

    def objective(values: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        slope = np.exp(values[0])
        logits = slope * rows + np.append(values[1:], 0.0)[present]
        logits -= logits.max(axis=1, keepdims=True)
        log_q = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        wrong = (np.exp(log_q) - own) / len(gold)
        gradient = np.zeros(4)
        gradient[0] = slope * (wrong * rows).sum()
        gradient[1 + present] = wrong.sum(axis=0)
        loss = -float((log_q * own).sum(axis=1).mean()) + l2 * float(values @ values)
        return loss, gradient[:3] + 2 * l2 * values

    # The bounds are far beyond any use; inside them nothing overflows without a penalty either.
    best = minimize(
        objective, np.zeros(3), jac=True, method="L-BFGS-B", bounds=[(-7, 7), (-50, 50), (-50, 50)]
    ).x
    return Calibration(float(np.exp(best[0])), (float(best[1]), float(best[2]), 0.0))


def checked(log_p: LogProbabilities, labels: Sequence[int]) -> npt.NDArray[np.intp]:
    """The labels as an array, once they are known to fit the probabilities; see ``fit``.

    Raises:
        ValueError: if the shapes do not match, or a value is out of range.
    """
    gold = np.asarray(labels, dtype=np.intp)
    if log_p.shape != (len(gold), 3) or not np.isfinite(log_p).all():
        raise ValueError(
            f"expected finite log probabilities of shape ({len(gold)}, 3), got {log_p.shape}"
        )
    if not np.isin(gold, range(3)).all():
        raise ValueError(f"expected labels 0, 1 or 2, got {sorted(set(gold.tolist()))}")
    return gold
