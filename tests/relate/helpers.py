"""A scorer by script, which says what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from factcheck_local.relate import Premise
from factcheck_local.relate.contract import LogProbabilities


class ScriptedScorer:
    """A ``PairScorer`` whose probabilities are a function of the pair's texts."""

    id = "scripted/relate-v1"
    sha256 = "5" * 64

    def __init__(self, score: Callable[[str, str], tuple[float, float, float]]) -> None:
        self._score = score
        self.calls: list[tuple[Premise, tuple[str, ...]]] = []

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        self.calls.append((premise, tuple(hypotheses)))
        rows = [self._score(premise.text, h) for h in hypotheses]
        found: LogProbabilities = np.log(np.array(rows, dtype=np.float64).reshape(-1, 3))
        return found
