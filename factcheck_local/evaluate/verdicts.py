"""Verdicts against the verdicts that are expected, where the data say which.

Four verdicts can be expected: supported, contradicted, conflicting and not found. For most uses
three classes matter, so anything else than supported and contradicted counts as *neither* there:
conflicting, not found, undecided, and the *unsupported* of judges that know two labels. Atoms that
could not be scored, and those without such a label, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factcheck_local.core.types import Verdict
from factcheck_local.metrics import mean_recall

#: What can be expected of a claim.
EXPECTED = (
    Verdict.SUPPORTED.value,
    Verdict.CONTRADICTED.value,
    Verdict.CONFLICTING.value,
    Verdict.NOT_FOUND.value,
)

#: What can be said of it: those first, in the same order.
SAID = (
    *EXPECTED,
    *(
        v.value
        for v in Verdict
        if v.value not in EXPECTED and v not in (Verdict.UNSCORED, Verdict.SKIPPED)
    ),
)

#: Expected verdicts (rows, as ``EXPECTED``) by verdicts given (columns, as ``SAID``).
Matrix = NDArray[np.int64]

_SUPPORTED, _CONTRADICTED, _NEITHER = 0, 1, 2


def matrix_of(atoms: Sequence[Mapping[str, Any]]) -> Matrix:
    """How often each expected verdict was given as each verdict, shape (4, ``len(SAID)``).

    Args:
        atoms: with ``label`` and ``verdict``, as in the lines of ``runner.run``.
    """
    found = np.zeros((len(EXPECTED), len(SAID)), dtype=np.int64)
    for atom in atoms:
        if atom["label"] in EXPECTED and atom["verdict"] in SAID:
            found[EXPECTED.index(atom["label"]), SAID.index(atom["verdict"])] += 1
    return found


def total(rows: Sequence[Mapping[str, Any]]) -> Matrix:
    """The matrix over all atoms of all lines."""
    return matrix_of([atom for row in rows for atom in row["atoms"]])


def as_dict(matrix: Matrix) -> dict[str, dict[str, int]]:
    """Expected verdict -> verdict given -> count.

    Of the verdicts that cannot be expected only those that were given.
    """
    shown = [n for n, name in enumerate(SAID) if name in EXPECTED or matrix[:, n].any()]
    return {
        expected: {SAID[n]: int(matrix[row, n]) for n in shown}
        for row, expected in enumerate(EXPECTED)
    }


def of_three(matrix: Matrix) -> Matrix:
    """The matrix of supported, contradicted and neither, shape (3, 3)."""
    return _folded(_folded(matrix).T).T


def _folded(matrix: Matrix) -> Matrix:
    """Its rows from the third on as one."""
    return np.vstack([matrix[:_NEITHER], matrix[_NEITHER:].sum(axis=0)])


def right_of_three(matrix: Matrix) -> float | None:
    """Share of claims in the right one of three classes."""
    return _share(int(of_three(matrix).trace()), int(matrix.sum()))


def balanced_of_three(matrix: Matrix) -> float | None:
    """The mean of that share over the three classes, so that each weighs alike."""
    return mean_recall(of_three(matrix))


def right_of_four(matrix: Matrix) -> float | None:
    """Share of claims with exactly the verdict that is expected."""
    return _share(int(matrix.trace()), int(matrix.sum()))


def supported_wrongly(matrix: Matrix) -> float | None:
    """Of the claims called supported the share of which another verdict is expected."""
    called = int(matrix[:, _SUPPORTED].sum())
    return _share(called - int(matrix[_SUPPORTED, _SUPPORTED]), called)


def true_contradicted(matrix: Matrix) -> float | None:
    """Of the claims expected to be supported the share called contradicted."""
    return _share(int(matrix[_SUPPORTED, _CONTRADICTED]), int(matrix[_SUPPORTED].sum()))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


#: All of them by name; None where undefined.
MEASURES: dict[str, Callable[[Matrix], float | None]] = {
    "right_of_three": right_of_three,
    "balanced_of_three": balanced_of_three,
    "right_of_four": right_of_four,
    "supported_wrongly": supported_wrongly,
    "true_contradicted": true_contradicted,
}
