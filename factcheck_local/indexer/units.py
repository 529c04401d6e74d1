"""Cuts blocks into units: the smallest stretches that a passage is packed from.

A unit is a sentence or a line where they are short, a group of words where
they are not. A table is cut between its rows, the first of which stays with the
header. No word of up to `MAX_WORD` characters is ever cut. Every rule runs in linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from factcheck_local.core.types import Document
from factcheck_local.indexer.tables import lead, tables

#: What it costs to end a passage after a unit that ends a sentence, and after
#: one that does not; the end of a block costs `BLOCK_CUT`. The scale is that
#: of an empty passage, which costs 1.
BLOCK_CUT, SENTENCE_CUT, BROKEN_CUT = 0.05, 0.5, 3.0

#: Longer runs of characters, encoded pictures say, count as several words.
MAX_WORD = 100

# A character of a script without spaces counts as a word, so that such a text
# can be measured and cut.
_IDEOGRAPH = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\s{_IDEOGRAPH}]{{1,{MAX_WORD}}}")

_LINE_END = r"(?:\r\n?|\n)"
_ENDS = re.compile(
    r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]]*\s+"  # a sentence, with closing quotes
    r"|(?<=[\u3002\uff01\uff1f])"  # the same where no space follows
    rf"|{_LINE_END}[^\S\r\n]*{_LINE_END}\s*"  # a paragraph
    rf"|{_LINE_END}[^\S\r\n]*(?=\||(?:[-*+•>]|\d{{1,3}}[.)])\s)"  # a list item, a table row
)
_LINES = re.compile(_LINE_END)
_NO_SENTENCE = re.compile(
    r"\b(?:[A-Z]|Mrs?|Ms|Dr|Prof|St|vs|e\.g|i\.e|cf|Nos?|Figs?|Eq|Sec|Art|Vol|pp?|ca|approx)\.$"
    r"|(?m:^)[^\S\r\n]*\d{1,3}\.$"  # the number of a list item
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch ``text[start:end]`` of one block, without white space at its ends.

    Attributes:
        words: its length, at least 1.
        cut: the cost of ending a passage after it, in passages.
        section: the section it stands in, as a path of numbers that, unlike
            headings, never repeat.
        headings: the same path in words.
        is_heading: whether it is (a part of) a heading; one that is longer than three of
            the largest units is text like any other.
        page: counting from 1, None in a document without pages.
        shift: how far its line in the source is behind the line feeds before it in the
            text; None where lines are those of the text.
        lead: the header of the table that the unit begins within, see `tables.lead`.
    """

    start: int
    end: int
    words: int
    cut: float
    section: tuple[int, ...]
    headings: tuple[str, ...]
    is_heading: bool
    page: int | None
    shift: int | None = None
    lead: str = ""


def units(document: Document, *, smallest: int, largest: int) -> Iterator[Unit]:
    """The document's blocks as units, in order.

    Args:
        document: what to cut.
        smallest: units of a block, and small blocks, are joined up to this number of words.
        largest: a sentence of more words is cut between words.
    """
    pending: Unit | None = None
    whole = False  # whether it is made of whole blocks
    for unit, is_block in _units(document, smallest, largest):
        if pending is not None:
            if whole and is_block and _joinable(document.text, pending, unit, smallest):
                words = pending.words + unit.words
                pending = replace(pending, end=unit.end, words=words, cut=unit.cut)
                continue
            yield pending
        pending, whole = unit, is_block
    if pending is not None:
        yield pending


def _joinable(text: str, unit: Unit, following: Unit, smallest: int) -> bool:
    """Whether two blocks are so small that no passage needs to end between them."""
    return (
        unit.words + following.words <= smallest
        and not unit.is_heading
        and not following.is_heading
        and (unit.section, unit.page, unit.shift)
        == (following.section, following.page, following.shift)
        and not word_count(text, unit.end, following.start)  # a remark that was left out
    )


def _units(document: Document, smallest: int, largest: int) -> Iterator[tuple[Unit, bool]]:
    """The units of each block, and whether one is the whole block."""
    text = document.text
    path: list[tuple[int, str]] = []  # (number of the section, heading)
    fed, seen = 0, 0  # line feeds in text[:seen]
    for number, block in enumerate(document.blocks):
        depth = _agreeing(path, block.headings)
        if block.is_heading:
            depth = min(depth, max(0, len(block.headings) - 1))  # same words, new section
        path[depth:] = [(number, heading) for heading in block.headings[depth:]]
        page = bisect_right(document.page_starts, block.span.start) or None
        fed, seen = fed + text.count("\n", seen, block.span.start), block.span.start
        shift = None if block.line is None else block.line - fed
        pieces = list(_pieces(text, block.span.start, block.span.end, smallest, largest))
        heads = block.is_heading and sum(piece.words for piece in pieces) <= 3 * largest
        for index, piece in enumerate(pieces):
            unit = Unit(
                piece.start,
                piece.end,
                piece.words,
                piece.cut if index < len(pieces) - 1 else BLOCK_CUT,
                tuple(section for section, _ in path),
                block.headings,
                heads,
                page,
                shift,
                piece.lead,
            )
            yield unit, len(pieces) == 1


def word_count(text: str, start: int, end: int) -> int:
    """Number of words in ``text[start:end]``, as `Unit.words` counts them."""
    return sum(1 for _ in _WORD.finditer(text, start, end))


def _agreeing(path: Sequence[tuple[int, str]], headings: Sequence[str]) -> int:
    """How many headings, from the outermost on, are those of the path."""
    depth = 0
    for (_, known), heading in zip(path, headings, strict=False):
        if known != heading:
            break
        depth += 1
    return depth


class _Piece(NamedTuple):
    """A unit of a block; see `Unit` for what the fields mean."""

    start: int
    end: int
    words: int
    cut: float
    lead: str = ""


def _pieces(text: str, start: int, end: int, smallest: int, largest: int) -> Iterator[_Piece]:
    """Sentences and rows, the long ones broken up, the short ones joined."""
    for header, spans in _stretches(text, start, end):
        in_table = header is not None
        first = True
        for unit in _joined(_measured(text, spans), smallest):
            for begin, last, words, cut in _broken(text, *unit, largest):
                # The rest of a broken row does not begin with its first column.
                whole = begin == unit[0] and in_table and not first
                yield _Piece(begin, last, words, cut, header or "" if whole else "")
            first = False


def _stretches(
    text: str, start: int, end: int
) -> Iterator[tuple[str | None, Iterator[tuple[int, int]]]]:
    """The tables of a block, and what is between them, as spans that end where a unit may.

    Each with the table's header as it stands above passages, None where it is no table.
    The header, its rule and the first row are one span.
    """
    if "|" in text[start:end]:
        lines = list(_split(_LINES.finditer(text, start, end), start, end))
        for table in tables([text[first:last] for first, last in lines]):
            rows = lines[table.first + 2 : table.end]
            yield None, _sentences(text, start, lines[table.first][0])
            yield lead(table.headers), iter([(lines[table.first][0], rows[0][1]), *rows[1:]])
            start = rows[-1][1]
    yield None, _sentences(text, start, end)


def _broken(
    text: str, start: int, end: int, words: int, largest: int
) -> Iterator[tuple[int, int, int, float]]:
    """A sentence or row, in parts if it is long; each part with what a cut after it costs."""
    if words <= largest:
        yield start, end, words, SENTENCE_CUT
        return
    broken = [
        part
        for line in _measured(text, _split(_LINES.finditer(text, start, end), start, end))
        for part in ([line] if line[2] <= largest else _groups(text, *line[:2], largest))
    ]
    parts = list(_joined(broken, largest))
    for part in parts[:-1]:
        yield *part, BROKEN_CUT
    yield *parts[-1], SENTENCE_CUT


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches that end where a sentence, a list item or a table row does."""

    def is_end(match: re.Match[str]) -> bool:
        if text[match.end() : match.end() + 1].islower():
            return not match[0] or text[match.start() - 1] not in ".!?…"
        return not _NO_SENTENCE.search(text, max(start, match.start() - 10), match.start())

    return _split(filter(is_end, _ENDS.finditer(text, start, end)), start, end)


def _split(separators: Iterable[re.Match[str]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """What stands before, between and after the separators; closing quotes stay."""
    for match in separators:
        yield start, match.end()
        start = match.end()
    yield start, end


def _measured(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """The spans trimmed, with their number of words; those without words left out."""
    for start, end in spans:
        words = word_count(text, start, end)
        if words:
            stretch = text[start:end]
            yield end - len(stretch.lstrip()), start + len(stretch.rstrip()), words


def _groups(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Runs of ``size`` words."""
    words = _WORD.finditer(text, start, end)
    while run := list(islice(words, size)):
        yield run[0].start(), run[-1].end(), len(run)


def _joined(parts: Iterable[tuple[int, int, int]], size: int) -> Iterator[tuple[int, int, int]]:
    """The parts, neighbours joined while they have no more than ``size`` words."""
    current: tuple[int, int, int] | None = None
    for start, end, words in parts:
        if current is not None and current[2] + words <= size:
            current = (current[0], end, current[2] + words)
            continue
        if current is not None:
            yield current
        current = (start, end, words)
    if current is not None:
        yield current
