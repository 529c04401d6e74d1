"""The pages for readers, what they show, and whether the command line takes it."""

from __future__ import annotations

import re
import shlex
import textwrap
from pathlib import Path

import click

from factcheck_local.cli import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [
        *(
            ROOT / name
            for name in ("README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
        ),
        *sorted((ROOT / "docs").glob("**/*.md")),
    ]
}

#: Where a shell would go on with another command, or with a file.
_ENDS = ("&&", ">", ">>", "|")


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


def commands(page: str) -> list[list[str]]:
    """Arguments of every ``factcheck`` in a page's blocks."""
    lines = [line for text in blocks(page) for line in text.splitlines()]
    return [found for line in lines if (found := _arguments(line)) is not None]


def mentions(page: str) -> list[list[str]]:
    """Arguments of every ``factcheck`` in a page's text, with options or operands.

    ``factcheck verify`` alone is its name, and one with a name in capitals is a pattern.
    """
    told = re.findall(r"`(factcheck \w+ [^`]+)`", PAGES[page].replace("\n", " "))
    lines = [line for line in told if not re.search(r"\b[A-Z]{2,}\b", line)]
    return [found for line in lines if (found := _arguments(line)) is not None]


def _arguments(line: str) -> list[str] | None:
    """What stands after ``factcheck`` in a line of a shell; None if that is not run there."""
    if line.startswith("factcheck:") or "factcheck" not in line:
        return None
    words = shlex.split(line, comments=True)
    at = next((i for i, word in enumerate(words) if Path(word).name == "factcheck"), None)
    if at is None or "-m" in words[:at]:
        return None
    arguments = words[at + 1 :]
    end = next((i for i, word in enumerate(arguments) if word in _ENDS), None)
    return arguments[:end]


def takes_its_options(arguments: list[str]) -> bool:
    """Whether a command line is one; options and choices are checked, and nothing is run.

    Raises:
        click.UsageError: if it is not.
    """
    context = click.Context(cli)
    command: click.Command = cli
    # A group may be a command of its own, as serve is.
    while isinstance(command, click.Group) and not (
        command.invoke_without_command and (not arguments or arguments[0].startswith("-"))
    ):
        name, found, arguments = command.resolve_command(context, arguments)
        assert found is not None, name
        command = found
    return bool(command.make_context(command.name, list(arguments)))
