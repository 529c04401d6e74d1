"""What is counted of the handbook's claims."""

from __future__ import annotations

from typing import Any

from benchmarks.handbook import summary_of


def row(item: str, verdict: str) -> dict[str, Any]:
    return {"item": item, "label": "supported", "verdict": verdict, "covered": True}


def test_the_interval_draws_whole_answers() -> None:
    """All claims of one answer are right, and none of the other: either may be drawn twice."""
    rows = [row("a", "supported")] * 10 + [row("b", "missed")] * 10
    found = summary_of(rows)
    assert (found["n"], found["accuracy"], found["accuracy_ci95"]) == (20, 0.5, (0.0, 1.0))
    assert summary_of(rows[:10])["accuracy_ci95"] is None
