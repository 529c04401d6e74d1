"""factcheck bench: assessors side by side on labelled data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from factcheck_local.cli.bench_data import NAMES, called, collection_of, command_line, own_data
from factcheck_local.cli.common import (
    correlation_option,
    k_option,
    llm_option,
    relation_option,
    settings_values,
    strong_option,
    write_json,
)
from factcheck_local.cli.messages import tell
from factcheck_local.cli.progress import stage_progress
from factcheck_local.evaluate import atoms, factor, plots, summary
from factcheck_local.evaluate.contract import Collection
from factcheck_local.evaluate.data import sets
from factcheck_local.evaluate.runner import Models, relation_of, run
from factcheck_local.evaluate.scores import ONE_ITEM, always_supported, difference, score
from factcheck_local.models.cached import CachedChatModel
from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import Identified, identity
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation import load_relation_model
from factcheck_local.pipeline.settings import ASSESSORS, Settings

#: The graphical models and the methods that FactReasoner's paper compares them with.
USUAL = ("fr1", "fr2", "fr3", "factscore", "factverify", "veriscore")

#: What is compared with each other method, where it is among them.
COMPARED = ("f1", "mae", "balanced_accuracy", "auroc")

REPLIES = "replies.sqlite"


@click.command("bench")
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
    type=click.Choice(ASSESSORS),
    metavar="NAME",
    help=f"Repeatable; {', '.join(USUAL)}.",
)
@click.option("--oracle", is_flag=True, help="Each claim with its own evidence; no open retrieval.")
@click.option(
    "--claims",
    type=click.Choice(["given", "pipeline"]),
    default="given",
    show_default=True,
    help="For felm and wice: segments or claims as they are, or the pipeline's own atoms.",
)
@click.option(
    "--fold",
    type=click.Choice(list(sets.FOLDS)),
    help="For sets: those held out from training, by default, the others, or all.",
)
@relation_option
@llm_option
@k_option
@correlation_option
@strong_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="So many items, drawn by the seed; of factscore the first.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of draw and intervals.")
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
@click.option("--json", "as_json", is_flag=True, help="Write the summary as JSON to stdout.")
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
    as_json: bool,
    **chosen: str | float | None,
) -> None:
    """Compare assessors on labelled data: NAME says which.

    The same atoms and contexts for all of them. items.jsonl has each verdict, summary.json and
    summary.md the measures with intervals and what they were made with, and there are
    pictures (pip install 'factcheck-local[bench]').

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
    if fold is not None and name != "sets":
        raise click.UsageError(f"--fold is for sets, not for {name}")
    kind = called(name, oracle=oracle, fold=fold)
    out = out or Path("bench") / kind
    settings = Settings(**settings_values(**chosen))
    card = find_card(settings.llm, "llm")
    llm = CachedChatModel(
        lambda: load_model(settings.llm, "llm"),
        card.id,
        card.sha256,
        cache / REPLIES,
        card.adapters,
    )
    line = command_line(
        name, data, assessors, oracle, claims, seed, {**chosen, "fold": fold, "limit": limit}
    )
    signed = summary.Signed(
        name=kind,
        command=line,
        digest="",
        settings=settings.line(),
        models={},
        limit=limit,
        seed=seed,
    )
    if name == "factor":
        result = _factor(data, settings, llm, out, signed)
    elif name == "factscore":
        result = _factscore(data, settings, llm, out, signed)
    else:
        pipeline = claims == "pipeline"
        collection = collection_of(name, data, oracle=oracle, pipeline=pipeline, fold=fold)
        result = _assessors(collection, assessors or USUAL, settings, llm, out, signed)
    if as_json:
        write_json(result)
    else:
        click.echo(summary.to_markdown(result))
    tell(f"written to {out}")


def _assessors(
    collection: Collection,
    assessors: Sequence[str],
    settings: Settings,
    llm: CachedChatModel,
    out: Path,
    signed: summary.Signed,
) -> dict[str, Any]:
    collection = collection.sample(signed.limit, signed.seed)
    models = Models(llm, load_model(settings.embedder, "embedder"), relation_of(settings, llm))
    rows = run(collection, assessors, settings, models, out, _progress())
    methods = {a: [r for r in rows if r["assessor"] == a] for a in assessors}
    everything = {**methods, "always supported": always_supported(methods[assessors[0]])}
    measured = partial(score, verdicts=collection.verdicts, seed=signed.seed)
    scores = {name: measured(own) for name, own in everything.items()}
    groups = sorted({r["group"] for r in rows if r["group"]})
    notes = (*collection.notes, *([ONE_ITEM] if len(collection.items) == 1 else []))
    return summary.write(
        out,
        replace(signed, digest=collection.digest, models=models.named(), notes=notes),
        scores,
        differences=_differences(
            methods, (*COMPARED, *(["right_of_three"] if collection.verdicts else [])), signed.seed
        ),
        groups={
            group: {
                name: measured([r for r in own if r["group"] == group])
                for name, own in methods.items()
            }
            for group in groups
        },
        pictures=_pictures(lambda: plots.draw(methods, scores, out)),
    )


def _differences(
    methods: Mapping[str, Sequence[Mapping[str, Any]]], measures: Sequence[str], seed: int
) -> list[dict[str, Any]]:
    """Each graphical model against each of the other methods."""
    ours = [name for name in methods if name.startswith("fr")]
    return [
        {
            "ours": mine,
            "theirs": other,
            "measure": measure,
            **difference(methods[mine], methods[other], measure, seed=seed),
        }
        for mine in ours
        for other in methods
        if other not in ours
        for measure in measures
    ]


def _factor(
    data: Path, settings: Settings, llm: CachedChatModel, out: Path, signed: summary.Signed
) -> dict[str, Any]:
    items, digest = factor.load(data)
    named = {settings.relation: relation_of(settings, llm)}
    if settings.relation != "encoder":
        named["encoder"] = load_relation_model("encoder", default_llm=settings.llm)
    rows = factor.run(items, named, out, limit=signed.limit, seed=signed.seed, progress=_progress())
    own = {name: [r for r in rows if r["model"] == name] for name in named}
    return summary.write(
        out,
        replace(
            signed,
            digest=digest,
            models={name: identity(m) for name, m in named.items()},
        ),
        {name: factor.score(found, seed=signed.seed) for name, found in own.items()},
        pictures=_pictures(
            lambda: [
                drawn
                for label in ("entailment", "contradiction")
                if (
                    drawn := plots.draw_roc(
                        {name: factor.points(found, label) for name, found in own.items()},
                        f"Expert FACTOR: {label}",
                        out / f"roc-{label}.png",
                    )
                )
            ]
        ),
    )


def _factscore(
    data: Path, settings: Settings, llm: CachedChatModel, out: Path, signed: summary.Signed
) -> dict[str, Any]:
    items, digest = atoms.load(data)
    items = items[: signed.limit]  # the first ones: their order is the data's own
    embedder = load_model(settings.embedder, "embedder")
    checker = FactChecker(settings, llm=llm, embedder=embedder)
    rows = atoms.run(items, checker, embedder, out, _progress())
    models: dict[str, Identified] = {"llm": llm, "embedder": embedder}
    return summary.write(
        out,
        replace(
            signed,
            digest=digest,
            models={role: identity(m) for role, m in models.items()},
        ),
        {
            "pipeline": atoms.score(rows, seed=signed.seed),
            "FActScore's own": atoms.score(atoms.drafted(items, embedder), seed=signed.seed),
        },
    )


def _pictures(make: Callable[[], list[str]]) -> list[str]:
    try:
        return make()
    except ImportError as error:
        tell(f"no pictures: {error}; pip install 'factcheck-local[bench]'")
        return []


def _progress() -> Callable[[str, int, int], None]:
    show = stage_progress()
    return lambda _what, done, count: show("bench", done, count)
