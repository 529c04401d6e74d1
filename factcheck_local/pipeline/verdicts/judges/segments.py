"""FELM's segment-based evaluators: the whole answer in numbered segments, the wrong ones named.

Reference: Chen et al. (2023), "FELM: Benchmarking Factuality Evaluation of Large Language
Models", section 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress
from factcheck_local.core.types import Atom, Segment, Verdict
from factcheck_local.models.contracts import TextGenerator
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.claims.split import segment
from factcheck_local.pipeline.verdicts.judges.case import Case, Judged, Judgement
from factcheck_local.pipeline.verdicts.judges.passages import fit
from factcheck_local.pipeline.verdicts.judges.reasoned import MAX_REPLY_TOKENS, sampled
from factcheck_local.pipeline.verdicts.judges.replies import listed_numbers

#: Opens the line that lists the wrong segments, where the model reasons first.
CUE = "wrong"

#: A list of numbers needs no more.
SHORT_REPLY_TOKENS = 48

#: Segments of one prompt; a longer answer is judged in several.
AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class SegmentJudge:
    """Asks which segments are wrong; implements ``Judge``.

    An atom takes the verdict of the segments that it was split from: contradicted if one of
    them is named, supported if none is. Its probability is the share of the votes in
    which none is named.

    Attributes:
        prompt: name of the prompt.
        reasons: whether the model reasons first.
        votes: replies, at least 1; sampled if there are several.
        wants_contexts: see ``Judge``.
    """

    prompt: str
    reasons: bool = False
    votes: int = 1
    wants_contexts: bool = False

    def judge(self, case: Case, llm: TextGenerator, progress: Progress) -> Judged:
        """Judge all segments from which atoms come, and with them the atoms."""
        found: dict[str, Judgement] = {}
        failures: dict[str, str] = {}
        cut = 0
        by_unit = _units(case)
        units = list(by_unit)
        for start in range(0, len(units), AT_ONCE):
            group = units[start : start + AT_ONCE]
            atoms = [a for unit in group for a in by_unit[unit]]
            try:
                shares, reason, shortened = self._wrong(case, group, atoms, llm)
            except ScoringError as error:
                failures |= {a.id: str(error) for a in atoms}
            else:
                cut += shortened * len(atoms)
                for unit, share in zip(group, shares, strict=True):
                    found |= {
                        a.id: self._judgement(1.0 - share, reason, case, a) for a in by_unit[unit]
                    }
            for atom in atoms:
                case.reached(atom.id, found.get(atom.id) or failures[atom.id])
            progress(len(found) + len(failures), len(case.atoms))
        return Judged(found, failures, cut)

    def _judgement(self, p: float, reason: str | None, case: Case, atom: Atom) -> Judgement:
        verdict = Verdict.SUPPORTED if p > 0.5 else Verdict.CONTRADICTED
        return Judgement(verdict, p, reason, case.by_atom.get(atom.id, ()))

    def _wrong(
        self, case: Case, units: Sequence[str], atoms: Sequence[Atom], llm: TextGenerator
    ) -> tuple[list[float], str | None, bool]:
        """For each segment the share of votes that name it; what was written; whether cut."""
        ids = dict.fromkeys(id_ for a in atoms for id_ in case.by_atom.get(a.id, ()))
        passages, shortened = fit([case.contexts[id_] for id_ in ids])
        messages = load_prompt(self.prompt).opening(
            question=case.answer.question, segments=units, passages=passages
        )
        tokens = MAX_REPLY_TOKENS if self.reasons else SHORT_REPLY_TOKENS
        replies = sampled(llm, messages, self.votes, tokens)
        cue = CUE if self.reasons else ""
        votes = [v for v in (listed_numbers(r, cue, len(units)) for r in replies) if v is not None]
        if not votes:
            raise ScoringError("the model did not say which segments are wrong")
        shares = [sum(n in v for v in votes) / len(votes) for n in range(1, len(units) + 1)]
        return shares, replies[0].strip() if self.reasons else None, shortened


def _units(case: Case) -> dict[str, list[Atom]]:
    """The stretches of the answer that atoms come from, in order, each with its atoms."""
    segments = segment(case.answer.text)
    found: dict[str, list[Atom]] = {}
    for atom in case.atoms:
        found.setdefault(_unit(atom, segments), []).append(atom)
    return found


def _unit(atom: Atom, segments: Sequence[Segment]) -> str:
    own = [s.text for s in segments if atom.span is not None and s.span.overlaps(atom.span)]
    return " ".join(own) or atom.original
