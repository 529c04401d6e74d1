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
from factcheck_local.pipeline.verdicts.judges.case import Judged


def assessment_of(
    answer: Answer,
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    judged: Judged,
    failures: Mapping[str, str],
    assessor: str,
    notes: Sequence[str] = (),
) -> Assessment:
    """Put judgements together; what failed is ``unscored``, what was not asked ``skipped``.

    Args:
        answer: what was verified.
        atoms: all of them, skipped ones too.
        contexts: all that were retrieved.
        judged: what the judge said.
        failures: atom id -> why an earlier stage failed on it.
        assessor: the judge's name, which stands where others name their inference.
        notes: what the stages had to say beside their results.
    """
    failed = {**judged.failures, **failures}
    found = []
    for atom in atoms:
        judgement = judged.by_atom.get(atom.id)
        if atom.id in failed:
            found.append(AtomAssessment(atom, Verdict.UNSCORED, reason=failed[atom.id]))
        elif judgement is None:
            found.append(AtomAssessment(atom, Verdict.SKIPPED))
        else:
            found.append(
                AtomAssessment(
                    atom,
                    judgement.verdict,
                    judgement.probability,
                    reason=judgement.reason,
                    read=judgement.read,
                )
            )
    info = InferenceInfo(method=assessor, exact=True, converged=True, log_z=None)
    return Assessment(answer, tuple(found), tuple(contexts), (), (), info, tuple(notes))
