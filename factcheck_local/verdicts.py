"""From a posterior and the evidence to a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck_local.types import Context, EvidenceLink, RelationLabel, Verdict

_SIDES = {
    RelationLabel.ENTAILMENT: Verdict.SUPPORTED,
    RelationLabel.CONTRADICTION: Verdict.CONTRADICTED,
}


def verdict(
    probability: float,
    links: Sequence[EvidenceLink],
    contexts: Mapping[str, Context],
    *,
    strong: float,
) -> Verdict:
    """What to say of an atom.

    - ``conflicting``: on both sides some link weighs at least ``strong``, where
      a link's weight is its probability times its source's prior;
    - ``supported`` / ``contradicted``: P above / below ½, with a link on that side;
    - ``not_found``: nothing relates to it, or what does cancels out at P = ½.

    Args:
        probability: posterior P(atom is true).
        links: the links from contexts to this atom.
        contexts: by id, for their priors.
        strong: in [0, 1].
    """
    weight = {Verdict.SUPPORTED: 0.0, Verdict.CONTRADICTED: 0.0}
    for link in links:
        side = _SIDES[link.label]
        weight[side] = max(weight[side], link.probability * contexts[link.premise].prior)
    if min(weight.values()) >= strong:
        return Verdict.CONFLICTING
    side = Verdict.SUPPORTED if probability > 0.5 else Verdict.CONTRADICTED
    return side if weight[side] > 0 and probability != 0.5 else Verdict.NOT_FOUND
