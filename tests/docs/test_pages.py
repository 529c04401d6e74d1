"""Every page: its commands exist, its links lead somewhere, its profiles load."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path

import click
import pytest
from click.exceptions import Exit

from factcheck_local.indexer.reliability.profile import ReliabilityProfile

from .pages import PAGES, ROOT, blocks, commands, takes_its_options

SHOWN = [(page, shlex.join(line)) for page in PAGES for line in commands(page)]


def test_the_pages_have_commands() -> None:
    assert len(SHOWN) >= 45
    assert len([line for page, line in SHOWN if page == "README.md"]) >= 15


@pytest.mark.parametrize(("page", "line"), SHOWN)
def test_commands_take_their_options(
    page: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = shlex.split(line)
    for word in arguments:
        if Path(word).suffix:
            (tmp_path / word).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / word).touch()
    (tmp_path / "docs").mkdir(exist_ok=True)
    # In running text what a command is about may be left out; and some end by themselves.
    with suppress(click.MissingParameter, Exit):
        assert takes_its_options(arguments), page


def test_an_unknown_option_would_be_found() -> None:
    with pytest.raises(click.NoSuchOption):
        takes_its_options(["verify", "a.md", "--fail-at", "contradicted"])


@pytest.mark.parametrize("page", list(PAGES))
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGES[page]):
        assert ((ROOT / page).parent / target).exists(), target
    for path in re.findall(r"`((?:factcheck_local|tests|docs|benchmarks)/[^`*:]+)`", PAGES[page]):
        assert (ROOT / path.split()[0]).exists(), path


@pytest.mark.parametrize(
    ("page", "profile"), [(page, text) for page in PAGES for text in blocks(page, "toml")]
)
def test_profiles_load(page: str, profile: str, tmp_path: Path) -> None:
    (tmp_path / "reliability.toml").write_text(profile, encoding="utf-8")
    found = ReliabilityProfile.load(tmp_path / "reliability.toml")
    assert found != ReliabilityProfile.default(), page
