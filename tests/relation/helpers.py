"""Scorers and relation models by script, which say what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.types import Relation
from factcheck_local.pipeline.relation import Premise
from factcheck_local.pipeline.relation.scorer import LogProbabilities

NEUTRAL = Relation(0.02, 0.03, 0.95)


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


class Scripted:
    """A relation model by table of texts; what is not in it is neutral, "long" does not fit."""

    id = "scripted"
    sha256 = "0" * 64

    def __init__(self, table: dict[tuple[str, str], Relation] | None = None) -> None:
        self.table = table or {}
        self.read: list[tuple[str, str]] = []
        self.fails = False

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        self.read += [(premise.text, h) for h in hypotheses]
        if self.fails or premise.text == "long":
            raise ScoringError("too long")
        return [self.table.get((premise.text, h), NEUTRAL) for h in hypotheses]
