"""ARCHITECTURE.md and docs/decisions: what they name is there, and every decision is listed."""

from __future__ import annotations

import re

import pytest

from .pages import ROOT

PAGE = ROOT / "ARCHITECTURE.md"
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))

#: From where paths are seen.
SEEN_FROM = ("", "factcheck_local", "factcheck_local/pipeline", "factcheck_local/pipeline/verdicts")

#: Files that a run writes.
WRITTEN = {"factcheck.toml", "calibration.json", "risk.json", "pair-scores.sqlite"}


@pytest.mark.parametrize("path", [PAGE, *DECISIONS], ids=lambda p: p.name)
def test_paths_that_it_names_are_there(path: object) -> None:
    assert hasattr(path, "read_text")
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|toml|js|md|json)|/))`", path.read_text()))
    inside = {"load.py", "checker.py", "loaded.py", "run.py", "settings.py", "split.py"}
    inside |= {"rewording.py", "verdicts/", "judges/", "retrieval/", "relation/", "claims/"}
    rest = named - WRITTEN - (inside | {"atomize/"} if path == PAGE else set())
    missing = [n for n in rest if not any((ROOT / at / n).exists() for at in SEEN_FROM)]
    assert missing == []


def test_every_decision_is_listed_and_has_a_title() -> None:
    listed = re.findall(r"\[([^]]+)\]\(docs/decisions/([\w.-]+)\)", PAGE.read_text())
    assert sorted(name for _, name in listed) == [p.name for p in DECISIONS]
    for title, name in listed:
        text = (ROOT / "docs" / "decisions" / name).read_text()
        assert text.startswith(f"# {title}\n\n")
        assert len(text.split()) > 15
