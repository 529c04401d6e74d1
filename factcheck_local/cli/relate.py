"""factcheck relate: the relation of given pairs."""

from __future__ import annotations

import json

import click

from factcheck_local.cli.common import input_name, json_lines, write_utf8
from factcheck_local.cli.outcome import UNSCORED
from factcheck_local.cli.places import StoreType, open_store
from factcheck_local.cli.progress import stage_progress
from factcheck_local.core.errors import RecordError
from factcheck_local.indexer.address import StorePlace
from factcheck_local.models.registry import DEFAULT_LLM
from factcheck_local.pipeline.relation import Premise, load_relation_model, relate


@click.command("relate")
@click.argument("pairs")
@click.option(
    "--relation",
    metavar="NAME",
    default="llm",
    show_default=True,
    help="llm, encoder, a model's name, or FAST+SLOW.",
)
@click.option("--llm", metavar="NAME", default=DEFAULT_LLM, show_default=True)
@click.option(
    "--store",
    "store_path",
    type=StoreType(),
    help="A store whose calibration and cache of verdicts are used; by default none.",
)
@click.pass_context
def command(
    context: click.Context,
    pairs: str,
    relation: str,
    llm: str,
    store_path: StorePlace | None,
) -> None:
    """Score PAIRS, JSON lines of {"id"?, "premise", "hypothesis"}; - is stdin.

    Writes a line {"id", "entailment", "contradiction", "neutral"} for each, in
    order; a pair that could not be scored has "error" instead, and exit code 3.

    \b
    Example:
      factcheck relate pairs.jsonl > relations.jsonl
    """
    rows = _rows(pairs)
    folder = None
    if store_path is not None:
        with open_store(store_path) as store:
            folder = store.path
    model = load_relation_model(relation, default_llm=llm, store_dir=folder)
    # Pairs of one premise are scored together, so each premise is read once.
    premises = {text: f"p{i}" for i, text in enumerate(dict.fromkeys(r[1] for r in rows))}
    hypotheses = {text: f"h{i}" for i, text in enumerate(dict.fromkeys(r[2] for r in rows))}
    progress = stage_progress()
    related = relate(
        list(dict.fromkeys((premises[p], hypotheses[h]) for _, p, h in rows)),
        {key: Premise("", text) for text, key in premises.items()},
        {key: text for text, key in hypotheses.items()},
        model,
        lambda done, count: progress("relate", done, count),
    )
    found = {(pair.premise, pair.hypothesis): pair.relation for pair in related.pairs}
    for id_, premise, hypothesis in rows:
        key = premises[premise], hypotheses[hypothesis]
        line: dict[str, object] = {"id": id_}
        if key in found:
            r = found[key]
            line |= {
                "entailment": r.entailment,
                "contradiction": r.contradiction,
                "neutral": r.neutral,
            }
        else:
            line["error"] = related.failures[key]
        write_utf8(json.dumps(line, ensure_ascii=False) + "\n")
    context.exit(UNSCORED if related.failures else 0)


def _rows(pairs: str) -> list[tuple[object, str, str]]:
    """Id, premise and hypothesis of every line; the line's number where it has no id."""
    rows: list[tuple[object, str, str]] = []
    for number, row in json_lines(pairs):
        values = [row.get(key) for key in ("premise", "hypothesis")] if type(row) is dict else []
        if not values or not all(isinstance(v, str) and v.strip() for v in values):
            raise RecordError(
                f"{input_name(pairs)}, line {number}: "
                "expected an object with texts 'premise' and 'hypothesis'"
            )
        rows.append((row.get("id", number), *values))
    return rows
