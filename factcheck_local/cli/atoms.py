"""factcheck atoms: what an answer claims, piece by piece."""

from __future__ import annotations

import click

from factcheck_local.cli.choosing import (
    SettingsCommand,
    choose_settings,
    refuse_idle,
    settings_options,
)
from factcheck_local.cli.common import (
    json_option,
    llm_option,
    question_option,
    read_input,
    write_json,
)
from factcheck_local.cli.messages import tell
from factcheck_local.cli.outcome import UNSCORED
from factcheck_local.cli.progress import stage_progress
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import parse_input
from factcheck_local.pipeline.settings import SETTINGS
from factcheck_local.report.view import one_line


@click.command("atoms", cls=SettingsCommand)
@click.argument("answer")
@question_option
@llm_option
@settings_options
@json_option
@click.pass_context
def command(
    context: click.Context,
    answer: str,
    question: str | None,
    assigned: tuple[str, ...],
    preset: str | None,
    llm: str | None,
    as_json: bool,
) -> None:
    """List the atomic claims of ANSWER, with their kind and place.

    Exits with 3 if a sentence could not be split; it then stands there whole.

    \b
    Example:
      factcheck atoms answer.md --json
    """
    chosen = choose_settings({"llm": llm}, assigned, preset, None)
    refuse_idle(chosen, SETTINGS.keys() - {"llm", "atomizer"}, "nothing but claims is made")
    checker = FactChecker(chosen.settings, progress=stage_progress())
    failed = False
    for record in parse_input(*read_input(answer), question=question):
        atoms, failures = checker.atoms(record.answer)
        failed = failed or bool(failures)
        for id_, why in failures.items():
            tell(f"factcheck: {id_}: {why}")
        if as_json:
            write_json(
                [
                    {
                        "id": a.id,
                        "text": a.text,
                        "original": a.original,
                        "kind": a.kind.value,
                        "span": {"start": a.span.start, "end": a.span.end} if a.span else None,
                    }
                    for a in atoms
                ]
            )
            continue
        for atom in atoms:
            click.echo(f"{atom.id}\t{atom.kind.value}\t{one_line(atom.text)}")
    context.exit(UNSCORED if failed else 0)
