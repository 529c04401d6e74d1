"""What the benchmarks of ``factcheck bench`` run, and what of it is summed up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from factcheck_local.cli.messages import tell
from factcheck_local.cli.progress import stage_progress
from factcheck_local.cli.workers import cluster_address
from factcheck_local.core.errors import FactcheckError
from factcheck_local.evaluate import atoms, factor, plots, summary
from factcheck_local.evaluate.collection import Collection
from factcheck_local.evaluate.runner import Elsewhere, Models, Trial, run
from factcheck_local.evaluate.scores import ONE_ITEM, always_supported, difference, score
from factcheck_local.evaluate.worker import BenchPlan, BenchWorker
from factcheck_local.models.contracts import Identified, identity
from factcheck_local.models.registry import beside, load_model
from factcheck_local.models.reply_cache import CachedChatModel
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation import relation_model_of
from factcheck_local.pipeline.settings import Settings
from factcheck_local.scale.cluster import connected
from factcheck_local.scale.pool import Pool

#: What is compared with each other method, where it is among them.
COMPARED = ("f1", "mae", "balanced_accuracy", "auroc")


def assessors_run(
    collection: Collection,
    settings: Mapping[str, Settings],
    llm: CachedChatModel,
    out: Path,
    signed: summary.Signed,
    elsewhere: Elsewhere | None = None,
) -> dict[str, Any]:
    """Assessors side by side, each with its settings.

    Args:
        collection: the items.
        settings: of each assessor.
        llm: splits, rewords, judges.
        out: the folder for results.
        signed: what the figures are made with, so far as that is known.
        elsewhere: what makes the lines that are not there, see ``by_workers``; None for here.

    Returns:
        The summary, which is in ``out``, too.
    """
    collection = collection.sample(signed.limit, signed.seed)
    first = next(iter(settings.values()))
    models = Models.of(settings, llm)
    rows = run(collection, settings, models, out, _progress(), elsewhere)
    methods = {a: [r for r in rows if r["assessor"] == a] for a in settings}
    everything = {**methods, "always supported": always_supported(methods[first.assessor])}
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
        keys=[r["key"] for r in rows if "key" in r],
    )


def by_workers(workers: str, settings: Mapping[str, Settings], replies: Path) -> Elsewhere:
    """What has lines made by workers, see ``scale.pool``: here, or those of a cluster's address."""

    def made(
        store: Path | None, trials: Mapping[int, Trial]
    ) -> Iterator[tuple[int, dict[str, Any] | FactcheckError]]:
        if not trials:
            return
        plan = BenchPlan(settings, replies.absolute(), store.absolute() if store else None)
        with connected(cluster_address(workers)) as ray:
            pool = Pool(ray, plan, BenchWorker)
            yield from pool.verify(trials.items())
        tell(f"{pool.lost} workers were lost")

    return made


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


def factor_run(
    data: Path, settings: Settings, llm: CachedChatModel, out: Path, signed: summary.Signed
) -> dict[str, Any]:
    """The relation model alone, beside the encoder; see ``assessors_run``."""
    items, digest = factor.load(data)
    named = {settings.relation: relation_model_of(settings, load=beside(llm))}
    if settings.relation != "encoder":
        named["encoder"] = relation_model_of(replace(settings, relation="encoder", budget=None))
    rows = factor.run(
        items,
        named,
        out,
        settings=settings,
        limit=signed.limit,
        seed=signed.seed,
        progress=_progress(),
    )
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


def factscore_run(
    data: Path, settings: Settings, llm: CachedChatModel, out: Path, signed: summary.Signed
) -> dict[str, Any]:
    """The pipeline's atoms beside human ones; see ``assessors_run``."""
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
