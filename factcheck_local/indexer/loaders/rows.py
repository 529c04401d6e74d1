"""Rows of a table as statements that are understood by themselves: "header: value; …"."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
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
_NOTHING = re.compile(r"[\W_]*|n[/.]?a\.?|none|tb[ad]", re.IGNORECASE)


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


class Section(NamedTuple):
    """A row that is not marked as a header, with the marked ones right above it.

    Attributes:
        above: those that name nothing: titles, and headers that another one follows.
        header: those that name the columns together; empty if none does.
        rows: titles below the header, then the row itself; at the end of a table only marked
            ones, with nothing below them.
    """

    above: Sequence[Row]
    header: Sequence[Row]
    rows: Sequence[Row]


class _Filled(NamedTuple):
    """A row that says something, and whether it is the first or behind an empty one."""

    apart: bool
    row: Row


class _Column(NamedTuple):
    """A column by its index: what may be its label, and the cells below that say something."""

    at: int
    label: str
    below: Sequence[str]


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
            wide = max(1, min(across, MAX_ACROSS, room))
            named = min(wide, MAX_NAMED, 1 + max(0, room) // (1 + len(text)))
            for at in range(column, column + wide):
                said = text if at == column else ""
                if at not in cells and down != 1:
                    reaching[at] = (said, down - 1)
                cells.setdefault(at, said)
                names.setdefault(at, text if at - column < named else "")
            room -= wide - 1 + head * (named - 1) * len(text)
            column += wide
        if room <= 0:
            reaching = {}
        if not marks:
            yield Row(number, [])
            continue
        columns = range(max(cells) + 1)
        header = [names.get(at, "") for at in columns] if marks == {True} else []
        if in_body and header and not _is_title(header):
            header = header if _are_names([name for name in header if name]) else []
        in_body = in_body or not header
        yield Row(number, [cells.get(at, "") for at in columns], header if True in marks else None)


def sections(rows: Iterable[Row], *, one_column: bool = False) -> Iterator[Section]:
    """A table's rows, each with the header that begins above it.

    The last header above a row names the columns. One right above that belongs to it if a
    cell of it reaches over several columns or rows.

    Args:
        rows: those that say something.
        one_column: whether the table has a single column, where a title cannot be told
            from a header and is taken for one.
    """
    marked: list[Row] = []
    for row in rows:
        if row.names:
            marked.append(row)
            continue
        heads = {at for at, each in enumerate(marked) if one_column or not _is_title(each.names)}
        end = max(heads, default=-1) + 1
        first = max(0, end - 1)
        while first - 1 in heads and _reaches(marked[first - 1], marked[first]):
            first -= 1
        yield Section(marked[:first], marked[first:end], [*marked[end:], row])
        marked = []
    if marked:
        yield Section([], [], marked)


def joined(header: Sequence[Row]) -> list[str]:
    """What the rows of a header name each column: "2023" above "Q1" is "2023 Q1"."""
    columns = zip_longest(*(row.names or () for row in header), fillvalue="")
    return [" ".join(dict.fromkeys(filter(None, column))) for column in columns]


def statements(rows: Iterable[Row], *, pairs: bool = True) -> Iterator[tuple[int, str]]:
    """A line for each row that holds anything.

    Rows that are marked as a header name the columns of those below, see `sections`. Without
    any marks the header is the first row as wide as the table's, if it looks like one; behind
    an empty row another table may begin, see `_beginning`. A header gets a line like the
    rows above it, its cells alone, so that nothing is lost where the guess is wrong.
    Without a header all rows are like that.

    Args:
        rows: of one table or several, those that say nothing among them.
        pairs: whether two columns may as well be names and values, without a header.

    Yields:
        Number of the row, its statement.
    """
    filled = _filled(rows)
    top = list(islice(filled, LOOK_AHEAD))
    every = chain(top, filled)
    is_marked = any(row.names is not None and not _is_title(row.names) for _, row in top)
    said = _by_marks(row for _, row in every) if is_marked else _by_guess(every, pairs)
    for row, headers in said:
        yield row.number, "; ".join(_said(row.cells, headers))


def _by_marks(rows: Iterable[Row]) -> Iterator[tuple[Row, Sequence[str]]]:
    """Each row with the headers that it is read by."""
    headers: Sequence[str] = ()
    for above, header, below in sections(rows):
        yield from ((row, ()) for row in (*above, *header))
        headers = _prefixes(joined(header)) if header else headers
        yield from ((row, () if row.names else headers) for row in below)


def _by_guess(filled: Iterator[_Filled], pairs: bool) -> Iterator[tuple[Row, Sequence[str]]]:
    """Each row with the headers that it seems to have."""
    ahead = deque(islice(filled, LOOK_AHEAD))
    headers: Sequence[str] | None = None  # until the first row
    above: deque[Sequence[str]] = deque(maxlen=LOOK_AHEAD)  # rows, up to the header
    away = -1  # rows to the header that was found
    while ahead:
        apart, row = ahead[0]
        if apart and away < 0:
            headers, away = _beginning(ahead, headers, above, pairs)
        yield row, () if away >= 0 or row.names else headers or ()
        if away == 0 or (row.names and not _is_title(row.names)):
            headers = _prefixes(row.names or row.cells)
            above.clear()
        else:
            above.append(row.cells)
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


def _prefixes(names: Iterable[str]) -> list[str]:
    """The names of columns as they stand in front of cells."""
    return [shortened(name.rstrip(": ")) for name in names]


def _said(cells: Sequence[str], headers: Sequence[str]) -> Iterator[str]:
    """The cells that hold something, each with its header where it does not just repeat it."""
    for column, cell in enumerate(cells):
        if cell:
            header = headers[column] if column < len(headers) else ""
            yield cell if header in ("", cell.rstrip(": ")) else f"{header}: {cell}"


def _is_title(names: Sequence[str] | None) -> bool:
    """Whether a row that is marked as a header fills the first column only, or says it of all."""
    return names is not None and any(names[:1]) and {*names[1:]} <= {"", names[0]}


def _reaches(row: Row, below: Row) -> bool:
    """Whether a cell of a header's row reaches over several columns, or into the row below."""
    columns = zip_longest(row.names or (), row.cells, below.names or (), fillvalue="")
    return any(name and (not cell or name == lower) for name, cell, lower in columns)


def _beginning(
    top: Sequence[_Filled],
    headers: Sequence[str] | None,
    above: Iterable[Sequence[str]],
    pairs: bool,
) -> tuple[Sequence[str], int]:
    """The headers from here on, where a table may begin, and how many rows on its own is.

    The rows may also go on with the table above. They begin another one if a row that looks
    like a header names a column that the one above has, or has words over numbers where
    that has none. Where it may as well be data, it is neither read as a header nor by the
    one above.

    Args:
        top: the next rows.
        headers: of the table above; None if there is none.
        above: its last rows.
        pairs: as for `statements`.

    Returns:
        Headers, and -1 if no header was found.
    """
    found = _header(top, pairs)
    if headers is None:
        return (), -1 if found is None else found[0]
    if found is None:
        return headers, -1
    at, columns = found
    kinds = [(column, _kind(label), _kinds(below)) for column, label, below in columns]
    if any(kind == "code" and below == {"code"} for _, kind, below in kinds):
        return headers, -1  # "n8" above "n9"
    numbers = {
        column for cells in above for column, cell in enumerate(cells) if _kind(cell) == "number"
    }
    differs = any(
        kind not in ("", "number") and below == {"number"} and column not in numbers
        for column, kind, below in kinds
    )
    same = {column.label for column in columns} & {*headers}
    return (), at if differs or same else -1


def _header(top: Sequence[_Filled], pairs: bool) -> tuple[int, list[_Column]] | None:
    """Index of the row that names the columns, and these; None if none seems to.

    Its labels are words, signs ("#", "%") or dates, over other cells. Of names and values
    the values are numbers and words together.
    """
    widths = [sum(map(bool, entry.row.cells)) for entry in top]
    most = max(widths, default=0)
    wide = max(2, (most + 1) // 2)
    at = next((index for index, width in enumerate(widths) if width >= wide), None)
    if at is None or at == len(top) - 1:
        return None
    columns = _columns(top, at)
    values = _kinds(columns[1].below)
    if pairs and most == 2 and "number" in values and len(values) > 1:
        return None
    is_header = _are_names([column.label for column in columns]) and not _are_values(columns)
    return (at, columns) if is_header else None


def _columns(top: Sequence[_Filled], at: int) -> list[_Column]:
    """The labels of a row that may be a header, and what each has below it.

    That is up to an empty row, unless it is right below; without repeats of the header.
    """
    labels, below = top[at].row.cells, list(islice(top, at + 1, None))
    end = next((n for n, entry in enumerate(below) if n and entry.apart), len(below))
    rows = [entry.row.cells for entry in below[:end] if entry.row.cells != labels]
    return [
        _Column(
            column,
            label,
            [cells[column] for cells in rows if column < len(cells) and cells[column]],
        )
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


def _are_values(columns: Iterable[_Column]) -> bool:
    """Whether a label is rather a value: a date among dates, or what the column says again."""
    return any(
        (below and all(map(_PERIOD.fullmatch, below)))
        if _PERIOD.fullmatch(label)
        else label in below
        for _, label, below in columns
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
