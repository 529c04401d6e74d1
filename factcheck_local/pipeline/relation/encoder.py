"""An NLI encoder as pair scorer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from factcheck_local.core.errors import ScoringError
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.contracts import PairClassifier
from factcheck_local.models.cores import available_cores
from factcheck_local.pipeline.relation.scorer import LogProbabilities, Premise, at_once

#: A softmax can give 0; its logarithm has to stay finite.
_SMALLEST = float(np.finfo(np.float64).tiny)


class EncoderPairScorer:
    """A three-way classifier of pairs; implements ``PairScorer``."""

    def __init__(self, classifier: PairClassifier) -> None:
        self._classifier = classifier
        self.id = classifier.id
        self.sha256 = classifier.sha256
        self.at_once = at_once(classifier)

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        """Classify each hypothesis against the premise; see ``PairScorer``.

        Raises:
            ScoringError: if the classifier cannot take a pair, or gives no probabilities.
        """
        text = as_read(premise)
        rows = self._classifier.classify([(text, h) for h in hypotheses])
        if (
            rows.shape != (len(hypotheses), 3)
            or not (np.isfinite(rows) & (rows >= 0)).all()
            or not rows.any(axis=1).all()
        ):
            raise ScoringError(f"{self.id}: what it gave are no probabilities of three labels")
        # A softmax in float32 may miss 1 by more than our tolerance.
        rows = np.maximum(rows / rows.sum(axis=1, keepdims=True), _SMALLEST)
        found: LogProbabilities = np.log(rows)
        return found


def premises_at_once(card: ModelCard) -> int:
    """How many passages an encoder reads side by side, before it is loaded.

    An ONNX encoder runs each pair alone, as many at once as there are cores, and few passages have
    so many claims. A torch model uses the cores itself.
    """
    return available_cores() if card.backend == "onnx" else 1


def as_read(premise: Premise) -> str:
    """A premise as one text, its titles in front: what an encoder reads, and is trained on."""
    return f"{premise.title}. {premise.text}" if premise.title else premise.text
