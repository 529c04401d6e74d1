"""Which rows of one assessment are those of another: the same, or another version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher
from typing import Any

#: Share of common words from which two passages of a document, or two claims of a
#: sentence, are versions of one another.
MIN_ALIKE = 0.5

#: A claim or a passage of an assessment, and one with its counterpart.
Row = dict[str, Any]
Pair = tuple[Row | None, Row | None]


def paired(
    old: Sequence[Row],
    new: Sequence[Row],
    *,
    exact: Callable[[Row], Hashable],
    group: Callable[[Row], Hashable],
    text: Callable[[Row], str],
) -> list[Pair]:
    """Every row of both once: with its counterpart, or with None.

    Args:
        old: rows of the one.
        new: rows of the other.
        exact: rows of the same key belong together, in their order.
        group: of what is left over, only rows of the same key do, the most similar first.
        text: what is compared then.
    """
    waiting: dict[Hashable, list[Row]] = defaultdict(list)
    for row in old:
        waiting[exact(row)].append(row)
    found: list[Pair] = []
    rest: list[Row] = []
    for row in new:
        if same := waiting[exact(row)]:
            found.append((same.pop(0), row))
        else:
            rest.append(row)
    gone: dict[Hashable, list[Row]] = defaultdict(list)
    for row in old:
        if any(row is left for left in waiting[exact(row)]):
            gone[group(row)].append(row)
    come: dict[Hashable, list[Row]] = defaultdict(list)
    for row in rest:
        come[group(row)].append(row)
    for key in {**gone, **come}:
        found += _most_similar(gone[key], come[key], text)
    return found


def _most_similar(old: Sequence[Row], new: Sequence[Row], text: Callable[[Row], str]) -> list[Pair]:
    """Pairs of similar rows, the most similar ones first, and what is left over."""
    likeness = sorted(
        ((_likeness(text(a), text(b)), i, j) for i, a in enumerate(old) for j, b in enumerate(new)),
        key=lambda entry: (-entry[0], *entry[1:]),
    )
    mate: dict[int, int] = {}
    for alike, i, j in likeness:
        if alike >= MIN_ALIKE and i not in mate and j not in mate.values():
            mate[i] = j
    found: list[Pair] = [(a, new[mate[i]] if i in mate else None) for i, a in enumerate(old)]
    return found + [(None, b) for j, b in enumerate(new) if j not in mate.values()]


def _likeness(a: str, b: str) -> float:
    """Share of the words that stand in both, in the same order, in [0, 1]."""
    return SequenceMatcher(None, a.split(), b.split(), autojunk=False).ratio()
