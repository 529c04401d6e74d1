"""Judges that answer in one word: the verdict is read from the words' probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress
from factcheck_local.core.types import Atom, Verdict
from factcheck_local.models.contracts import LabelScorer, Message
from factcheck_local.models.prompts import load_prompt
from factcheck_local.models.scoring import score_each
from factcheck_local.pipeline.verdicts.judges.case import WORTH, Case, Judged, Judgement
from factcheck_local.pipeline.verdicts.judges.passages import Passage, fit


@dataclass(frozen=True, slots=True)
class LabelJudge:
    """Scores labels after an atom's passages; implements ``Judge``.

    Nothing is generated and nothing parsed: the probabilities of the labels' first tokens
    are renormalised over the labels.

    Attributes:
        prompt: name of the prompt.
        labels: what the model answers -> what that means.
        wants_contexts: see ``Judge``.
    """

    prompt: str
    labels: Mapping[str, Verdict]
    wants_contexts: bool = True

    def judge(self, case: Case, llm: LabelScorer, progress: Progress) -> Judged:
        """Judge every atom; those with the same passages share one reading of them."""
        by_passages: dict[tuple[Passage, ...], list[Atom]] = {}
        cut = 0
        for atom in case.atoms:
            passages, shortened = fit(case.read_for(atom))
            cut += shortened
            by_passages.setdefault(passages, []).append(atom)
        found: dict[str, Judgement] = {}
        failures: dict[str, str] = {}
        prompt = load_prompt(self.prompt)
        for passages, atoms in by_passages.items():
            opening = prompt.opening(passages=passages)
            rows = self._scored(llm, opening, [prompt.close(claim=a.text) for a in atoms])
            for atom, row in zip(atoms, rows, strict=True):
                if isinstance(row, ScoringError):
                    failures[atom.id] = str(row)
                else:
                    found[atom.id] = self._judgement(np.exp(row), case, atom)
                case.reached(atom.id, found.get(atom.id) or failures[atom.id])
            progress(len(found) + len(failures), len(case.atoms))
        return Judged(found, failures, cut)

    def _scored(
        self, llm: LabelScorer, opening: Sequence[Message], endings: Sequence[str]
    ) -> list[npt.NDArray[np.float64] | ScoringError]:
        """The labels' log probabilities after each ending, or why there are none."""
        labels = tuple(self.labels)
        return score_each(lambda some: llm.score_labels(opening, some, labels), endings)

    def _judgement(self, row: npt.NDArray[np.float64], case: Case, atom: Atom) -> Judgement:
        verdicts = tuple(self.labels.values())
        probability = float(sum(p * WORTH[v] for p, v in zip(row, verdicts, strict=True)))
        read = case.by_atom.get(atom.id, ())
        # Rounding may put a sum of probabilities just outside [0, 1].
        return Judgement(verdicts[int(np.argmax(row))], min(max(probability, 0.0), 1.0), read=read)
