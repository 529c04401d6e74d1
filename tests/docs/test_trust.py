"""The table of what is asked of an LLM's text has the thresholds of the code."""

from __future__ import annotations

import pytest

from factcheck_local.correct import replace
from factcheck_local.pipeline.claims import rewording
from factcheck_local.pipeline.claims.atomize import checks, one_pass, veriscore
from factcheck_local.pipeline.relation import summaries

from .pages import PAGES

PAGE = "docs/decisions/020-an-llms-text-is-never-taken-on-trust.md"


@pytest.mark.parametrize(
    ("place", "known", "own"),
    [
        ("claims/atomize/checks.py", checks.MIN_SHARE, None),
        ("claims/atomize/one_pass.py", one_pass.MIN_KNOWN, None),
        ("claims/atomize/veriscore.py", veriscore.MIN_KNOWN, veriscore.MIN_OWN),
        ("claims/rewording.py", rewording.MIN_KNOWN, rewording.MIN_KEPT),
        ("relation/summaries.py", summaries.MIN_KNOWN, summaries.MIN_OWN),
        ("correct/replace.py", replace.MIN_KNOWN, replace.MIN_KEPT),
    ],
)
def test_the_thresholds_are_those_of_the_code(place: str, known: float, own: float | None) -> None:
    (row,) = [line for line in PAGES[PAGE].splitlines() if line.startswith(f"| `{place}`")]
    _, _, _, _, words, kept, _, _ = row.split("|")
    assert words.split()[0] == f"{known:g}"
    assert own is None or f"{own:g}" in kept.split()
    if place == "claims/rewording.py":
        assert f", {rewording.MAX_ADDED} new" in kept
