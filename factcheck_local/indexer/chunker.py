"""Cuts a document into passages for retrieval and citation.

A passage is a run of whole blocks of one section where that gives about
`target_words`, of several small sections under one heading where it does not,
and of sentences where a block is longer than a passage may be. Among all ways
to cut, the cheapest is found by dynamic programming over the units:

    cost = sum over passages of ((words - target) / target)²
           + MERGE_COST for each section border inside a passage
           + the cut's own cost (`units.BLOCK_CUT`, `SENTENCE_CUT`, `BROKEN_CUT`)
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from factcheck_local.core.types import Chunk, Document, Span
from factcheck_local.indexer.units import Unit, units, word_count

TARGET_WORDS = 150
MAX_WORDS = 180

#: Grows when the same document would be cut, or its passages named, otherwise.
CHUNKER_VERSION = 5

#: Cost of a section border inside a passage: two sections of half the target
#: each are as good apart (2 x 0.5²) as together.
MERGE_COST = 0.5


def chunk(
    document: Document, *, target_words: int = TARGET_WORDS, max_words: int = MAX_WORDS
) -> tuple[Chunk, ...]:
    """Cut a document into passages, in order, none overlapping another.

    Every word of the document's blocks is in exactly one passage, and no
    passage spans two pages or sheets. ``titles`` holds for all of a passage's text; where
    several sections share one passage, their own headings are inside it. A
    passage that begins within a table has the table's header as its ``lead``. A
    passage's id depends on its source, titles, lead and text alone, and on how many
    of the same came before it, so it outlives edits elsewhere in the document.

    Args:
        document: what to cut.
        target_words: length to aim at, at least 1.
        max_words: length to keep to, at least ``target_words``; exceeded only
            by a heading, and what follows it, that leave no room for its text.
    """
    run = list(units(document, smallest=max(1, max_words // 18), largest=max(1, max_words // 3)))
    # What a loader leaves out, a remark say, is in a passage if it stands inside it.
    gaps = [word_count(document.text, a.end, b.start) for a, b in pairwise(run)]
    root = _root(document)
    feeds = returns = counted = 0  # line ends in text[:counted]: line feeds, lone returns
    seen: Counter[str] = Counter()
    chunks = []
    for first, last, titles in _packed(run, gaps, root, target_words, max_words):
        span = Span(run[first].start, run[last - 1].end)
        text = span.of(document.text)
        feeds += document.text.count("\n", counted, span.start)
        returns += document.text.count("\r", counted, span.start)
        returns -= document.text.count("\r\n", counted, span.start)
        counted = span.start
        shift = run[first].shift
        lead = run[first].lead
        content = "\0".join((document.source, *titles, *filter(None, [lead]), "", text))
        chunks.append(
            Chunk(
                id=hashlib.sha256(f"{content}\0{seen[content]}".encode()).hexdigest()[:24],
                source=document.source,
                text=text,
                span=span,
                titles=titles,
                line=feeds + (returns + 1 if shift is None else shift),
                page=run[first].page,
                lead=lead,
            )
        )
        seen[content] += 1
    return tuple(chunks)


def _root(document: Document) -> str:
    """The title to put above a document's passages, "" for none.

    A single heading above the text is the title as the text has it, without the name of a
    site, say.
    """
    title, blocks = document.title, document.blocks
    outermost = [b.headings[0] for b in blocks if b.is_heading and len(b.headings) == 1]
    shorter = len(outermost) == 1 and outermost[0] != title and _says(title, outermost[0])
    return "" if document.borrowed_title or shorter else title


def _packed(
    run: Sequence[Unit], gaps: Sequence[int], root: str, target: int, maximum: int
) -> list[tuple[int, int, tuple[str, ...]]]:
    """The cheapest passages as (first unit, unit after the last, titles), in order."""
    glued = [_glued(unit, following) for unit, following in pairwise(run)] + [False]
    homes = _homes(run, glued)
    best = [0.0] + [math.inf] * len(run)  # best[j]: the least cost of run[:j]
    choice = [(0, 0)] * (len(run) + 1)  # where run[:j]'s last passage begins, its title depth
    for end in range(1, len(run) + 1):
        if glued[end - 1]:
            continue
        words = borders = 0
        headings_only = True  # before the last unit: no place for a cut
        depth = len(homes[end - 1].section)
        for first in range(end - 1, -1, -1):
            unit = run[first]
            inner = first < end - 1
            words += unit.words + (gaps[first] if inner else 0)
            if inner and _place(unit) != _place(run[first + 1]):
                break
            headings_only &= glued[first] or not inner
            if words > maximum and not headings_only:
                break
            if inner and homes[first].section != homes[first + 1].section:
                borders += 1
                depth = min(depth, _common(homes[first].section, homes[first + 1].section))
            if first and glued[first - 1]:
                continue
            if borders and not depth and not root:
                break  # nothing would be true of all of it
            # Every heading that the titles leave out must be inside the passage.
            if len(unit.section) - unit.is_heading > depth:
                continue
            size = ((words - target) / target) ** 2
            cost = best[first] + size + MERGE_COST * borders + run[end - 1].cut
            if cost < best[end]:
                best[end], choice[end] = cost, (first, depth)
    return _traced(choice, homes, root)


def _traced(
    choice: Sequence[tuple[int, int]], homes: Sequence[Unit], root: str
) -> list[tuple[int, int, tuple[str, ...]]]:
    """The chosen passages, read back from the last one; the root is not said twice."""
    passages = []
    end = len(homes)
    while end:
        first, depth = choice[end]
        titles = tuple(filter(None, homes[end - 1].headings[:depth]))
        if root and not (titles and _says(titles[0], root)):
            titles = (root, *titles)
        passages.append((first, end, titles))
        end = first
    return passages[::-1]


def _says(text: str, title: str) -> bool:
    """Whether a title stands in a text, as words of their own."""
    return re.search(rf"(?<!\w){re.escape(title)}(?!\w)", text) is not None


def _glued(unit: Unit, following: Unit) -> bool:
    """Whether a passage may not end between the two: a heading and what it heads."""
    return (
        unit.is_heading
        and _place(unit) == _place(following)
        and following.section[: len(unit.section)] == unit.section
    )


def _place(unit: Unit) -> tuple[int | None, int | None]:
    """What is the same for all of a passage: its page, and how its lines are counted."""
    return unit.page, unit.shift


def _homes(run: Sequence[Unit], glued: Sequence[bool]) -> list[Unit]:
    """For each unit the one whose section it belongs to: a heading to what it heads."""
    homes = list(run)
    for index in range(len(run) - 2, -1, -1):
        if glued[index]:
            homes[index] = homes[index + 1]
    return homes


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Length of the common beginning of two paths."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
