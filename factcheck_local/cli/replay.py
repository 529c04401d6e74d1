"""factcheck replay: a past run once more, under the same conditions."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click

from factcheck_local.cli.common import Number, input_name, json_option, write_json
from factcheck_local.cli.diff import DIFFERS
from factcheck_local.cli.places import open_stores, stores_option
from factcheck_local.cli.progress import stage_progress
from factcheck_local.cli.stored import check_complete, read_run
from factcheck_local.core.errors import RecordError
from factcheck_local.indexer.joined import ReadPlace
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.report import to_dict
from factcheck_local.report.replay import FieldChange, changes, environment_changes
from factcheck_local.report.stored import input_of, settings_of
from factcheck_local.report.view import indented

#: Fields that are shown one by one; --json has all of them.
SHOWN = 20


@click.command("replay")
@click.argument("run")
@stores_option
@click.option(
    "--tolerance",
    type=Number(0, 1),
    default=0.0,
    metavar="DIFFERENCE",
    help="Numbers that are no farther apart are the same; 0.",
)
@json_option
def command(run: str, store_path: ReadPlace | None, tolerance: float, as_json: bool) -> None:
    """Repeat RUN, the JSON of an earlier verify, and say whether anything differs.

    Version, settings, prompts, models, thresholds and index have to be those that the run
    records. Every pair is read again; nothing is taken from the cache. Times are not compared.

    \b
    Exit codes:
      0 nothing differs
      1 something differs
      2 usage or bad input, or it cannot be repeated: what is not the same is named
    \b
    Example:
      factcheck replay run.json
    """
    old, called = read_run(run), input_name(run)
    check_complete(old, called)
    record, settings = input_of(old, called), settings_of(old, called)
    needed = record.contexts is None
    store = open_stores(store_path) if needed or store_path else None
    try:
        checker = FactChecker(settings, store, cache=False, progress=stage_progress())
        if unlike := checker.unlike(record, old["run"]):
            raise RecordError(f"{called}: cannot be repeated: {'; '.join(unlike)}")
        new = to_dict(checker.verify(record))
    finally:
        if store is not None:
            store.close()
    found = changes(old, new, tolerance=tolerance)
    made_with = environment_changes(old, new)
    if as_json:
        write_json(_as_dict(found, made_with))
    else:
        for line in _lines(called, old, found, made_with):
            click.echo(indented(line))
    sys.exit(DIFFERS if found else 0)


def _as_dict(found: Sequence[FieldChange], made_with: Sequence[FieldChange]) -> dict[str, Any]:
    return {
        "schema": "factcheck.replay/1",
        "same": not found,
        "changes": [{"kind": change.kind, **asdict(change)} for change in found],
        "environment": [asdict(change) for change in made_with],
    }


def _lines(
    name: str,
    old: dict[str, Any],
    found: Sequence[FieldChange],
    made_with: Sequence[FieldChange],
) -> Iterator[str]:
    """What differs, the verdicts first, and with which libraries."""
    if not found:
        counts = ", ".join(
            f"{len(old[part])} {part}" for part in ("atoms", "contexts", "relations")
        )
        yield f"{name}: repeated, nothing differs ({counts})"
        return
    kinds = Counter(change.kind for change in found)
    said = [
        f"{kinds['verdict']} verdicts",
        f"{kinds['probability']} probabilities",
        f"{kinds['field']} other fields",
    ]
    yield f"{name}: repeated, and {', '.join(said[:2])} and {said[2]} differ"
    order = ("verdict", "probability", "field")
    ordered = sorted(found, key=lambda change: order.index(change.kind))
    yield from (f"  {_line(change)}" for change in ordered[:SHOWN])
    if len(ordered) > SHOWN:
        yield f"  and {len(ordered) - SHOWN} more; --json lists all of them"
    yield from (f"  made with another {_line(change)}" for change in made_with)


def _line(change: FieldChange) -> str:
    return f"{change.path}: {_shown(change.old)} -> {_shown(change.new)}"


def _shown(value: Any) -> str:  # noqa: ANN401
    return "none" if value is None else str(value)
