"""One calibration for sets of scored pairs that differ in size and labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from factcheck_local.pipeline.relation.calibration import Calibration, checked
from factcheck_local.pipeline.relation.scorer import LogProbabilities


def fit_sets(
    sets: Sequence[tuple[LogProbabilities, Sequence[int]]],
) -> Calibration:
    """The calibration with the least log loss over sets that differ in size and labels.

    Every set weighs the same, and in it every label; a set that lacks a label is fitted on
    those it has, renormalised.

    Args:
        sets: of each set finite natural-log probabilities, shape (n, 3), and the index of
            each pair's label in ``LABELS``, shape (n,).

    Raises:
        ValueError: if the shapes of a set do not match, or a value is out of range.
    """
    from scipy.optimize import minimize

    pairs = [(log_p, checked(log_p, labels)) for log_p, labels in sets]

    def made(values: npt.NDArray[np.float64]) -> Calibration:
        return Calibration(float(np.exp(values[0])), (float(values[1]), float(values[2]), 0.0))

    best = minimize(
        lambda values: float(np.mean([_log_loss(made(values), *one) for one in pairs])),
        np.zeros(3),
        method="Nelder-Mead",
        options={"maxiter": 2000},
    ).x
    return made(best)


def _log_loss(
    calibration: Calibration, log_p: LogProbabilities, gold: npt.NDArray[np.intp]
) -> float:
    """Mean of -ln p(label) over the labels that occur, each weighing the same."""
    present = np.unique(gold)
    p = calibration.apply(log_p)[:, present]
    own = np.log(p / p.sum(axis=1, keepdims=True))[
        np.arange(len(gold)), np.searchsorted(present, gold)
    ]
    return -float(np.mean([own[gold == label].mean() for label in present]))
