"""An instructed LLM as pair scorer: the probabilities of its label tokens.

The instructions, the solved examples and the passage are read once; each claim is a
short continuation. A model with an adapter for it gets instructions without examples. No
text is generated and nothing is parsed: the model's probabilities of the three label
tokens are renormalised over them (FactReasoner §3.1, as exact label scoring).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self, cast

from factcheck_local.indexer.states import part_of
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.contracts import (
    Adaptable,
    LabelScorer,
    Message,
    Remembered,
    Remembering,
)
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.relation.scorer import LogProbabilities, Premise, at_once

PROMPT = "relate"

#: The prompt of a model with an adapter for it.
ADAPTED_PROMPT = "relate-v2"

#: Tokens read as entailment, contradiction, neutral: those of the prompt.
LABELS = ("A", "B", "C")

#: Stands for the title of a passage that has none.
UNTITLED = "document"


class LlmPairScorer:
    """Label scoring over an instructed LLM; implements ``PairScorer``.

    Args:
        scorer: the LLM.
        prompt: name of the prompt.
        name: see ``id``; by default of the model and the prompt.
        states: where the model keeps what it made of a store's passages, if it can, each source's
            apart; None for nowhere.
    """

    def __init__(
        self,
        scorer: LabelScorer,
        *,
        prompt: str = PROMPT,
        name: str | None = None,
        states: Path | None = None,
    ) -> None:
        self._scorer = scorer
        self._prompt = load_prompt(prompt)
        self._states = states
        self.id = name or f"{scorer.id}/{self._prompt.id}"
        self.sha256 = scorer.sha256
        self.at_once = at_once(scorer)

    @classmethod
    def of_card(
        cls, card: ModelCard, model: LabelScorer | Adaptable, states: Path | None = None
    ) -> Self:
        """The best that a card offers for its loaded model: with its adapter, if it has one.

        Args:
            card: the model's.
            model: as it was loaded.
            states: as the class takes it.
        """
        adapted = ADAPTED_PROMPT in card.adapters
        scorer = cast(Adaptable, model).adapted(ADAPTED_PROMPT) if adapted else model
        return cls(
            cast(LabelScorer, scorer),
            prompt=ADAPTED_PROMPT if adapted else PROMPT,
            name=f"{card.id}/{card_key(card)}",
            states=states,
        )

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        """Score each hypothesis against the premise; see ``PairScorer``."""
        endings = [self._prompt.close(claim=h) for h in hypotheses]
        model = self._keeping(premise) or self._scorer
        return model.score_labels(self._opening(premise), endings, LABELS)

    def remembers(self, premise: Premise) -> bool | None:
        """Whether what the model made of a premise is kept; see ``Remembered``."""
        model = self._keeping(premise)
        return model.remembers(self._opening(premise)) if model else None

    def remember(self, premise: Premise) -> None:
        """Read a premise before there is a hypothesis, and keep that; see ``Remembered``.

        Raises:
            ScoringError: if the model cannot take the premise.
        """
        if model := self._keeping(premise):
            model.remember(self._opening(premise))

    def _keeping(self, premise: Premise) -> Remembered | None:
        """The model that keeps what it makes of a premise; None where nothing is kept."""
        if self._states is None or not premise.source:
            return None
        if not isinstance(self._scorer, Remembering):
            return None
        return self._scorer.remembering(self._states, part_of(premise.source))

    def _opening(self, premise: Premise) -> list[Message]:
        return self._prompt.opening(title=premise.title or UNTITLED, passage=premise.text)


def card_key(card: ModelCard) -> str:
    """What names a card's scorer beside the model, as ``relate-v2+adapter-1a2b3c4d``."""
    adapter = card.adapters.get(ADAPTED_PROMPT)
    if adapter is None:
        return load_prompt(PROMPT).id
    return f"{load_prompt(ADAPTED_PROMPT).id}+{adapter.name}"
