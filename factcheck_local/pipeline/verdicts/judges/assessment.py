"""Judgements of an LLM become an assessment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck_local.core.types import (
    Answer,
    Assessment,
    Atom,
    AtomAssessment,
    Context,
    InferenceInfo,
    Verdict,
)
from factcheck_local.pipeline.verdicts.decide import NO_REASON
from factcheck_local.pipeline.verdicts.judges.case import Judged, Judgement


def assessment_of(
    answer: Answer,
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    judged: Judged,
    failures: Mapping[str, str],
    assessor: str,
    notes: Sequence[str] = (),
) -> Assessment:
    """Put judgements together; what failed is ``unscored``, what is not check-worthy ``skipped``.

    Args:
        answer: what was verified.
        atoms: all of them, skipped ones too.
        contexts: all that were retrieved.
        judged: what the judge said.
        failures: atom id -> why an earlier stage failed on it.
        assessor: the judge's name, which stands where others name their inference.
        notes: what the stages had to say beside their results.
    """
    said: dict[str, Judgement | str] = {**judged.by_atom, **judged.failures, **failures}
    found = [judged_atom(atom, said.get(atom.id)) for atom in atoms]
    info = InferenceInfo(method=assessor, exact=True, converged=True, log_z=None)
    return Assessment(answer, tuple(found), tuple(contexts), (), (), info, tuple(notes))


def judged_atom(atom: Atom, said: Judgement | str | None) -> AtomAssessment:
    """An atom with what a judge said of it: a judgement, why there is none, or nothing."""
    if isinstance(said, str):
        return AtomAssessment(atom, Verdict.UNSCORED, reason=said or NO_REASON)
    if said is None and atom.kind.check_worthy:
        return AtomAssessment(atom, Verdict.UNSCORED, reason="the judge said nothing of it")
    if said is None:
        return AtomAssessment(atom, Verdict.SKIPPED)
    return AtomAssessment(atom, said.verdict, said.probability, reason=said.reason, read=said.read)
