"""How a passage bears on a claim, or on another passage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

#: How far a relation's three probabilities may be from adding up to 1.
SUM_TOLERANCE = 1e-6


class RelationLabel(StrEnum):
    """How a premise bears on a hypothesis; the order is that of ``Relation``."""

    ENTAILMENT = "entailment"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"
    EQUIVALENCE = "equivalence"


@dataclass(frozen=True, slots=True)
class Relation:
    """p(r | premise, hypothesis) over the three labels, adding up to 1."""

    entailment: float
    contradiction: float
    neutral: float

    def __post_init__(self) -> None:
        """Refuse what is not a distribution.

        Raises:
            ValueError: if a value is outside [0, 1] or the sum is not 1.
        """
        values = (self.entailment, self.contradiction, self.neutral)
        if not all(0.0 <= v <= 1.0 for v in values) or not math.isclose(
            sum(values), 1.0, abs_tol=SUM_TOLERANCE
        ):
            raise ValueError(f"expected three probabilities adding up to 1, got {values}")

    @property
    def label(self) -> RelationLabel:
        """The most probable label; neutral wins a tie, contradiction comes next."""
        return max(
            (RelationLabel.NEUTRAL, RelationLabel.CONTRADICTION, RelationLabel.ENTAILMENT),
            key=lambda label: getattr(self, label.value),
        )

    @property
    def probability(self) -> float:
        """Probability of the most probable label."""
        return max(self.entailment, self.contradiction, self.neutral)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a passage says of a claim; ``confidence`` is P(it says something of it)."""

    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class EvidenceLink:
    """A relation that became an edge: ``premise`` bears on ``hypothesis``.

    Attributes:
        premise: id of a context.
        hypothesis: id of an atom or a context.
        label: the most probable relation of the two.
        probability: p* of that label, times the confidence of a summary.
        strength: what the edge's factor carries where it is the only one, see
            ``verdicts.network.links_from`` and ``verdicts.network.discounted``.
    """

    premise: str
    hypothesis: str
    label: RelationLabel
    probability: float
    strength: float


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair that the relation model read, edge or not.

    ``summary`` is what it read of the premise, None where it read all of it.
    """

    premise: str
    hypothesis: str
    relation: Relation
    summary: Summary | None = None

    @property
    def confidence(self) -> float:
        """That of the summary, 1 without one."""
        return 1.0 if self.summary is None else self.summary.confidence
