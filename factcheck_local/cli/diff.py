"""factcheck diff: which verdicts changed between two runs, and by which evidence."""

from __future__ import annotations

import sys

import click

from factcheck_local.cli.common import STDIN, json_option, write_json, write_utf8
from factcheck_local.cli.stored import read_run
from factcheck_local.core.errors import InputError
from factcheck_local.report.diff import compare, diff_to_dict
from factcheck_local.report.diff_text import diff_to_markdown, diff_to_text
from factcheck_local.report.stored import complete

DIFFERS = 1


@click.command("diff")
@click.argument("old")
@click.argument("new")
@json_option
@click.option("--markdown", "as_markdown", is_flag=True, help="Write Markdown to stdout.")
def command(old: str, new: str, as_json: bool, as_markdown: bool) -> None:
    """Compare OLD with NEW, the JSON of two verifications of an answer.

    Each claim whose verdict changed stands with the passages that are new, gone, changed, of
    another prior, or read otherwise. Either may be - for stdin.

    \b
    Exit codes:
      0 the same claims with the same verdicts
      1 some verdict differs
      2 usage or bad input
    \b
    Example:
      factcheck diff monday.json friday.json
    """
    if as_json and as_markdown:
        raise click.UsageError("expected --json or --markdown, got both")
    if old == new == STDIN:
        raise InputError("standard input: expected one of the two runs, got both")
    runs = read_run(old), read_run(new)
    with complete(f"{old} or {new}"):
        found = compare(*runs)
    if as_json:
        write_json(diff_to_dict(found))
    elif as_markdown:
        write_utf8(diff_to_markdown(found))
    else:
        click.echo(diff_to_text(found), nl=False)
    sys.exit(0 if found.same else DIFFERS)
