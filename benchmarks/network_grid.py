"""Settings of the network as a grid, and what comes of each: counts of verdicts, an item each."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from benchmarks.network_cases import NetworkCase
from factcheck_local.evaluate.verdicts import MEASURES, Matrix
from factcheck_local.markov import Parameterisation
from factcheck_local.metrics import bootstrap_ci
from factcheck_local.pipeline.settings import GRAPH_ASSESSORS, Settings

#: Settings that are varied, with what is tried of each.
GRID: dict[str, tuple[Any, ...]] = {
    "assessor": GRAPH_ASSESSORS,
    "retrieval": ("dense", "fused"),
    "k": (1, 2, 3, 4, 5, 6),
    "relation_correlation": (0.0, 0.25, 0.5, 0.75, 1.0),
    "factors": get_args(Parameterisation),
    "strong": (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
}

#: Counts of one setting, a matrix an item.
Counts = Sequence[Matrix]


@dataclass(frozen=True, eq=False)
class Choice:
    """Settings of the network, and what came of them."""

    settings: Settings
    counts: tuple[Matrix, ...]

    def varied(self) -> dict[str, Any]:
        """The settings that the grid varies."""
        return {name: getattr(self.settings, name) for name in GRID}

    def value(self, measure: str) -> float | None:
        """A measure over all items."""
        return MEASURES[measure](sum_of(self.counts))

    def ci95(self, measure: str, seed: int) -> tuple[float, float] | None:
        """Its interval, whole items drawn."""
        return bootstrap_ci(self.counts, lambda drawn: MEASURES[measure](sum_of(drawn)), seed=seed)


def sum_of(counts: Counts) -> Matrix:
    """One matrix over all items."""
    found: Matrix = np.sum(counts, axis=0)
    return found


def settings_of(base: Settings, grid: Mapping[str, Sequence[Any]]) -> list[Settings]:
    """Every combination; those that share a network stand together."""
    return [
        replace(base, **dict(zip(grid, values, strict=True)))
        for values in itertools.product(*grid.values())
    ]


def judged(found: Sequence[NetworkCase], tried: Sequence[Settings]) -> list[Choice]:
    """What comes of each of the settings, an item at a time."""
    by_case = []
    for case in found:
        by_case.append([case.counts(settings) for settings in tried])
        case.forget()
    return [Choice(s, tuple(own)) for s, *own in zip(tried, *by_case, strict=True)]


def sorted_by_three(choices: Sequence[Choice]) -> list[Choice]:
    """The best first; among equals the better one by balance, then by the four verdicts."""
    names = ("right_of_three", "balanced_of_three", "right_of_four")
    return sorted(choices, key=lambda c: [-(c.value(name) or 0.0) for name in names])


def difference(ours: Choice, theirs: Choice, measure: str, seed: int) -> dict[str, Any]:
    """A measure of one less that of the other, items drawn in pairs."""

    def gap(drawn: Sequence[tuple[Matrix, Matrix]]) -> float | None:
        first, second = (MEASURES[measure](sum_of([p[side] for p in drawn])) for side in (0, 1))
        return None if first is None or second is None else first - second

    pairs = list(zip(ours.counts, theirs.counts, strict=True))
    return {"value": gap(pairs), "ci95": bootstrap_ci(pairs, gap, seed=seed)}


def alone(base: Settings, grid: Mapping[str, Sequence[Any]]) -> list[Settings]:
    """The settings that differ from the base in one respect."""
    return [
        replace(base, **{name: value})
        for name, values in grid.items()
        for value in values
        if value != getattr(base, name)
    ]
