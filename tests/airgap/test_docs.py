"""SECURITY.md and two pages of docs: what they show is run, or compared with the code."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from factcheck_local import egress
from factcheck_local.bundle import export
from factcheck_local.errors import EgressError
from tests.doc_commands import takes_its_options

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("SECURITY.md", "docs/air-gapped.md", "docs/gpu.md")
}


def blocks(page: str, language: str = "") -> list[str]:
    """The fenced blocks of a page in a language, without what they are indented by."""
    found: list[str] = []
    fenced: list[str] | None = None
    for line in PAGES[page].splitlines():
        fence = re.fullmatch(r" *```(\w*)", line)
        if fence and fenced is None:
            fenced, of = [], fence[1]
        elif fence and fenced is not None:
            if of == language:
                found.append(textwrap.dedent("\n".join(fenced)))
            fenced = None
        elif fenced is not None:
            fenced.append(line)
    return found


def commands() -> list[list[str]]:
    """Arguments of every factcheck on the pages."""
    lines = [line for page in PAGES for text in blocks(page) for line in text.splitlines()]
    words = [
        shlex.split(line, comments=True) for line in lines if not line.startswith("factcheck:")
    ]
    names = ("factcheck", "factcheck/bin/factcheck")
    return [
        line[next(i for i, word in enumerate(line) if word in names) + 1 :]
        for line in words
        if any(word in names for word in line) and "-m" not in line
    ]


def test_the_pages_have_commands() -> None:
    assert len(commands()) >= 15


@pytest.mark.parametrize("arguments", commands(), ids=shlex.join)
def test_commands_take_their_options(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name in ("bundle.tar", "model.gguf", "answer.md"):
        (tmp_path / name).touch()
    assert takes_its_options(arguments)


def test_the_example_of_a_refusal_is_what_is_said() -> None:
    egress.guard()
    with pytest.raises(EgressError) as found:
        socket.getaddrinfo("telemetry.example", 443)
    line = f"factcheck: {found.value} (try: {found.value.hint})"
    assert line in [text.strip() for text in blocks("SECURITY.md")]


def test_the_python_examples_run() -> None:
    (code,) = blocks("SECURITY.md", "python")
    check = "\nassert egress.is_on() and egress._rule.may_reach('chroma.example', 8000)"
    subprocess.run([sys.executable, "-c", code + check], check=True, cwd=ROOT)


def test_the_steps_are_those_of_the_bundles_own_text() -> None:
    names = {"bundle": "bundle.tar", "wheels": "wheels", "requirements": "requirements.txt"}
    steps = export.INSTALL.format(**names, python="", platform="")
    shown = [line.strip() for text in blocks("docs/air-gapped.md") for line in text.splitlines()]
    told = [line.strip() for line in steps.splitlines() if line.startswith("  ")]
    assert len(told) == 3
    assert set(told) <= set(shown)


def test_links_lead_somewhere() -> None:
    for page, text in PAGES.items():
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"
    for path in re.findall(r"`((?:factcheck_local|tests|docs)/[^`]+)`", " ".join(PAGES.values())):
        assert (ROOT / path).exists(), path
