"""factcheck atoms: what an answer claims, piece by piece."""

from __future__ import annotations

from contextlib import nullcontext

import click

from factcheck_local.cli.answers import Unusable, read_answers
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
    write_json,
)
from factcheck_local.cli.messages import tell
from factcheck_local.cli.outcome import UNSCORED
from factcheck_local.cli.places import open_stores, stores_option
from factcheck_local.cli.progress import stage_progress
from factcheck_local.core.types import Atom
from factcheck_local.indexer.joined import ReadPlace
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.settings import OF_SPLITTING, SETTINGS
from factcheck_local.report.view import one_line


@click.command("atoms", cls=SettingsCommand)
@click.argument("answer")
@stores_option
@question_option
@llm_option
@settings_options
@json_option
@click.pass_context
def command(
    context: click.Context,
    answer: str,
    store_path: ReadPlace | None,
    question: str | None,
    assigned: tuple[str, ...],
    preset: str | None,
    llm: str | None,
    as_json: bool,
) -> None:
    """List the atomic claims of ANSWER, with their kind and place.

    Whose rules an answer tells is part of its claims. verify knows it from the documents;
    with --store they are asked here, too, and the claims are those that verify judges.

    With --json one answer is a list of its claims, and several are a list of such lists.

    Exits with 3 if a sentence could not be split; it then stands there whole.

    \b
    Example:
      factcheck atoms answer.md --json
    """
    failed = False
    done = []
    with open_stores(store_path) if store_path is not None else nullcontext() as store:
        chosen = choose_settings({"llm": llm}, assigned, preset, store)
        used = OF_SPLITTING | {"llm", "organisation"}
        refuse_idle(chosen, SETTINGS.keys() - used, "nothing but claims is made")
        records = []
        for found in read_answers([answer], question):
            if isinstance(found, Unusable):
                raise found.error
            records.append(found)
        checker = FactChecker(chosen.settings, store, progress=stage_progress())
        for record in records:
            atoms, failures = checker.atoms(record.answer)
            failed = failed or bool(failures)
            for id_, why in failures.items():
                tell(f"factcheck: {id_}: {why}")
            done.append([_as_dict(atom) for atom in atoms])
            for atom in () if as_json else atoms:
                click.echo(f"{atom.id}\t{atom.kind.value}\t{one_line(atom.text)}")
    if as_json:
        write_json(done if len(records) > 1 else done[0])
    context.exit(UNSCORED if failed else 0)


def _as_dict(atom: Atom) -> dict[str, object]:
    return {
        "id": atom.id,
        "text": atom.text,
        "original": atom.original,
        "kind": atom.kind.value,
        "span": {"start": atom.span.start, "end": atom.span.end} if atom.span else None,
    }
