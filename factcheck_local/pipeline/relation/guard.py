"""A symbolic second look: quantities of claim and passage that exclude each other."""

from __future__ import annotations

from collections.abc import Sequence

from factcheck_local.core.types import Relation
from factcheck_local.pipeline.relation.quantities import compare_quantities
from factcheck_local.pipeline.relation.scorer import Premise, RelationModel, at_once

#: P(some quantity mismatches | label): the mean of its shares in public pairs (24 of 5,100
#: entailments, 286 of 3,866 contradictions, 54 of 3,316 neutral ones), in authored passages (37 of
#: 5,344, 60 of 5,169, 32 of 5,039) and in sets (12 of 1,392, 35 of 1,159, 37 of 14,282), without
#: what is held out of training (``benchmarks.quantities``).
LIKELIHOODS = (0.0068, 0.0386, 0.0084)


class GuardedRelationModel:
    """A relation model whose word is weighed against the numbers; implements ``RelationModel``.

    Where a quantity of the claim mismatches the passage (see
    ``quantities.compare_quantities``), each label's probability is multiplied by how
    probable such a mismatch is under it, and the three are normalised: Bayes' rule,
    taking the mismatch as independent of the model's judgement given the label.
    Elsewhere nothing changes, since most claims hold no quantity that could mismatch.
    """

    def __init__(self, model: RelationModel) -> None:
        self.model = model
        self.id = f"{model.id}+quantities"
        self.sha256 = model.sha256
        self.at_once = at_once(model)

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """The model's relations, corrected; see ``RelationModel``."""
        text = f"{premise.title}.\n{premise.text}" if premise.title else premise.text
        found = self.model.relate(premise, hypotheses)
        return [
            weighed(r) if compare_quantities(text, h).n_mismatched else r
            for r, h in zip(found, hypotheses, strict=True)
        ]


def weighed(relation: Relation) -> Relation:
    """A relation in the light of a mismatch."""
    values = (relation.entailment, relation.contradiction, relation.neutral)
    joint = [p * q for p, q in zip(values, LIKELIHOODS, strict=True)]
    return Relation(*(j / sum(joint) for j in joint))
