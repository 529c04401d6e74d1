"""Measures of an answer, and of a method against gold labels; one measure a file.

What cannot be computed (no atoms, a single class) is None, never 0 or NaN.
"""

from factcheck_local.metrics.auroc import auroc
from factcheck_local.metrics.balanced_accuracy import (
    balanced_accuracy,
    confusion_matrix,
    mean_recall,
)
from factcheck_local.metrics.bootstrap_ci import bootstrap_ci
from factcheck_local.metrics.brier import brier
from factcheck_local.metrics.called_threshold import Called, called_threshold, fewest_called
from factcheck_local.metrics.ece import ece
from factcheck_local.metrics.entropy import binary_entropy, entropy
from factcheck_local.metrics.f1_at_k import f1_at_k, recall_at_k
from factcheck_local.metrics.factual_precision import factual_precision
from factcheck_local.metrics.hallucination_score import hallucination_score
from factcheck_local.metrics.mae import mae
from factcheck_local.metrics.precision_recall import PrecisionRecall, precision_recall
from factcheck_local.metrics.roc_curve import roc_curve

__all__ = [
    "Called",
    "PrecisionRecall",
    "auroc",
    "balanced_accuracy",
    "binary_entropy",
    "bootstrap_ci",
    "brier",
    "called_threshold",
    "confusion_matrix",
    "ece",
    "entropy",
    "f1_at_k",
    "factual_precision",
    "fewest_called",
    "hallucination_score",
    "mae",
    "mean_recall",
    "precision_recall",
    "recall_at_k",
    "roc_curve",
]
