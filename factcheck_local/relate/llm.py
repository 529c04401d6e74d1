"""An instructed LLM as pair scorer: the probabilities of its label tokens.

The instructions, the solved examples and the passage are read once; each claim
is a short continuation. No text is generated and nothing is parsed: the model's
probabilities of the three label tokens are renormalised over them (FactReasoner
§3.1, as exact label scoring).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from factcheck_local.models.cards import ModelCard
from factcheck_local.models.contracts import FloatArray, LabelScorer, Message, StateScorer
from factcheck_local.prompts import load_prompt
from factcheck_local.relate.contract import LogProbabilities, Premise
from factcheck_local.relate.readout import Readout, ReadoutFile

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
        readout: reads its hidden state too; the LLM then has to be a ``StateScorer``.
        name: see ``id``; by default that of the plain label tokens.
    """

    def __init__(
        self, scorer: LabelScorer, readout: Readout | None = None, name: str | None = None
    ) -> None:
        self._scorer = scorer
        self._readout = readout
        self._prompt = load_prompt(PROMPT)
        self.id = name or f"{scorer.id}/{self._prompt.id}"
        self.sha256 = scorer.sha256

    @classmethod
    def of_card(cls, card: ModelCard, model: Any) -> Self:  # noqa: ANN401
        """The best that a card offers for its loaded model."""
        file = readout_file(card)
        return cls(model, file.load() if file else None, f"{card.id}/{card_key(card)}")

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        """Score each hypothesis against the premise; see ``PairScorer``."""
        if self._readout is None:
            return self._scorer.score_labels(*self._asked(premise, hypotheses), LABELS)
        return self._readout.apply(*self.states(premise, hypotheses))

    def states(
        self, premise: Premise, hypotheses: Sequence[str]
    ) -> tuple[LogProbabilities, FloatArray]:
        """Label tokens' log probabilities, shape (n, 3), and the states behind them, (n, d)."""
        scorer: StateScorer = self._scorer  # type: ignore[assignment]
        return scorer.score_labels_and_states(*self._asked(premise, hypotheses), LABELS)

    def _asked(
        self, premise: Premise, hypotheses: Sequence[str]
    ) -> tuple[list[Message], list[str]]:
        opening = self._prompt.opening(title=premise.title or UNTITLED, passage=premise.text)
        return opening, [self._prompt.close(claim=h) for h in hypotheses]


def readout_file(card: ModelCard) -> ReadoutFile | None:
    """The readout that a card has for the prompt, if any."""
    return ReadoutFile.of_card(card.readouts, load_prompt(PROMPT).id)


def card_key(card: ModelCard) -> str:
    """What names a card's scorer beside the model, as ``relate-v1+readout-1a2b3c4d``."""
    file = readout_file(card)
    return "+".join([load_prompt(PROMPT).id, *([file.short] if file else [])])
