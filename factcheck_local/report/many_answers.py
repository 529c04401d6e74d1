"""Many assessments at a glance, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from factcheck_local.core.types import Verdict
from factcheck_local.metrics import bootstrap_ci, factual_precision

SUMMARY_SCHEMA = "factcheck.summary/1"


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """One answer of many, without what its assessment says of each claim.

    Attributes:
        path: what the answer is called.
        report: its report's file, in the folder of the summary.
        assessment: the file with its assessment, there too.
        signature: of its run.
        summary: of its assessment.
        supported: claims with that verdict, and a probability.
        decided: those and the contradicted ones.
        scored: claims with a probability.
    """

    path: str
    report: str
    assessment: str
    signature: str
    summary: dict[str, Any]
    supported: int
    decided: int
    scored: int

    @classmethod
    def of(cls, path: str, report: str, assessment: str, value: dict[str, Any]) -> AnswerEntry:
        """The entry of an assessment, ``value``."""
        known = [Verdict(a["verdict"]) for a in value["atoms"] if a["probability"] is not None]
        return cls(
            path,
            report,
            assessment,
            signature=value["run"]["signature"],
            summary=value["summary"],
            supported=sum(v.supports for v in known),
            decided=sum(v.decides for v in known),
            scored=len(known),
        )


def to_summary(entries: Sequence[AnswerEntry], failed: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Counts, precision and coverage of each answer, and of all claims together.

    Args:
        entries: the answers, in the order in which they were given.
        failed: names of those that could not be verified, each with the reason.
    """
    scored = sum(e.scored for e in entries)
    interval = bootstrap_ci(
        entries,
        lambda drawn: factual_precision(
            sum(e.supported for e in drawn), sum(e.scored for e in drawn)
        ),
    )
    return {
        "schema": SUMMARY_SCHEMA,
        "signatures": list(dict.fromkeys(e.signature for e in entries)),
        "precision": factual_precision(sum(e.supported for e in entries), scored),
        # Over answers, whose claims stand and fall together; None for one alone.
        "precision_interval": interval,
        "coverage": sum(e.decided for e in entries) / scored if scored else None,
        "counts": {v.value: sum(e.summary["counts"][v.value] for e in entries) for v in Verdict},
        "answers": [
            {
                "path": e.path,
                "report": e.report,
                "assessment": e.assessment,
                "precision": e.summary["precision"],
                "coverage": e.summary["coverage"],
                "counts": e.summary["counts"],
            }
            for e in entries
        ],
        "failed": [{"path": path, "error": error} for path, error in failed],
    }
