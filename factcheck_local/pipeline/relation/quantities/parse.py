"""Quantities of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.pipeline.relation.quantities import context
from factcheck_local.pipeline.relation.quantities.dates import find_dates
from factcheck_local.pipeline.relation.quantities.interpret import interpret
from factcheck_local.pipeline.relation.quantities.names import FILLER, mask_names
from factcheck_local.pipeline.relation.quantities.numerals import find_numerals
from factcheck_local.pipeline.relation.quantities.values import Bound, Kind, Quantity

#: How far the words that qualify a quantity are looked for, in characters.
REACH = 40

_JOINED = re.compile(r"\s*(?P<by>–|—|--?|to|through|until|till|and|or)\s*", re.IGNORECASE)
_TOGETHER = re.compile(r"\s+(?:and\s+)?", re.IGNORECASE)
_LEANING = re.compile(r"\W*(?:it|they|this|these|he|she)\b", re.IGNORECASE)
_METRIC = re.compile("meter|gram|liter|metric")
_BETWEEN = re.compile(r"\bbetween\s+(?:\w+\s+)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The quantities of a text and what they stand among.

    Attributes:
        quantities: In order.
        sentences: Stems of the content words of every sentence, and of the one before where
            it leans on that: "It lasts six weeks" gets its subject from there.
        sentence_of: Index in ``sentences`` for every quantity.
        words: Stems of the content words, numbers and units aside.
        loose: Numbers within names and the like.
    """

    quantities: tuple[Quantity, ...]
    sentences: tuple[frozenset[str], ...]
    sentence_of: tuple[int, ...]
    words: frozenset[str]
    loose: frozenset[float]


@lru_cache(maxsize=512)
def parse(text: str) -> Parsed:
    """Finds the quantities of a text. Cached: many claims share a passage."""
    quantities, loose = _quantities(text)
    spans = sentence_spans(text)
    sentence_of = [
        next((i for i, s in enumerate(spans) if s.start <= q.start < s.end), -1) for q in quantities
    ]
    return Parsed(
        tuple(quantities),
        tuple(_sentences([s.of(text) for s in spans])),
        tuple(sentence_of),
        context.stems(_blanked(text, quantities)),
        loose,
    )


def _sentences(said: list[str]) -> Iterator[frozenset[str]]:
    before: frozenset[str] = frozenset()
    for sentence in said:
        own = context.stems(sentence)
        yield own | before if _LEANING.match(sentence) else own
        before = own


def _blanked(text: str, quantities: list[Quantity]) -> str:
    """The text without its numbers and units; what is counted is content."""
    for q in quantities:
        start, end = q.inner if q.kind in (Kind.NUMBER, Kind.ORDINAL) else (q.start, q.end)
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _quantities(text: str) -> tuple[list[Quantity], frozenset[float]]:
    masked, loose = mask_names(text)
    found = find_dates(masked)
    for q in found:
        masked = masked[: q.start] + FILLER * (q.end - q.start) + masked[q.end :]
    numerals = find_numerals(masked)
    found += interpret(text, masked, numerals)
    found.sort(key=lambda q: q.start)
    found = _ranges(text, found)
    weak = frozenset(v for n in numerals for v in n.values if _is_weak_at(found, n.start))
    return [_qualified(text, q) for q in found], loose | weak


def _is_weak_at(quantities: list[Quantity], at: int) -> bool:
    return any(q.weak and q.start <= at < q.end for q in quantities)


def _ranges(text: str, quantities: list[Quantity]) -> list[Quantity]:
    """Joins "10 to 20 days" and "between March and May 2024" to one quantity."""
    joined: list[Quantity] = []
    for q in quantities:
        last = joined[-1] if joined else None
        merged = last and _joined(text, last, q)
        if merged:
            joined[-1] = merged
        else:
            joined.append(q)
    return joined


def _joined(text: str, first: Quantity, second: Quantity) -> Quantity | None:
    if (first.kind, first.unit) != (second.kind, second.unit) or first.bound or second.bound:
        return None
    if compound := _compound(text, first, second):
        return compound
    link = _JOINED.fullmatch(text, first.end, second.start)
    between = bool(_BETWEEN.search(text[max(0, first.start - REACH) : first.start]))
    if not link or (link["by"].lower() == "and" and not between):
        return None
    readings = tuple(
        (a[0], b[1]) for a in first.readings for b in second.readings if a[0] < b[1] and a != b
    )
    if not readings:
        return None
    return replace(
        second,
        text=text[first.start : second.end],
        start=first.start,
        readings=readings,
        bound=Bound.BETWEEN if between else Bound.RANGE,
        weak=first.weak or second.weak,
        ambiguous=first.ambiguous or second.ambiguous,
        inner=(first.inner[0], second.inner[1]),
    )


def _compound(text: str, first: Quantity, second: Quantity) -> Quantity | None:
    """26 miles and 385 yards, 2 hours 30 minutes: the second unit is the smaller."""
    smaller = first.label != second.label and second.step < first.step
    if first.kind is not Kind.MEASURE or not smaller or first.rate:
        return None
    # "Two miles, 3 km" says the same twice.
    if bool(_METRIC.search(first.label)) != bool(_METRIC.search(second.label)):
        return None
    if not _TOGETHER.fullmatch(text, first.end, second.start):
        return None
    return replace(
        second,
        text=text[first.start : second.end],
        start=first.start,
        readings=tuple(
            (a[0] + b[0], a[1] + b[1])
            for a, b in zip(first.readings, second.readings, strict=False)
        ),
        weak=first.weak or second.weak,
        inner=(first.inner[0], second.inner[1]),
    )


def _qualified(text: str, q: Quantity) -> Quantity:
    """A quantity with the hedge and the bound of the words around it."""
    # Emphasis stands between: "within **45 days**".
    before = text[max(0, q.start - REACH) : q.start].rstrip("*_`")
    after = text[q.end : q.end + REACH].lstrip("*_`")
    hedged = q.hedged or context.is_hedged(before, after)
    if q.bound:
        return replace(q, hedged=hedged)
    # "8 GB or more" binds after the unit, "3 or more people" before it.
    inside = text[q.inner[1] : q.end]
    bound = context.bound_of(q.kind, before, after) or context.bound_of(q.kind, "", inside)
    return replace(q, hedged=hedged, bound=bound)
