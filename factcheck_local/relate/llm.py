"""An instructed LLM as relation model: the probabilities of its label tokens.

The instructions, the solved examples and the passage are read once; each claim
is a short continuation. No text is generated and nothing is parsed: the model's
probabilities of the three label tokens, renormalised over them (FactReasoner
§3.1, as exact label scoring), are calibrated and returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from factcheck_local.errors import ModelError
from factcheck_local.models.contracts import LabelScorer
from factcheck_local.prompts import load_prompt
from factcheck_local.relate.contract import Premise
from factcheck_local.types import Relation

PROMPT = "relate"

#: Tokens read as entailment, contradiction, neutral: those of the prompt.
LABELS = ("A", "B", "C")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Vector scaling with one slope: logit = slope · log p + bias.

    A small model favours a label whatever the pair; the bias takes that
    away (contextual calibration, Zhao et al. 2021), the slope makes the
    probabilities as sure as they are right (temperature scaling, Guo et al. 2017).
    """

    slope: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @classmethod
    def from_card(cls, calibration: Mapping[str, Any], prompt_id: str) -> Calibration:
        """The calibration that a card holds for a prompt; none leaves scores as they are.

        Raises:
            ModelError: if it is malformed.
        """
        if prompt_id not in calibration:
            return cls()
        try:
            values = calibration[prompt_id]
            entailment, contradiction, neutral = (float(b) for b in values["bias"])
            slope = float(values["slope"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"calibration of {prompt_id}: {error}") from error
        if not slope > 0:
            raise ModelError(f"calibration of {prompt_id}: expected a slope > 0, got {slope}")
        return cls(slope, (entailment, contradiction, neutral))

    def apply(self, log_p: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Calibrated probabilities, shape (n, 3), of log probabilities (n, 3)."""
        logits = self.slope * log_p + np.asarray(self.bias)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        found: npt.NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return found


class LlmRelationModel:
    """Label scoring over an instructed LLM; implements ``RelationModel``."""

    def __init__(self, scorer: LabelScorer, calibration: Mapping[str, Any] | None = None) -> None:
        self._scorer = scorer
        self._prompt = load_prompt(PROMPT)
        self._calibration = Calibration.from_card(calibration or {}, self._prompt.id)
        self.id = f"{scorer.id}/{self._prompt.id}"
        self.sha256 = scorer.sha256

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """Score each hypothesis against the premise; see ``RelationModel``."""
        probabilities = self._calibration.apply(self.score(premise, hypotheses))
        return [Relation(*map(float, row)) for row in probabilities]

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> npt.NDArray[np.float64]:
        """Uncalibrated natural-log probabilities, shape (n, 3)."""
        opening = self._prompt.opening(title=premise.title, passage=premise.text)
        endings = [self._prompt.close(claim=h) for h in hypotheses]
        return self._scorer.score_labels(opening, endings, LABELS)
