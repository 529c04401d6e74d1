"""Two relation models in a row: a fast one for all pairs, a slow one for those it leaves open."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from factcheck_local.core.errors import ModelError
from factcheck_local.core.types import Relation, RelationLabel, Thresholds
from factcheck_local.pipeline.relation.risk import CASCADE
from factcheck_local.pipeline.relation.scorer import Premise, RelationModel


@dataclass(frozen=True, slots=True)
class Sure:
    """From which probability on the fast model's word stands, by its label.

    Above 1: never.
    """

    entailment: float = 0.95
    contradiction: float = 0.95
    neutral: float = 0.95

    @classmethod
    def from_card(cls, options: Mapping[str, Any]) -> Self:
        """The bounds that a fast model's card names as its option ``sure``, or the default.

        Raises:
            ModelError: if they are malformed.
        """
        try:
            return cls(**{name: float(p) for name, p in options.get("sure", {}).items()})
        except (AttributeError, TypeError, ValueError) as error:
            raise ModelError(f"option sure of an encoder's card: {error}") from error

    def settles(self, relation: Relation) -> bool:
        """Whether a relation of the fast model needs no second opinion."""
        bounds: Mapping[RelationLabel, float] = {
            RelationLabel.ENTAILMENT: self.entailment,
            RelationLabel.CONTRADICTION: self.contradiction,
            RelationLabel.NEUTRAL: self.neutral,
        }
        return relation.probability >= bounds[relation.label]


def slow_weight(options: Mapping[str, Any]) -> float:
    """The ``slow_weight`` that a fast model's card names, in [0, 1]; 1 if it names none.

    Raises:
        ModelError: if it is malformed.
    """
    value = options.get("slow_weight", 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ModelError(f"option slow_weight of an encoder's card: expected 0 to 1, got {value!r}")
    return float(value)


class CascadeRelationModel:
    """A fast and a slow model behind one contract; implements ``RelationModel``.

    Args:
        fast: reads every pair.
        slow: reads the pairs that ``fast`` is not sure of.
        sure: what counts as sure.
        weight: share of the slow model where both have read a pair, in [0, 1]; the
            two are pooled as logarithms (a logarithmic opinion pool, Genest & Zidek
            1986). 1 takes the slow model's word alone.
        budget: pairs of a run, or of one call of ``relate``, that the slow model reads, the
            least sure first; None for all.
        risk: thresholds of verdicts that come with these two.
    """

    def __init__(
        self,
        fast: RelationModel,
        slow: RelationModel,
        sure: Sure,
        *,
        weight: float = 1.0,
        budget: int | None = None,
        risk: Thresholds | None = None,
    ) -> None:
        self.risk = risk
        self.fast = fast
        self.slow = slow
        self._sure = sure
        self._weight = weight
        self._budget = budget
        self.id = f"{CASCADE}{fast.id},{slow.id})"
        self.sha256 = hashlib.sha256(f"{fast.sha256}\n{slow.sha256}\n".encode()).hexdigest()

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """The fast model's relations, the slow one's where it is not sure; see ``RelationModel``.

        Raises:
            ScoringError: if a model that is asked cannot take the premise.
        """
        quick = self.fast.relate(premise, hypotheses)
        chosen = self.plan(quick)
        found = list(quick)
        if chosen:
            second = self.slow.relate(premise, [hypotheses[i] for i in chosen])
            for i, slow in zip(chosen, second, strict=True):
                found[i] = self.pool(quick[i], slow)
        return found

    def plan(self, quick: Sequence[Relation], read: int = 0) -> list[int]:
        """Which of the fast model's relations the slow one has to look at, in order.

        Args:
            quick: relations of the fast model.
            read: how many pairs of the same run the slow one has looked at already.
        """
        unsure = [i for i, r in enumerate(quick) if not self._sure.settles(r)]
        unsure.sort(key=lambda i: -_entropy(quick[i]))
        return sorted(unsure if self._budget is None else unsure[: max(0, self._budget - read)])

    def pool(self, quick: Relation, slow: Relation) -> Relation:
        """The relation of a pair that both have read, see ``pooled``."""
        return pooled(quick, slow, self._weight)


def pooled(quick: Relation, slow: Relation, weight: float) -> Relation:
    """Two opinions as one: their geometric mean with a weight for ``slow``, normalised."""
    raw = [
        q ** (1 - weight) * s**weight for q, s in zip(_values(quick), _values(slow), strict=True)
    ]
    # Where each rules out what the other allows, nothing is left to normalise.
    return Relation(*(r / sum(raw) for r in raw)) if sum(raw) > 0 else slow


def _values(relation: Relation) -> tuple[float, float, float]:
    return relation.entailment, relation.contradiction, relation.neutral


def _entropy(relation: Relation) -> float:
    return -sum(p * math.log(p) for p in _values(relation) if p > 0)
