"""How honest a calibration is on labelled pairs, by cross-validation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import InputError
from factcheck_local.metrics import ece
from factcheck_local.pipeline.relation.calibration import LABELS, fit
from factcheck_local.pipeline.relation.scorer import LogProbabilities

FOLDS = 5
BINS = 10
SEED = 1


@dataclass(frozen=True, slots=True)
class Quality:
    """What is wrong with n rows of probabilities; of both, lower is better.

    Attributes:
        ece: expected calibration error of the confidence in the most probable
            label (Guo et al. 2017), over `BINS` bins of equal width, in [0, 1].
        log_loss: mean of -ln p(label), in nats.
    """

    ece: float
    log_loss: float


def quality(probabilities: npt.NDArray[np.float64], labels: Sequence[int]) -> Quality:
    """Measure probabilities, shape (n, 3) with n > 0, against labels as indices, shape (n,).

    Raises:
        ValueError: if the shapes do not match, or n is 0.
    """
    gold = np.asarray(labels, dtype=np.intp)
    right = probabilities.argmax(axis=1) == gold
    confidence = probabilities.max(axis=1)
    # Rounding may leave a probability a hair above 1, which the measure refuses.
    error = ece(np.minimum(confidence, 1.0).tolist(), right.tolist(), BINS)
    if error is None:
        raise ValueError("expected at least one row of probabilities, got none")
    own = probabilities[np.arange(len(gold)), gold]
    return Quality(error, -float(np.log(np.maximum(own, np.finfo(np.float64).tiny)).mean()))


def cross_validated(log_p: LogProbabilities, labels: Sequence[int]) -> Quality:
    """The quality of fitted calibrations on pairs that they were not fitted on.

    `FOLDS` folds with the labels spread evenly, drawn with a fixed seed: the same
    pairs give the same numbers.

    Args:
        log_p: finite natural-log probabilities, shape (n, 3).
        labels: index of each pair's label in ``LABELS``, shape (n,).

    Raises:
        InputError: if fewer than two labels have at least `FOLDS` pairs.
    """
    gold = np.asarray(labels, dtype=np.intp)
    counts = np.bincount(gold, minlength=3)
    if (counts >= FOLDS).sum() < 2:
        got = ", ".join(f"{label.value} {n}" for label, n in zip(LABELS, counts, strict=True))
        raise InputError(
            f"expected at least {FOLDS} pairs of each of two labels or more, got {got}"
        )
    fold = np.empty(len(gold), dtype=np.intp)
    generator = random.Random(SEED)
    for label in range(3):
        rows = np.flatnonzero(gold == label).tolist()
        generator.shuffle(rows)
        fold[rows] = np.arange(len(rows)) % FOLDS
    calibrated = np.empty_like(log_p)
    for k in range(FOLDS):
        held_out = fold == k
        fitted = fit(log_p[~held_out], gold[~held_out].tolist())
        calibrated[held_out] = fitted.apply(log_p[held_out])
    return quality(calibrated, labels)
