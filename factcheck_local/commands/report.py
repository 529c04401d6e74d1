"""factcheck report: a stored assessment in a readable form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from factcheck_local.commands.common import (
    fail_on_option,
    format_option,
    input_name,
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
from factcheck_local.report.overview import SUMMARY_SCHEMA
from factcheck_local.report.render import SINGLE


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

    The summary.json of a folder stands for all assessments there.

    \b
    Exit codes:
      0 shown
      1 shown, and some claim has a verdict of --fail-on
      2 usage or bad input
    \b
    Example:
      factcheck report run.json --format markdown --output report.md
      factcheck report out/summary.json --format sarif --output out.sarif
    """  # noqa: D301
    view = make_view(form, output, only=only, fail_on=fail_on)
    name = input_name(assessment)
    value = _load(assessment)
    many = isinstance(value, dict) and value.get("schema") == SUMMARY_SCHEMA
    if many and form in SINGLE:
        raise click.UsageError(f"{form} is of one answer, and a summary of several")
    try:
        found = _listed(assessment, value) if many else [_checked(value, name)]
        if found:
            write_report(found, form, output, view, titled=many)
        below = any(is_below(a["summary"], None, fail_on) for a in found)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RecordError(f"{name}: not a complete assessment: {error!r}") from error
    sys.exit(BELOW if below else 0)


def _load(name: str) -> Any:  # noqa: ANN401
    data, called = read_input(name)
    return load_json(decode_answer(data, called), called)


def _listed(name: str, summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The assessments beside a summary, in its order."""
    files = [str(Path(name).parent / Path(a["assessment"]).name) for a in summary["answers"]]
    return [_checked(_load(file), file) for file in files]


def _checked(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise RecordError(f"{name}: not an assessment of schema {SCHEMA}")
    return value
