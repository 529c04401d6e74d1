"""An NLI encoder as relation model."""

from __future__ import annotations

from collections.abc import Sequence

from factcheck_local.models.contracts import PairClassifier
from factcheck_local.relate.contract import Premise
from factcheck_local.types import Relation


class EncoderRelationModel:
    """A three-way classifier of pairs; implements ``RelationModel``."""

    def __init__(self, classifier: PairClassifier) -> None:
        self._classifier = classifier
        self.id = classifier.id
        self.sha256 = classifier.sha256

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """Classify each hypothesis against the premise; see ``RelationModel``."""
        text = f"{premise.title}. {premise.text}" if premise.title else premise.text
        rows = self._classifier.classify([(text, h) for h in hypotheses])
        # Float32 softmax may miss 1 by more than our tolerance.
        return [Relation(*(float(v) for v in row / row.sum())) for row in rows]
