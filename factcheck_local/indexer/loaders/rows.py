"""Rows of a table as statements that are understood by themselves: "header: value; …"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from factcheck_local.indexer.loaders.text import one_line, shortened

#: Rows from the top among which the header is looked for.
LOOK_AHEAD = 20

#: Columns that a cell can reach over, as browsers have them.
MAX_ACROSS = 1000

#: Characters and cells that the spans of a table may add to it; further ones are not read.
MAX_ADDED = 1_000_000

_SPAN = re.compile(r"\s*\d{1,5}")
_YEAR = re.compile(r"(?:19|20)\d\d")


class Cell(NamedTuple):
    """A cell of a table.

    Attributes:
        text: what it says.
        down: rows that it reaches over, with its own; 0 for all below.
        across: columns that it reaches over.
    """

    text: str
    down: int = 1
    across: int = 1


def span(stated: str | None) -> int:
    """A number of rows or columns as a table's markup states it; 1 without one."""
    found = _SPAN.match(stated or "")
    return int(found[0]) if found else 1


def grid(rows: Iterable[Iterable[Cell]]) -> Iterator[list[str]]:
    """The cells of each row by column.

    What reaches over several rows is said in each that says something itself; of what
    reaches over several columns, the others are empty.

    Args:
        rows: the cells that begin in each row; spans may be any numbers from 0.

    Yields:
        A row's cells, none where it says nothing.
    """
    room = MAX_ADDED
    reaching: dict[int, tuple[str, int]] = {}  # by column: what, over how many rows from here
    for row in rows:
        cells = {column: text for column, (text, _) in reaching.items()}
        room -= sum(1 + len(text) for text in cells.values())
        reaching = {c: (text, down - 1) for c, (text, down) in reaching.items() if down != 1}
        speaks, column = False, 0
        for text, down, across in row:
            while column in cells:
                column += 1
            speaks = speaks or bool(text)
            for at in range(column, column + max(1, min(across, MAX_ACROSS, room))):
                said = text if at == column else ""
                if at not in cells and down != 1:
                    reaching[at] = (said, down - 1)
                cells.setdefault(at, said)
            room -= at - column
            column = at + 1
        if room <= 0:
            reaching = {}
        yield [cells.get(at, "") for at in range(max(cells) + 1)] if speaks else []


def statements(rows: Iterable[tuple[int, Sequence[str]]]) -> Iterator[tuple[int, str]]:
    """A line for each row that holds anything.

    The header is the first row as wide as a table's, if it looks like one: different
    words, or years, over at least two columns, and rows below it. It gets a line like
    the rows above it, its cells alone, so that nothing is lost where the guess is
    wrong. Without a header all rows are like that.

    Args:
        rows: number of the row, its cells.

    Yields:
        Number of the row, its statement.
    """
    filled = (
        (number, [one_line(cell) for cell in cells])
        for number, cells in rows
        if any(cell.strip() for cell in cells)
    )
    top = list(islice(filled, LOOK_AHEAD))
    at = _header(top)
    headers: list[str] = []
    for index, (number, cells) in enumerate(chain(top, filled)):
        yield number, "; ".join(_said(cells, headers))
        if index == at:
            headers = [shortened(cell.rstrip(": ")) for cell in cells]


def _said(cells: Sequence[str], headers: Sequence[str]) -> Iterator[str]:
    """The cells that hold something, each with its header where there is one."""
    for column, cell in enumerate(cells):
        if cell:
            header = headers[column] if column < len(headers) else ""
            yield f"{header}: {cell}" if header else cell


def _header(top: Sequence[tuple[int, Sequence[str]]]) -> int | None:
    """Index of the row that names the columns, None if none seems to."""
    widths = [sum(map(bool, cells)) for _, cells in top]
    wide = max(2, (max(widths, default=0) + 1) // 2)
    index = next((index for index, width in enumerate(widths) if width >= wide), None)
    if index is None or index == len(top) - 1:
        return None
    labels = [cell for cell in top[index][1] if cell]
    named = any(c.isalpha() for c in labels[0]) and all(
        any(c.isalpha() for c in label) or _YEAR.fullmatch(label) for label in labels
    )
    return index if named and len(set(labels)) == len(labels) else None
