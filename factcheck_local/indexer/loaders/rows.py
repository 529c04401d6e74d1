"""Rows of a table as statements that are understood by themselves: "header: value; …"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from factcheck_local.indexer.loaders.text import one_line, shortened

#: Rows from the top among which the header is looked for.
LOOK_AHEAD = 20

_YEAR = re.compile(r"(?:19|20)\d\d")


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
