"""From a posterior and the evidence to a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck_local.core.types import Context, EvidenceLink, RelationLabel, Thresholds, Verdict

_SIDES = {
    RelationLabel.ENTAILMENT: Verdict.SUPPORTED,
    RelationLabel.CONTRADICTION: Verdict.CONTRADICTED,
}

#: Without thresholds of its own a run calls whatever is not at ½.
HALF = Thresholds()


def verdict(
    probability: float,
    links: Sequence[EvidenceLink],
    contexts: Mapping[str, Context],
    *,
    strong: float,
    thresholds: Thresholds = HALF,
) -> Verdict:
    """What to say of an atom.

    - ``conflicting``: on both sides some link weighs at least ``strong``, where
      a link's weight is its probability times its source's prior;
    - ``supported`` / ``contradicted``: P above / below ½, with a link on that side, and
      as far from ½ as the threshold of that side;
    - ``undecided``: the same, but nearer to ½;
    - ``not_found``: nothing relates to it, or what does cancels out at P = ½.

    Args:
        probability: posterior P(atom is true).
        links: the links from contexts to this atom.
        contexts: by id, for their priors.
        strong: in [0, 1].
        thresholds: by default at ½, so that nothing is undecided.
    """
    weight = {Verdict.SUPPORTED: 0.0, Verdict.CONTRADICTED: 0.0}
    for link in links:
        side = _SIDES[link.label]
        weight[side] = max(weight[side], link.probability * contexts[link.premise].prior)
    if min(weight.values()) >= strong:
        return Verdict.CONFLICTING
    side = Verdict.SUPPORTED if probability > 0.5 else Verdict.CONTRADICTED
    if weight[side] == 0 or probability == 0.5:
        return Verdict.NOT_FOUND
    called = thresholds.contradicted >= probability or probability >= thresholds.supported
    return side if called else Verdict.UNDECIDED
