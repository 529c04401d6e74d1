"""What the relate stage needs of a relation model, and a relation model of its scorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from factcheck_local.core.types import Relation

LogProbabilities = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Premise:
    """A passage, and the path of titles that says what it is about.

    Attributes:
        title: the path of titles.
        text: the passage.
        source: of the store, whose name it has there; empty for a text of no store's. It tells
            what has to go when the source does, and is no part of what is read.
    """

    title: str
    text: str
    source: str = field(default="", compare=False)


class PairScorer(Protocol):
    """Gives a model's own probabilities, before any calibration."""

    @property
    def id(self) -> str:
        """Names the model, and the prompt where there is one."""

    @property
    def sha256(self) -> str:
        """Hash of the weights, lower-case hex."""

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        """Score each of n hypotheses against one premise.

        Returns:
            Shape (n, 3), float64: finite natural-log probabilities of entailment,
            contradiction and neutral, in this order, each row normalised.

        Raises:
            ScoringError: if the model cannot take the premise or a hypothesis.
        """


class RelationModel(Protocol):
    """Gives p(r | premise, hypothesis) for one premise and several hypotheses."""

    @property
    def id(self) -> str:
        """Names the model, and the prompt where there is one."""

    @property
    def sha256(self) -> str:
        """Hash of the weights, lower-case hex."""

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """One relation per hypothesis, in order.

        Raises:
            ScoringError: if the model cannot take the premise.
        """


@runtime_checkable
class Concurrent(Protocol):
    """A model or a scorer that several threads may ask at the same time, as one on a server.

    Attributes:
        at_once: how many, at least 1.
    """

    at_once: int


def at_once(model: object) -> int:
    """How many threads may ask a model or a scorer at the same time; 1 unless it says more."""
    return model.at_once if isinstance(model, Concurrent) else 1
