"""The answer cut into stretches, each with the claims that it states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the answer that no claim's span begins or ends in.

    Attributes:
        text: as written; empty where a span is.
        claims: positions of the claims that it belongs to, ascending.
        ends: those whose span ends with it.
    """

    text: str
    claims: tuple[int, ...]
    ends: tuple[int, ...]


def stretches(text: str, spans: Sequence[Sequence[Mapping[str, int]]]) -> list[Stretch]:
    """The text from its start to its end; joined, the parts are the text again.

    Args:
        text: the answer.
        spans: of each claim its places, as ``{"start", "end"}``; they may overlap, share
            or contain each other, and are cut to the text.
    """
    size = len(text)
    begin: dict[int, list[int]] = {}
    finish: dict[int, list[int]] = {}
    points: dict[int, list[int]] = {}
    for claim, places in enumerate(spans):
        for place in places:
            start, end = (min(max(place[side], 0), size) for side in ("start", "end"))
            if start >= end:
                points.setdefault(start, []).append(claim)
            else:
                begin.setdefault(start, []).append(claim)
                finish.setdefault(end, []).append(claim)
    cuts = sorted({0, size, *begin, *finish, *points})
    found: list[Stretch] = []
    # A claim may be open twice, where two of its places overlap.
    inside: list[int] = []
    for here, following in pairwise([*cuts, size]):
        inside += begin.get(here, ())
        if here in points:
            found.append(Stretch("", (), tuple(sorted(set(points[here])))))
        if here == following:
            continue
        ends = finish.get(following, ())
        found.append(Stretch(text[here:following], _distinct(inside), _distinct(ends)))
        for claim in ends:
            inside.remove(claim)
    return found


def _distinct(claims: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(claims)))
