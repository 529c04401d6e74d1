"""A premise that is longer than an encoder reads, as windows that it can read."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

#: Where a window may end: behind a line, or behind a sentence.
_BREAK = re.compile(r"\n|[.!?]\s")


def windows(premise: str, offsets: Sequence[tuple[int, int]], room: int) -> list[str]:
    """The premise in pieces of at most ``room`` tokens, each word in one of them.

    A piece ends with a line or a sentence, if one ends in its second half.

    Args:
        premise: the text.
        offsets: of its tokens, begin and end as positions in the text.
        room: tokens of a piece, at least 1.
    """
    if len(offsets) <= room:
        return [premise]
    found = []
    at = 0
    while at < len(offsets):
        begin, end = offsets[at][0], offsets[at : at + room][-1][1]
        ends = [begin + m.end() for m in _BREAK.finditer(premise[begin:end])]
        if at + room < len(offsets) and ends and 2 * (ends[-1] - begin) > end - begin:
            end = ends[-1]
        found.append(premise[begin:end])
        at = bisect_left(offsets, (end,), at + 1)
    return found


def least_neutral(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of the relations of a premise's windows to one claim that of the one that says most.

    Args:
        rows: p(entailment), p(contradiction), p(neutral), shape (n, 3).

    Returns:
        One of them, shape (3,).
    """
    found: npt.NDArray[np.float64] = rows[rows[:, 2].argmin()]
    return found
