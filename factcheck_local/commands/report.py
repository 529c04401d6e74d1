"""factcheck report: a stored assessment in a readable form."""

from __future__ import annotations

from pathlib import Path

import click

from factcheck_local.commands.common import (
    format_option,
    output_option,
    read_input,
    write_report,
)
from factcheck_local.errors import RecordError
from factcheck_local.records import decode_answer, load_json
from factcheck_local.report import SCHEMA


@click.command("report")
@click.argument("assessment")
@format_option
@output_option
def command(assessment: str, form: str, output: Path | None) -> None:
    """Show ASSESSMENT, the JSON of an earlier verify, without verifying again.

    \b
    Example:
      factcheck report run.json --format markdown --output report.md
    """  # noqa: D301
    data, name = read_input(assessment)
    value = load_json(decode_answer(data, name), name)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise RecordError(f"{name}: not an assessment of schema {SCHEMA}")
    try:
        write_report(value, form, output)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RecordError(f"{name}: not a complete assessment: {error!r}") from error
