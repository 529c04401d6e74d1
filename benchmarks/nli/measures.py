"""How well a model's scores separate the labels of a dev set.

Balanced accuracy is that of the most probable label among those that the set
has: two-way where it has two. AUROC is of p(label), three-way as a run uses it,
against the rest. ECE is of the top label: its probability among the set's
labels against how often it is right, in ten bins. Intervals are 95 % percentile
bootstrap over clusters, pairs that share a premise or a claim being drawn together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.nli.pairs import LABELS
from factcheck_local.metrics import auroc, balanced_accuracy, bootstrap_ci, confusion_matrix, ece
from factcheck_local.pipeline.relation import Calibration
from factcheck_local.pipeline.relation.guard import LIKELIHOODS

BINS = 10
RESAMPLES = 1000

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scored:
    """The pairs of a set that a model could take.

    Attributes:
        labels: those that the set has.
        gold: columns of the true labels in ``log_p``, shape (n,).
        log_p: uncalibrated natural-log probabilities, columns as ``LABELS``, shape (n, 3).
        clusters: row numbers of pairs that are not independent.
        rows: where each pair stands in the set.
        clashes: whether quantities of the pair exclude each other, shape (n,), where
            that is to weigh in (``relation.guard``); None where it is not.
    """

    labels: tuple[str, ...]
    gold: Ints
    log_p: Floats
    clusters: Sequence[Sequence[int]]
    rows: Sequence[int] = ()
    clashes: npt.NDArray[np.bool_] | None = None


class Judged:
    """Scored pairs under a calibration, with the statistics of any rows of them.

    Attributes:
        p: three-way probabilities, shape (n, 3).
        top: column of the most probable of the set's labels, shape (n,).
        confidence: its probability among them, shape (n,).
    """

    def __init__(self, scored: Scored, calibration: Calibration) -> None:
        self.gold = scored.gold
        p = calibration.apply(scored.log_p)
        if scored.clashes is not None:
            p = np.where(scored.clashes[:, None], p * np.array(LIKELIHOODS), p)
        self.p = p / p.sum(axis=1, keepdims=True)
        columns = np.array([LABELS.index(label) for label in scored.labels])
        own = self.p[:, columns]
        self.top = columns[own.argmax(axis=1)]
        self.confidence = own.max(axis=1) / own.sum(axis=1)

    def accuracy(self, rows: Ints) -> float | None:
        """Balanced accuracy."""
        return balanced_accuracy(self.gold[rows].tolist(), self.top[rows].tolist())

    def auroc(self, label: str, rows: Ints) -> float | None:
        """Of p(label) against the rest; None for a label that does not occur."""
        column = LABELS.index(label)
        return auroc(self.p[rows, column].tolist(), (self.gold[rows] == column).tolist())

    def ece(self, rows: Ints) -> float | None:
        """Of the top label."""
        return ece(self.confidence[rows].tolist(), (self.top == self.gold)[rows].tolist(), BINS)


def measure(scored: Scored, calibration: Calibration, *, seed: int) -> dict[str, Any]:
    """All measures, with the calibration and without; intervals for the former."""
    everything = np.arange(len(scored.gold))
    judged, raw = Judged(scored, calibration), Judged(scored, Calibration())

    def both(statistic: Callable[[Judged, Ints], float | None]) -> dict[str, Any]:
        return {
            "value": statistic(judged, everything),
            "ci95": bootstrap_ci(
                scored.clusters,
                lambda drawn: statistic(judged, np.concatenate([np.array(c) for c in drawn])),
                resamples=RESAMPLES,
                seed=seed,
            ),
            "uncalibrated": statistic(raw, everything),
        }

    columns = [LABELS.index(label) for label in scored.labels]
    matrix = confusion_matrix(judged.gold.tolist(), judged.top.tolist(), columns)
    return {
        "balanced_accuracy": both(Judged.accuracy),
        "auroc_entailment": both(lambda j, rows: j.auroc("entailment", rows)),
        "auroc_contradiction": both(lambda j, rows: j.auroc("contradiction", rows)),
        "ece": both(Judged.ece),
        "confusion": {"labels": scored.labels, "rows_gold": matrix.tolist()},
    }
