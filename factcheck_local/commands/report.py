"""factcheck report: a stored assessment in a readable form."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from factcheck_local.commands.common import (
    fail_on_option,
    format_option,
    make_view,
    only_option,
    output_option,
    read_input,
    write_report,
)
from factcheck_local.commands.outcome import BELOW, is_below
from factcheck_local.errors import RecordError
from factcheck_local.records import decode_answer, load_json
from factcheck_local.report import SCHEMA


@click.command("report")
@click.argument("assessment")
@format_option
@only_option
@output_option
@fail_on_option
def command(
    assessment: str,
    form: str,
    only: tuple[str, ...] | None,
    output: Path | None,
    fail_on: tuple[str, ...] | None,
) -> None:
    """Show ASSESSMENT, the JSON of an earlier verify, without verifying again.

    \b
    Exit codes:
      0 shown
      1 shown, and some claim has a verdict of --fail-on
      2 usage or bad input
    \b
    Example:
      factcheck report run.json --format markdown --output report.md
    """  # noqa: D301
    view = make_view(form, output, only=only, fail_on=fail_on)
    data, name = read_input(assessment)
    value = load_json(decode_answer(data, name), name)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise RecordError(f"{name}: not an assessment of schema {SCHEMA}")
    try:
        write_report(value, form, output, view)
        below = is_below(value["summary"], None, fail_on)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RecordError(f"{name}: not a complete assessment: {error!r}") from error
    sys.exit(BELOW if below else 0)
