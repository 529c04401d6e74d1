"""Rows of a table as statements that are understood by themselves: "header: value; …"."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from factcheck_local.indexer.loaders.text import one_line, shortened

#: Rows, from the first of a table on, among which its header is looked for.
LOOK_AHEAD = 20

#: Columns that a cell can reach over, as browsers have them.
MAX_ACROSS = 1000

#: Columns that a header can name that reaches over them; its text is in each.
MAX_NAMED = 100

#: Characters and cells that the spans of a table may add to it; further ones are not read.
MAX_ADDED = 1_000_000

_SPAN = re.compile(r"\s*\d{1,5}")
_PERIOD = re.compile(r"(?:19|20)\d\d(?:-\d\d){0,2}(?:T[\d:]+)?")  # a year or date in ISO 8601
_NUMBER = re.compile(r"(?:[A-Z]{3}\b\s?|[^\w\s]\s?){0,2}\d")  # "5", "-5 %", "€ 5", "EUR 5"
_NOTHING = re.compile(r"[\W_]*|n/?a|none|tb[ad]", re.IGNORECASE)


class Cell(NamedTuple):
    """A cell of a table.

    Attributes:
        text: what it says.
        down: rows that it reaches over, with its own; 0 for all below.
        across: columns that it reaches over.
        head: whether it is marked as the header of a column or a row.
    """

    text: str
    down: int = 1
    across: int = 1
    head: bool = False


class Row(NamedTuple):
    """A row of a table.

    Attributes:
        number: its number in the source.
        cells: what it says in each column.
        names: of a row that is marked as a header what it says of each column, a cell that
            reaches over several of them in each; empty for a row of which other cells
            are marked, or which is a row of totals; None for one without marks.
    """

    number: int
    cells: Sequence[str]
    names: Sequence[str] | None = None


class _Filled(NamedTuple):
    """A row that says something, and whether it is the first or behind an empty one."""

    apart: bool
    row: Row


def span(stated: str | None) -> int:
    """A number of rows or columns as a table's markup states it; 1 without one."""
    found = _SPAN.match(stated or "")
    return int(found[0]) if found else 1


def grid(rows: Iterable[Iterable[Cell]]) -> Iterator[Row]:
    """The cells of each row by column.

    What reaches over several rows is said in each that says something itself; of what
    reaches over several columns, the others are empty.

    Args:
        rows: the cells that begin in each row; spans may be any numbers from 0.

    Yields:
        A row, numbered from 1, without cells where it says nothing.
    """
    room = MAX_ADDED
    reaching: dict[int, tuple[str, int]] = {}  # by column: what, over how many rows from here
    in_body = False
    for number, row in enumerate(rows, start=1):
        cells = {column: text for column, (text, _) in reaching.items()}
        names = dict(cells)
        room -= sum(1 + len(text) for text in cells.values())
        reaching = {c: (text, down - 1) for c, (text, down) in reaching.items() if down != 1}
        marks, column = set(), 0  # of the cells that say something
        for text, down, across, head in row:
            while column in cells:
                column += 1
            if text:
                marks.add(head)
            for at in range(column, column + max(1, min(across, MAX_ACROSS, room))):
                said = text if at == column else ""
                if at not in cells and down != 1:
                    reaching[at] = (said, down - 1)
                cells.setdefault(at, said)
                names.setdefault(at, text if at - column < MAX_NAMED else "")
            room -= at - column
            column = at + 1
        if room <= 0:
            reaching = {}
        if not marks:
            yield Row(number, [])
            continue
        columns = range(max(cells) + 1)
        header = [names.get(at, "") for at in columns] if marks == {True} else []
        if in_body and header and not is_title(header):
            header = header if _are_names([name for name in header if name]) else []
        in_body = in_body or not header
        yield Row(number, [cells.get(at, "") for at in columns], header if True in marks else None)


def is_title(names: Sequence[str]) -> bool:
    """Whether a row that is marked as a header fills the first column only, or says it of all."""
    return any(names[:1]) and {*names[1:]} <= {"", names[0]}


def joined(headers: Iterable[Sequence[str]]) -> list[str]:
    """The names of the columns below header rows: "2023" above "Q1" is "2023 Q1".

    Args:
        headers: `Row.names` of each, from above.
    """
    columns = zip_longest(*headers, fillvalue="")
    names = (" ".join(dict.fromkeys(filter(None, column))) for column in columns)
    return [shortened(name.rstrip(": ")) for name in names]


def statements(rows: Iterable[Row]) -> Iterator[tuple[int, str]]:
    """A line for each row that holds anything.

    Rows that are marked as a header name the columns of those below, up to the next such
    rows. Without any marks the header is the first row as wide as the table's, if it
    looks like one; behind an empty row another table may begin, see `_beginning`. A header
    gets a line like the rows above it, its cells alone, so that nothing is lost where the
    guess is wrong. Without a header all rows are like that.

    Args:
        rows: of one table or several, those that say nothing among them.

    Yields:
        Number of the row, its statement.
    """
    filled = _filled(rows)
    ahead = deque(islice(filled, LOOK_AHEAD))
    marked = any(names is not None and not is_title(names) for _, (_, _, names) in ahead)
    headers: list[str] | None = None  # until the first row
    below_header = False  # one that is marked
    away = -1  # rows to the header that was found
    header: Sequence[str] = ()
    while ahead:
        apart, row = ahead[0]
        if apart and not marked and away < 0:
            headers, away = _beginning(ahead, headers)
        plain = away >= 0 or (row.names and len(ahead) > 1) or row.cells == header
        yield row.number, "; ".join(_said(row.cells, () if plain else headers or ()))
        if away == 0:
            header, headers = row.cells, joined([row.cells])
        elif not row.names:
            below_header = False
        elif not is_title(row.names) and len(ahead) > 1:
            rows_of_it = [headers or (), row.names] if below_header else [row.names]
            header, headers, below_header = row.cells, joined(rows_of_it), True
        away -= 1
        ahead.popleft()
        ahead.extend(islice(filled, 1))


def _filled(rows: Iterable[Row]) -> Iterator[_Filled]:
    """The rows that say something."""
    apart = True
    for row in rows:
        cells = [one_line(cell) for cell in row.cells]
        if any(cells):
            yield _Filled(apart, row._replace(cells=cells))
        apart = not any(cells)


def _said(cells: Sequence[str], headers: Sequence[str]) -> Iterator[str]:
    """The cells that hold something, each with its header where there is one."""
    for column, cell in enumerate(cells):
        if cell:
            header = headers[column] if column < len(headers) else ""
            yield f"{header}: {cell}" if header else cell


def _beginning(top: Sequence[_Filled], headers: Sequence[str] | None) -> tuple[list[str], int]:
    """The headers from here on, where a table may begin, and how many rows on its own is.

    The rows may also go on with the table above. They begin another one if a row that looks
    like a header is not like those below it, or names a column that the one above has,
    or one that it has not. Where it may as well be data, it is neither read as a header
    nor by the one above.

    Args:
        top: the next rows.
        headers: of the table above; None if there is none.

    Returns:
        Headers, and -1 if no header was found.
    """
    at = _header(top)
    if headers is None:
        return [], -1 if at is None else at
    if at is None:
        return list(headers), -1
    kinds = [(_kind(label), _kinds(below)) for label, below in _columns(top, at)]
    if ("code", {"code"}) in kinds:
        return list(headers), -1  # "n8" above "n9"
    differs = any(kind != "number" and below == {"number"} for kind, below in kinds)
    labels = top[at].row.cells
    more = any(label and not known for label, known in zip_longest(labels, headers))
    same = set(filter(None, headers)) & set(labels)
    return [], at if differs or same or (headers and more) else -1


def _header(top: Sequence[_Filled]) -> int | None:
    """Index of the row that names the columns, None if none seems to.

    Its labels are words, signs ("#", "%") or dates, over other cells. If there are only two
    columns, cells of one kind are below the second: numbers and words
    together are the values of names.
    """
    widths = [sum(map(bool, entry.row.cells)) for entry in top]
    most = max(widths, default=0)
    wide = max(2, (most + 1) // 2)
    at = next((index for index, width in enumerate(widths) if width >= wide), None)
    if at is None or at == len(top) - 1:
        return None
    columns = _columns(top, at)
    values = _kinds(columns[1][1])
    if most == 2 and "number" in values and len(values) > 1:
        return None
    return at if _are_names([label for label, _ in columns]) and not _are_values(columns) else None


def _columns(top: Sequence[_Filled], at: int) -> list[tuple[str, list[str]]]:
    """The labels of a row that may be a header, and what each has below it.

    That is up to an empty row, unless it is right below; without repeats of the header.
    """
    labels, below = top[at].row.cells, list(islice(top, at + 1, None))
    end = next((n for n, entry in enumerate(below) if n and entry.apart), len(below))
    rows = [entry.row.cells for entry in below[:end] if entry.row.cells != labels]
    return [
        (label, [cells[column] for cells in rows if column < len(cells) and cells[column]])
        for column, label in enumerate(labels)
        if label
    ]


def _are_names(labels: Sequence[str]) -> bool:
    """Whether labels could be those of columns: at least two, of which the first is no number."""
    return (
        len(set(labels)) > 1
        and not _PERIOD.fullmatch(labels[0])
        and any(map(_has_letter, labels))
        and all(
            _has_letter(label) or not _has_digit(label) or _PERIOD.fullmatch(label)
            for label in labels
        )
    )


def _are_values(columns: Sequence[tuple[str, Sequence[str]]]) -> bool:
    """Whether one of the labels is rather a value: a date among dates, a "yes" of many."""
    often = {label for label, count in Counter(label for label, _ in columns).items() if count > 1}
    return any(
        (below and all(map(_PERIOD.fullmatch, below)))
        if _PERIOD.fullmatch(label)
        else label in often and label in below
        for label, below in columns
    )


def _kinds(cells: Iterable[str]) -> set[str]:
    """The kinds of cells that say something."""
    return {*filter(None, map(_kind, cells))}


def _kind(cell: str) -> str:
    """What a cell is: a number with what belongs to it, words, or a code with both; "" for none."""
    if _NOTHING.fullmatch(cell):
        return ""
    if _NUMBER.match(cell):
        return "number"
    return "code" if _has_digit(cell) else "words"


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
