"""From a posterior and the evidence to a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck_local.core.types import (
    Context,
    EvidenceLink,
    RelationLabel,
    ScoredPair,
    Thresholds,
    Verdict,
)

_SIDES = {
    RelationLabel.ENTAILMENT: Verdict.SUPPORTED,
    RelationLabel.CONTRADICTION: Verdict.CONTRADICTED,
}

#: Without thresholds of its own a run calls whatever is not at ½.
NO_THRESHOLDS = Thresholds()

#: Of a claim that a stage failed on without a word.
NO_REASON = "no reason is given"

#: What is nearer to ½ is there but for the rounding of sums.
ROUNDING = 1e-9


def side_of_half(probability: float) -> int:
    """-1 below ½, 1 above it, 0 where it is ½."""
    return (probability > 0.5 + ROUNDING) - (probability < 0.5 - ROUNDING)


def certainty(
    probability: float, pairs: Sequence[ScoredPair], contexts: Mapping[str, Context]
) -> float:
    """How sure a verdict on an atom's side of ½ is.

    Of P > ½ it is P times 1 less the weight of the strongest denial among the passages, of
    P < ½ it is 1 - P times 1 less that of the strongest support; a weight is the probability
    of the relation times the source's prior. P alone says how probable the atom is by all sources
    together, and is high as well where one states it and another denies it a little less
    clearly. A verdict says more: that the sources state it and none denies it. Of wrong verdicts
    of *supported* those with a high P are such conflicts (``docs/how-to-read-a-probability.md``).

    Args:
        probability: posterior P(atom is true).
        pairs: what the relation model said of passages and the atom, neutral ones among them.
        contexts: by id, for their priors.

    Returns:
        In [0, 1].
    """
    supports = probability > 0.5
    other = (
        (p.relation.contradiction if supports else p.relation.entailment)
        * p.confidence
        * contexts[p.premise].prior
        for p in pairs
    )
    return (probability if supports else 1.0 - probability) * (1.0 - max(other, default=0.0))


def verdict(
    probability: float,
    sure: float,
    links: Sequence[EvidenceLink],
    contexts: Mapping[str, Context],
    *,
    strong: float,
    within: float,
    thresholds: Thresholds = NO_THRESHOLDS,
) -> Verdict:
    """What to say of an atom.

    - ``conflicting``: on both sides some link weighs at least ``strong``, where
      a link's weight is its probability times its source's prior, and P is within
      ``within`` of ½, or not as certain as the threshold of its side;
    - ``supported`` / ``contradicted``: P above / below ½, with a link on that side, and
      as certain as the threshold of that side;
    - ``undecided``: the same, but less certain;
    - ``not_found``: nothing relates to it, or what does cancels out at P = ½.

    Args:
        probability: posterior P(atom is true).
        sure: its ``certainty``.
        links: the links from contexts to this atom.
        contexts: by id, for their priors.
        strong: in [0, 1].
        within: in [0, 0.5].
        thresholds: by default none, so that nothing is undecided.
    """
    weight = {Verdict.SUPPORTED: 0.0, Verdict.CONTRADICTED: 0.0}
    for link in links:
        side = _SIDES[link.label]
        weight[side] = max(weight[side], link.probability * contexts[link.premise].prior)
    both = 0 < min(weight.values()) >= strong
    if both and abs(probability - 0.5) <= within + ROUNDING:
        return Verdict.CONFLICTING
    side = Verdict.SUPPORTED if probability > 0.5 else Verdict.CONTRADICTED
    if weight[side] == 0 or side_of_half(probability) == 0:
        return Verdict.NOT_FOUND
    least = thresholds.supported if side.supports else thresholds.contradicted
    if sure >= least:
        return side
    return Verdict.CONFLICTING if both else Verdict.UNDECIDED
