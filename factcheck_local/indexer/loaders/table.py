"""CSV and TSV: each row a statement with its headers.

The text is extracted, with its rows in the lines that they begin in in the file, so
that a line of the text is a line of the file.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.rows import statements
from factcheck_local.indexer.loaders.text import decode_any

#: Characters and rows from which the delimiter is found out.
SAMPLE, SAMPLE_ROWS = 65_536, 50

DELIMITERS = ",;\t|"

_STATED = re.compile(r"sep=(.)[ \t]*(?=\r|\n|\Z)")  # Excel's way to say it, in the first line


def load(data: bytes, source: str) -> Document:
    """Read a table, by its delimiter: stated, the tab in a TSV, or found out.

    Raises:
        DocumentError: if the bytes are not text, or a row cannot be told from the next.
    """
    text = decode_any(data, source)
    layout = Layout()
    for line, statement in statements(_rows(text, source)):
        layout.row(statement, line)
    return layout.document(source, data)


def _rows(text: str, source: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Number of the line that a row begins in, its cells.

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
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begin = 1
    try:
        for cells in reader:
            if not (stated and begin == 1):
                yield begin, cells
            begin = reader.line_num + 1
    except csv.Error as error:
        raise DocumentError(f"{source}: row at line {begin} cannot be read: {error}") from error


def _delimiter(text: str) -> str:
    """The delimiter that cuts most rows into the same number of cells, at least two."""
    lines = io.StringIO(text[:SAMPLE], newline="").readlines()
    if len(text) > SAMPLE:
        lines = lines[:-1] or lines  # the last one is cut off

    def agreement(delimiter: str) -> tuple[int, int]:
        widths: Counter[int] = Counter()
        try:
            for cells in islice(csv.reader(lines, delimiter=delimiter), SAMPLE_ROWS):
                widths[len(cells)] += len(cells) > 1
        except csv.Error:
            return 0, 0
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        return (count, width) if count else (0, 0)

    return max(DELIMITERS, key=agreement)
