"""What the scripts over ``network_cases`` show: measures with intervals, and what made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.network_grid import Choice
from factcheck_local.evaluate import summary
from factcheck_local.evaluate.collection import Collection
from factcheck_local.evaluate.verdicts import MEASURES
from factcheck_local.models.contracts import Identified
from factcheck_local.pipeline.relation import RelationModel
from factcheck_local.pipeline.settings import Settings

_TITLES = {
    "right_of_three": "right of three",
    "balanced_of_three": "balanced",
    "right_of_four": "right of four",
    "supported_wrongly": "supported wrongly",
    "true_contradicted": "true contradicted",
}


def signed(
    script: str,
    collection: Collection,
    settings: Settings,
    models: Mapping[str, Identified | RelationModel],
    *,
    seed: int,
    limit: int | None = None,
) -> summary.Signed:
    """What figures of a script of this folder were made with.

    Args:
        script: its module's name.
        collection: the data.
        settings: of the pipeline.
        models: by role.
        seed: of the intervals.
        limit: items that were read; None for all.
    """
    return summary.Signed(
        name=f"{script.replace('_', ' ')}, {collection.name}",
        command=f"python -m benchmarks.{script}",
        digest=collection.digest,
        settings=settings.line(),
        models={role: {"id": m.id, "sha256": m.sha256} for role, m in models.items()},
        limit=limit,
        seed=seed,
        notes=collection.notes,
    )


def measures_of(choice: Choice, seed: int | None) -> dict[str, Any]:
    """All measures of a choice, with intervals where there is a seed for them."""
    return {
        name: {
            "value": choice.value(name),
            "ci95": None if seed is None else choice.ci95(name, seed),
        }
        for name in MEASURES
    }


def title(result: Mapping[str, Any]) -> list[str]:
    """The first lines of a page."""
    counted = f"{result['items']} items, {result['claims']} claims"
    return [f"# {result['bench']}", "", counted, *(f"- {note}" for note in result["notes"])]


def head(names: Sequence[str]) -> str:
    """The first two lines of a table whose rows begin with cells of these names."""
    titles = [*names, *(_TITLES[m] for m in MEASURES)]
    return f"| {' | '.join(titles)} |\n|{'---|' * len(names)}{'---:|' * len(MEASURES)}"


def line(
    cells: Sequence[str], measures: Mapping[str, Mapping[str, Any]], *, as_difference: bool = False
) -> str:
    """A row: cells, then the measures."""
    shown = [summary.cell(measures[name], signed=as_difference) for name in MEASURES]
    return f"| {' | '.join([*cells, *shown])} |"


def signature(result: Mapping[str, Any]) -> str:
    """The last line of a page."""
    return f"signature: `{summary.signature(result)}`"
