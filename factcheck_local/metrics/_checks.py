"""What every measure refuses, said the same way."""

from collections.abc import Sequence, Sized

import numpy as np
from numpy.typing import NDArray


def same_length(first: Sized, second: Sized) -> None:
    """Refuse two sequences that cannot be paired.

    Raises:
        ValueError: if their lengths differ.
    """
    if len(first) != len(second):
        raise ValueError(f"expected as many of both, got {len(first)} and {len(second)}")


def probabilities(values: Sequence[float]) -> NDArray[np.float64]:
    """The values as an array of shape (n,).

    Raises:
        ValueError: if one is outside [0, 1] or not a number.
    """
    array = np.asarray(values, dtype=np.float64)
    # A comparison with NaN is false, so this refuses NaN too.
    if array.ndim != 1 or not np.all((array >= 0.0) & (array <= 1.0)):
        raise ValueError(f"expected probabilities in [0, 1], got {array.tolist()}")
    return array


def orderable(values: Sequence[float]) -> NDArray[np.float64]:
    """Scores of any scale as an array of shape (n,).

    Raises:
        ValueError: if one is NaN.
    """
    array = np.asarray(values, dtype=np.float64)
    if np.any(np.isnan(array)):
        raise ValueError(f"expected scores that can be ordered, got {array.tolist()}")
    return array


def count(name: str, value: int, at_most: int | None = None) -> None:
    """Refuse what is not a number of things.

    Raises:
        ValueError: if it is negative, or larger than ``at_most``.
    """
    if value < 0 or (at_most is not None and value > at_most):
        limit = "" if at_most is None else f" and at most {at_most}"
        raise ValueError(f"expected {name} to be at least 0{limit}, got {value}")
