"""Precision, recall and F1 of one class against gold labels.

    precision = TP / (TP + FP)    recall = TP / (TP + FN)    F1 = 2 TP / (2 TP + FP + FN)

Reference: van Rijsbergen (1979). FactReasoner (section 4) takes "supported"
as the positive class, FELM (section 4) takes "wrong".

Differs from scikit-learn: what has an empty denominator is None, where
``precision_recall_fscore_support`` returns 0 with a warning.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from factcheck_local.metrics import _checks


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """Each in [0, 1], or None where undefined.

    Attributes:
        precision: None if the class was never predicted.
        recall: None if the class never occurs in the gold labels.
        f1: None if neither.
    """

    precision: float | None
    recall: float | None
    f1: float | None


def precision_recall(
    gold: Sequence[Hashable], predicted: Sequence[Hashable], *, positive: Hashable = True
) -> PrecisionRecall:
    """Precision, recall and F1 of the class ``positive``.

    Args:
        gold: the true labels, shape (n,).
        predicted: the predicted ones, shape (n,).
        positive: the class that is looked for.

    Raises:
        ValueError: if the lengths differ.
    """
    _checks.same_length(gold, predicted)
    hits = sum(g == positive == p for g, p in zip(gold, predicted, strict=True))
    found = sum(p == positive for p in predicted)
    actual = sum(g == positive for g in gold)
    return PrecisionRecall(
        precision=hits / found if found else None,
        recall=hits / actual if actual else None,
        f1=2 * hits / (found + actual) if found + actual else None,
    )
