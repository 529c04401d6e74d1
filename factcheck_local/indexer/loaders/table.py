"""CSV and TSV: each row a statement with its headers.

The text is extracted, with its rows in the lines that they begin in in the file, so
that a line of the text is a line of the file.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.rows import Row, statements
from factcheck_local.indexer.loaders.text import decode_any

if TYPE_CHECKING:
    from _csv import Reader

#: Characters and rows from which the delimiter is found out.
SAMPLE, SAMPLE_ROWS = 65_536, 50

#: Of those that cut a text equally well the first is taken: a comma may be of decimals.
DELIMITERS = ";\t|,"

_STATED = re.compile(r"sep=(.)[ \t]*(?=\r|\n|\Z)")  # Excel's way to say it, in the first line


def load(data: bytes, source: str) -> Document:
    """Read a table, by its delimiter: stated, the tab in a TSV, or found out.

    Raises:
        DocumentError: if the bytes are not text, or a row cannot be told from the next.
    """
    text = decode_any(data, source)
    layout = Layout()
    for line, statement in statements(_rows(text, source), pairs=False):
        layout.row(statement, line)
    return layout.document(source, data)


def _rows(text: str, source: str) -> Iterator[Row]:
    """The rows, each with the number of the line that it begins in.

    Raises:
        DocumentError: if a quote is not closed, or stands where none may.
    """
    stated = _STATED.match(text)
    if stated:
        delimiter = stated[1]
    elif source.lower().endswith(".tsv"):
        delimiter = "\t"
    else:
        delimiter = _delimiter(text)
    reader = _reader(text, delimiter, spaced=_is_spaced(text, delimiter))
    begin = 1
    try:
        for cells in reader:
            if not (stated and begin == 1):
                yield Row(begin, cells)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise DocumentError(f"{source}: row at line {begin} cannot be read: {error}") from error


def _reader(text: str, delimiter: str, *, spaced: bool) -> Reader:
    """A reader that refuses quotes where none may be.

    Args:
        text: the table.
        delimiter: what parts its cells.
        spaced: whether the spaces behind a delimiter are no part of a cell.
    """
    lines = io.StringIO(text, newline="")
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=spaced, strict=True)


def _is_spaced(text: str, delimiter: str) -> bool:
    """Whether quotes behind a delimiter and spaces enclose cells: it can be read like that."""
    if f'{delimiter} "' not in text:
        return False
    try:
        deque(_reader(text, delimiter, spaced=True), maxlen=0)
    except csv.Error:
        return False
    return True


def _delimiter(text: str) -> str:
    """The delimiter that cuts most rows into the same number of cells, at least two."""
    lines = io.StringIO(text[:SAMPLE], newline="").readlines()
    if len(text) > SAMPLE:
        lines = lines[:-1] or lines  # the last one is cut off

    def agreement(delimiter: str) -> tuple[int, int]:
        widths: Counter[int] = Counter()
        try:
            reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
            for cells in islice(reader, SAMPLE_ROWS):
                widths[len(cells)] += len(cells) > 1
        except csv.Error:
            return 0, 0
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return (count, width) if count else (0, 0)

    return max(DELIMITERS, key=agreement)
