"""A check as one number, for frameworks that compare numbers."""

from __future__ import annotations

from typing import Any

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.types import Verdict


def score(assessment: dict[str, Any]) -> float:
    """The share of an answer's claims that the documents support, in [0, 1].

    Raises:
        ScoringError: if there is nothing to check, or a claim could not be scored. A share of the
            others would hide that.
    """
    failed = [a for a in assessment["atoms"] if a["verdict"] == Verdict.UNSCORED.value]
    if failed:
        raise ScoringError(f"{len(failed)} claims could not be scored: {failed[0]['reason']}")
    share = assessment["summary"]["precision"]
    if share is None:
        raise ScoringError("the answer has no claim to check")
    return float(share)
