"""Exit codes of a verification, the weightiest of what happened."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

BELOW, BAD_INPUT, UNSCORED = 1, 2, 3


def exit_code(
    summaries: Sequence[Mapping[str, Any]],
    *,
    failed: int = 0,
    fail_under: float | None = None,
    fail_on: Collection[str] | None = None,
) -> int:
    """The code for all answers together.

    An answer that could not be read weighs more than a claim that could not be scored,
    and that more than what was found.

    Args:
        summaries: ``summary`` of each assessment.
        failed: answers without an assessment.
        fail_under: the least factual precision of each answer.
        fail_on: verdicts that no claim may have.
    """
    if failed:
        return BAD_INPUT
    if any(s["counts"]["unscored"] for s in summaries):
        return UNSCORED
    return BELOW if any(is_below(s, fail_under, fail_on) for s in summaries) else 0


def is_below(
    summary: Mapping[str, Any], fail_under: float | None, fail_on: Collection[str] | None
) -> bool:
    """Whether an answer is worse than what was asked for."""
    precision = summary["precision"]
    low = fail_under is not None and precision is not None and precision < fail_under
    return low or any(summary["counts"][verdict] for verdict in fail_on or ())
