"""An instructed LLM as pair scorer: the probabilities of its label tokens.

The instructions, the solved examples and the passage are read once; each claim
is a short continuation. No text is generated and nothing is parsed: the model's
probabilities of the three label tokens are renormalised over them (FactReasoner
§3.1, as exact label scoring).
"""

from __future__ import annotations

from collections.abc import Sequence

from factcheck_local.models.contracts import LabelScorer
from factcheck_local.prompts import load_prompt
from factcheck_local.relate.contract import LogProbabilities, Premise

PROMPT = "relate"

#: Tokens read as entailment, contradiction, neutral: those of the prompt.
LABELS = ("A", "B", "C")


class LlmPairScorer:
    """Label scoring over an instructed LLM; implements ``PairScorer``."""

    def __init__(self, scorer: LabelScorer) -> None:
        self._scorer = scorer
        self._prompt = load_prompt(PROMPT)
        self.id = scorer_id(scorer.id)
        self.sha256 = scorer.sha256

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        """Score each hypothesis against the premise; see ``PairScorer``."""
        opening = self._prompt.opening(title=premise.title, passage=premise.text)
        endings = [self._prompt.close(claim=h) for h in hypotheses]
        return self._scorer.score_labels(opening, endings, LABELS)


def scorer_id(model_id: str) -> str:
    """What the scorer of an LLM is called: the LLM and the prompt, as ``model/relate-v1``."""
    return f"{model_id}/{load_prompt(PROMPT).id}"
