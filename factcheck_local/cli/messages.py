"""What is said on stderr, one line each without what steers a terminal, and what is logged."""

from __future__ import annotations

import logging
import os
import sys
from copy import copy
from pathlib import Path
from typing import Any

import click

from factcheck_local.core.errors import InputError
from factcheck_local.core.text.language import MODELS_READ, Language

LOGGER = "factcheck_local"

#: Whether only what goes wrong is said.
quiet = False

#: Clears the line of a terminal that the cursor is in.
_CLEAR = "\r\033[K"

#: Whether the cursor is behind what was drawn, and not on a line of its own.
_drawn = False


def set_up(*, only_errors: bool, verbose: bool, log_file: Path | None) -> None:
    """Choose what is said on stderr, and what goes into a log.

    The log has stages with their times and what was fetched or kept; nothing of documents, answers
    or what a model wrote.

    Args:
        only_errors: say nothing but what goes wrong.
        verbose: say what the log has on stderr, too.
        log_file: where lines are added; None for nowhere.

    Raises:
        InputError: if the file cannot be written.
    """
    global quiet, _drawn  # one process, one stderr
    quiet, _drawn = only_errors, False
    logger = logging.getLogger(LOGGER)
    for old in [h for h in logger.handlers if isinstance(h, _Stderr | _File)]:
        logger.removeHandler(old)
        old.close()
    added: list[logging.Handler] = [_Stderr()] if verbose else []
    if log_file is not None:
        try:
            added.append(_File(log_file, encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{log_file}: cannot be written: {error.strerror}") from error
        added[-1].setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for handler in added:
        logger.addHandler(handler)
    logger.setLevel(logging.INFO if added else logging.NOTSET)


class _File(logging.FileHandler):
    """The log that the command line asked for."""


class _Stderr(logging.Handler):
    """Log records as lines on stderr; warnings come through the root logger already."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say a record of less than a warning."""
        if record.levelno < logging.WARNING:
            _say(record.getMessage())


def tell(message: str) -> None:
    """One line on stderr; of a quiet command only if it is about something wrong."""
    if not quiet or message.startswith("factcheck: "):
        _say(message)


def complain(message: str, hint: str | None, code: int) -> int:
    """What went wrong, as one line on stderr; returns the exit code."""
    _say(f"factcheck: {message}" + (f" (try: {hint})" if hint else ""))
    return code


def name_language(what: str, language: Language) -> None:
    """Say on stderr that a text is in a language that the models do not read."""
    complain(f"{what}: is in another language ({language}): {MODELS_READ}", None, 0)


def draw(text: str) -> None:
    """Put a text on a terminal in the place of what was drawn last.

    Args:
        text: whole lines, which stay, or a line without its end: the next one, or what is said
            next, takes its place.
    """
    global _drawn
    _drawn = not text.endswith("\n")
    click.echo(f"{_CLEAR}{text}", nl=False, err=True)


def undraw() -> None:
    """Clear what was drawn last, before something else is written to the terminal."""
    global _drawn
    if _drawn:
        _drawn = False
        click.echo(_CLEAR, nl=False, err=True)


def _say(message: str) -> None:
    """The door for whatever is said on stderr."""
    # What a message quotes may hold line breaks, or codes that steer a terminal.
    shown = "".join(c if c.isprintable() else " " for c in " ".join(message.splitlines()))
    try:
        undraw()
        click.echo(shown, err=True)
    except BrokenPipeError:
        # Nobody reads messages any more; the report may still have its reader.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def formerly(command: click.Command, old: str, new: str) -> click.Command:
    """A command under the name that it had: hidden, it says the new one and does the same.

    Args:
        command: as it is now.
        old: its former name.
        new: its name now, as it is typed behind ``factcheck``.
    """
    hidden = copy(command)
    hidden.name, hidden.hidden = old, True
    run = command.callback

    def renamed(**given: Any) -> Any:  # noqa: ANN401
        tell(f"factcheck {new} is the name of this command now")
        return run(**given) if run else None

    hidden.callback = renamed
    return hidden
