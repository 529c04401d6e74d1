"""What is said on stderr: one line each, without what steers a terminal."""

from __future__ import annotations

import click

from factcheck_local.core.text.language import MODELS_READ, Language


def tell(message: str) -> None:
    """One line on stderr: the door for whatever is said there."""
    # What a message quotes may hold line breaks, or codes that steer a terminal.
    shown = "".join(c if c.isprintable() else " " for c in " ".join(message.splitlines()))
    click.echo(shown, err=True)


def complain(message: str, hint: str | None, code: int) -> int:
    """What went wrong, as one line on stderr; returns the exit code."""
    tell(f"factcheck: {message}" + (f" (try: {hint})" if hint else ""))
    return code


def name_language(what: str, language: Language) -> None:
    """Say on stderr that a text is in a language that the models do not read."""
    complain(f"{what}: is in another language ({language}): {MODELS_READ}", None, 0)
