"""What the relate stage needs of a relation model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from factcheck_local.types import Relation


@dataclass(frozen=True, slots=True)
class Premise:
    """A passage, and the path of titles that says what it is about."""

    title: str
    text: str


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
