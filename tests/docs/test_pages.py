"""Every page: its commands exist, its links lead somewhere, its profiles load."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path

import click
import pytest
from click.exceptions import Exit

from factcheck_local.cli.bench_data import OWN
from factcheck_local.indexer.reliability.profile import ReliabilityProfile

from .pages import PAGES, ROOT, blocks, commands, mentions, takes_its_options

SHOWN = [(page, shlex.join(line)) for page in PAGES for line in commands(page)]
MENTIONED = [(page, shlex.join(line)) for page in PAGES for line in mentions(page)]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    for path in OWN.values():
        (tmp_path / path).mkdir(parents=True)
    words = [word for _, line in SHOWN + MENTIONED for word in shlex.split(line)]
    for word in words:
        if re.fullmatch(r"\.?[\w*-][\w*/-]*\.\w+", word):
            (tmp_path / word).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / word).touch()
    (tmp_path / "docs").mkdir(exist_ok=True)
    return tmp_path


def test_the_pages_have_commands() -> None:
    assert len(SHOWN) >= 20
    assert len(MENTIONED) >= 20
    assert len(commands("README.md")) >= 4


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(("page", "line"), SHOWN)
def test_commands_take_their_options(page: str, line: str) -> None:
    assert takes_its_options(shlex.split(line)), page


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(("page", "line"), MENTIONED)
def test_commands_in_the_text_have_these_options(page: str, line: str) -> None:
    """There the file that a command is about may be left out; and some end by themselves."""
    missing = None
    with suppress(Exit):
        try:
            assert takes_its_options(shlex.split(line)), page
        except click.MissingParameter as error:
            missing = error.param
    assert missing is None or isinstance(missing, click.Argument), line


def test_data_that_are_missing_would_be_found() -> None:
    with pytest.raises(click.UsageError, match="factcheckbench: expected --data"):
        takes_its_options(["bench", "factcheckbench", "--oracle"])


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
    ("page", "profile"),
    [(page, text) for page in PAGES for text in blocks(page, "toml") if "[verify]" not in text],
)
def test_profiles_load(page: str, profile: str, tmp_path: Path) -> None:
    (tmp_path / "reliability.toml").write_text(profile, encoding="utf-8")
    found = ReliabilityProfile.load(tmp_path / "reliability.toml")
    assert found != ReliabilityProfile(), page
