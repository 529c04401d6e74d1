"""factcheck report: a stored assessment in a readable form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from factcheck_local.cli.common import (
    fail_on_option,
    format_option,
    make_view,
    only_option,
    output_option,
    refuse_overwriting,
    write_report,
    write_utf8,
)
from factcheck_local.cli.messages import complain
from factcheck_local.cli.outcome import BELOW, is_below
from factcheck_local.cli.stored import is_summary, read_json, read_run
from factcheck_local.core.errors import InputError
from factcheck_local.report.events import event_json_schema
from factcheck_local.report.render import SINGLE
from factcheck_local.report.schema import json_schema
from factcheck_local.report.stored import checked, complete


def _show_schema(context: click.Context, option: click.Parameter, asked: bool) -> None:
    """A JSON Schema instead of a report."""
    if asked and not context.resilient_parsing:
        text = json_schema() if option.name == "schema" else event_json_schema()
        write_utf8(text)
        context.exit()


@click.command("report")
@click.argument("assessment")
@format_option
@only_option
@output_option
@fail_on_option
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_schema,
    help="Print the JSON Schema of an assessment, and exit.",
)
@click.option(
    "--event-schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_schema,
    help="Print that of a line of verify --stream, and exit.",
)
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
      2 usage or bad input, or the summary names answers that could not be verified
    \b
    Example:
      factcheck report run.json --format markdown --output report.md
      factcheck report out/summary.json --format sarif --output out.sarif
    """
    view = make_view(form, output, only=only, fail_on=fail_on)
    value, name = read_json(assessment)
    many = is_summary(value)
    if many and form in SINGLE:
        raise click.UsageError(f"{form} is of one answer, and a summary of several")
    with complete(name):
        files = _listed(assessment, value) if many else []
        refuse_overwriting([output] if output else [], [assessment, *files])
        found = [read_run(file) for file in files] if many else [checked(value, name)]
        write_report(found, form, output, view, titled=many)
        below = any(is_below(a["summary"], None, fail_on) for a in found)
        code = BELOW if below else 0
        for lost in value["failed"] if many else ():
            code = complain(lost["error"], None, InputError.exit_code)
    sys.exit(code)


def _listed(name: str, summary: dict[str, Any]) -> list[str]:
    """The files of the assessments beside a summary, in its order."""
    return [str(Path(name).parent / Path(a["assessment"]).name) for a in summary["answers"]]
