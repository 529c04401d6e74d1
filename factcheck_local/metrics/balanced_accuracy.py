"""Balanced accuracy: the mean over the gold classes of the recall of each.

    BA = (1/|L|) sum over l of  #{predicted l and gold l} / #{gold l}

For two classes that is (true positive rate + true negative rate) / 2; chance
is 1/|L| whatever the base rates.

Reference: Brodersen et al. (2010); FELM, section 4, and LLM-AggreFact use the
two-class case.

Differs from scikit-learn: with a single gold class the value is None, where
``balanced_accuracy_score`` returns that class's recall. A prediction outside
the gold classes is an error of its item, not a class with recall 0.
"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from factcheck_local.metrics import _checks


def confusion_matrix(
    gold: Sequence[Hashable], predicted: Sequence[Hashable], labels: Sequence[Hashable]
) -> NDArray[np.int64]:
    """How often each gold label was predicted as each label.

    Args:
        gold: the true labels, shape (n,).
        predicted: the predicted ones, shape (n,).
        labels: the classes, distinct; they give the order of both axes.

    Returns:
        Shape (len(labels), len(labels)): rows gold, columns predicted.

    Raises:
        ValueError: if the lengths differ, or an item's label is not in ``labels``.
    """
    _checks.same_length(gold, predicted)
    index = {label: i for i, label in enumerate(labels)}
    if len(index) != len(labels):
        raise ValueError(f"expected distinct labels, got {list(labels)}")
    matrix = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for item, pair in enumerate(zip(gold, predicted, strict=True)):
        for label in pair:
            if label not in index:
                raise ValueError(f"item {item}: label {label!r} is not one of {list(labels)}")
        matrix[index[pair[0]], index[pair[1]]] += 1
    return matrix


def balanced_accuracy(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> float | None:
    """BA in [0, 1]; None if the gold labels hold fewer than two classes.

    Args:
        gold: the true labels, shape (n,).
        predicted: the predicted ones, shape (n,).

    Raises:
        ValueError: if the lengths differ.
    """
    _checks.same_length(gold, predicted)
    labels = list(dict.fromkeys([*gold, *predicted]))
    return mean_recall(confusion_matrix(gold, predicted, labels))


def mean_recall(matrix: NDArray[np.int64]) -> float | None:
    """BA of a confusion matrix; None if fewer than two classes are among the gold labels.

    Args:
        matrix: shape (n, m), n <= m: rows gold, columns predicted, the first n of them the
            gold classes in the same order.
    """
    support = matrix.sum(axis=1)
    present = support > 0
    if present.sum() < 2:
        return None
    return float((matrix.diagonal()[present] / support[present]).mean())
