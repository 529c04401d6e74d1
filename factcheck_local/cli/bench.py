"""factcheck bench: assessors side by side on labelled data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from factcheck_local.cli.bench_data import (
    NAMES,
    ORACLES,
    SPLIT,
    called,
    check_options,
    collection_of,
    command_line,
    own_data,
)
from factcheck_local.cli.bench_runs import assessors_run, by_workers, factor_run, factscore_run
from factcheck_local.cli.choosing import SettingsCommand, settings_options_alone
from factcheck_local.cli.common import (
    k_option,
    llm_option,
    relation_option,
    settings_values,
    write_json,
)
from factcheck_local.cli.messages import tell
from factcheck_local.cli.workers import workers_option
from factcheck_local.evaluate import summary
from factcheck_local.evaluate.data import sets
from factcheck_local.evaluate.effects import (
    SPLITTING,
    check_effects,
    compared_line,
    of_collection,
    of_relation,
)
from factcheck_local.evaluate.runner import kept_llm
from factcheck_local.pipeline.chosen import Chosen, choose, choose_each
from factcheck_local.pipeline.settings import ASSESSORS, SETTINGS, Settings

#: The graphical models and the methods that FactReasoner's paper compares them with.
USUAL = ("fr1", "fr2", "fr3", "factscore", "factverify", "veriscore")

REPLIES = "replies.sqlite"


class _AssessorType(click.Choice):  # type: ignore[type-arg]  # not generic in older click
    """An assessor's name; one that it had says the present one."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See ``click.ParamType.convert``."""
        if new := SETTINGS["assessor"].renamed.get(value):
            self.fail(f"{value} is called {new} now", param, ctx)
        return str(super().convert(value, param, ctx))


@click.command("bench", cls=SettingsCommand)
@click.argument("name", type=click.Choice(NAMES))
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True),
    callback=lambda context, _option, given: given or own_data(context.params["name"]),
    help="The data: its file or folder; for handbook and sets those of a checkout.",
)
@click.option(
    "--assessor",
    "assessors",
    multiple=True,
    type=_AssessorType(ASSESSORS),
    metavar="NAME",
    help=f"Repeatable; by default {', '.join(USUAL)}.",
)
@click.option(
    "--oracle",
    is_flag=True,
    help=f"For {', '.join(ORACLES)}: each claim with its own evidence; no open retrieval.",
)
@click.option(
    "--claims",
    type=click.Choice(["given", "pipeline"]),
    default="given",
    show_default=True,
    help=f"For {', '.join(SPLIT)}: segments or claims as they are, or the pipeline's own claims.",
)
@click.option(
    "--fold",
    type=click.Choice(list(sets.FOLDS)),
    help="For sets: those held out from training, by default, the others, or all.",
)
@relation_option
@llm_option
@k_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="So many items, drawn by the seed; of factscore the first.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of draw and intervals.",
)
@click.option(
    "--output",
    "out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for results, bench/NAME by default; run again, it goes on with what is there.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("bench"),
    show_default=True,
    help="Folder that keeps what the LLM said, for all benchmarks.",
)
@workers_option
@click.option("--json", "as_json", is_flag=True, help="Write the summary as JSON to stdout.")
@settings_options_alone
def command(
    name: str,
    data: Path,
    assessors: tuple[str, ...],
    oracle: bool,
    claims: str,
    fold: str | None,
    limit: int | None,
    seed: int,
    out: Path | None,
    cache: Path,
    workers: str | None,
    as_json: bool,
    assigned: tuple[str, ...],
    preset: str | None,
    **options: str | int | None,
) -> None:
    """Compare assessors on labelled data: NAME says which.

    The same claims and passages for all of them. items.jsonl has each verdict, summary.json and
    summary.md the measures with intervals and what they were made with, and there are
    pictures (pip install 'factcheck-local[bench]').

    No factcheck.toml is read: figures hang on the command line alone, which stands beside them
    with all settings. A setting without an effect on the benchmark is refused.

    With --workers ray, or ray://HOST:PORT of a cluster, its items are shared out to a worker per
    GPU or machine.

    \b
    factcheckbench  Factcheck-Bench: claims of LLM answers, with evidence
    wice            WiCE: claims against web articles; --oracle: against their own
    felm            FELM: segments of answers in five domains
    handbook        a corpus with labelled answers; corpora/handbook of a checkout
    sets            sets of passages near to each other; training/data/authored/sets of a checkout
    record          records in FactReasoner's format with labels
    factor          Expert FACTOR: the relation model alone
    factscore       FActScore's biographies: atoms against human ones
    \b
    Example:
      factcheck bench factcheckbench --data data/factcheckbench --oracle --limit 10
    """
    check_options(name, assessors=bool(assessors), oracle=oracle, claims=claims, fold=fold)
    kind = called(name, oracle=oracle, fold=fold)
    out = out or Path("bench") / kind
    given = settings_values(**options)
    collection = None
    if name in ("factor", "factscore"):
        if workers:
            raise click.UsageError(f"--workers is for assessors; {name} has none")
        chosen = {"": choose(given, assigned, preset)}
        own = chosen[""].settings
        effective = of_relation(own) if name == "factor" else SPLITTING
    else:
        pipeline = claims == "pipeline"
        collection = collection_of(name, data, oracle=oracle, pipeline=pipeline, fold=fold)
        chosen = choose_each(assessors, USUAL, given, assigned, preset)
        effective = of_collection(collection, _settings(chosen))
    check_effects(kind, chosen.values(), effective)
    settings = _settings(chosen)
    first = next(iter(settings.values()))
    llm = kept_llm(first.llm, cache / REPLIES)
    line = command_line(
        name,
        data,
        assessors,
        oracle,
        claims,
        seed,
        {**options, "preset": preset, "set": assigned, "fold": fold, "limit": limit},
    )
    signed = summary.Signed(
        name=kind,
        command=line,
        digest="",
        settings=compared_line(settings) if collection else first.line(),
        models={},
        limit=limit,
        seed=seed,
    )
    if collection is not None:
        elsewhere = by_workers(workers, settings, cache / REPLIES) if workers else None
        result = assessors_run(collection, settings, llm, out, signed, elsewhere)
    elif name == "factor":
        result = factor_run(data, first, llm, out, signed)
    else:
        result = factscore_run(data, first, llm, out, signed)
    if as_json:
        write_json(result)
    else:
        click.echo(summary.to_markdown(result))
    tell(f"written to {out}")


def _settings(chosen: Mapping[str, Chosen]) -> dict[str, Settings]:
    return {name: one.settings for name, one in chosen.items()}
