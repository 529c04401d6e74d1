"""Excel: each row of a sheet a statement with its headers, under the sheet's name.

The text is extracted. A passage's line is the row of the sheet that it begins in; line
feeds in the text count the rows on from there. What is struck out is not read, nor are
hidden sheets, rows and columns. What is merged downwards is said in each row.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from openpyxl import load_workbook
from openpyxl.cell.rich_text import CellRichText
from openpyxl.utils import column_index_from_string

from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import office
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.number_format import formatted, iso
from factcheck_local.indexer.loaders.rows import Row, statements
from factcheck_local.indexer.loaders.text import reading, superscript

#: Rows that a sheet can have, as Excel has them.
MAX_ROWS = 1_048_576

#: Columns, too.
MAX_COLUMNS = 16_384

# A formula that the program which wrote it did not compute has no value to show.
_NO_VALUE = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")

# The library makes all the cells up to the one that is named; no column has four letters.
_FAR_AWAY = re.compile(rb"<c\s[^<>]*?\br\s*=\s*[\"'](?![A-Za-z]{1,3}\d{1,7}[\"'])")

# What the library does not tell of a sheet without holding all of it.
_ROW = re.compile(rb"<(?:\w+:)?row\b([^<>]*)>")
_COLUMNS = re.compile(rb"<(?:\w+:)?col\b([^<>]*)>")
_ATTRIBUTE = re.compile(rb"(?<![\w:])(r|min|max|hidden)\s*=\s*[\"'](\w+)[\"']")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\b[^<>]*?\bref\s*=\s*[\"']([A-Z]{1,3})(\d+):[A-Z]+(\d+)")

# A part of a text that is struck out or raised.
_RICH = re.compile(rb"<(?:\w+:)?(?:strike|vertAlign)\b")
_TEXTS = re.compile(rb"<(?:\w+:)?sst\b")


class _Sheet(NamedTuple):
    """What is hidden and merged in a sheet.

    Attributes:
        rows: numbers of the hidden ones.
        columns: indexes of the hidden ones, from 0, in order.
        merged: by row the cells that reach down from there: column, last row.
    """

    rows: set[int]
    columns: list[int]
    merged: dict[int, list[tuple[int, int]]]


def load(data: bytes, source: str) -> Document:
    """Read a workbook: numbers as their format shows them, formulas as last computed.

    Formulas without a stored value, and what is hidden, are counted under the metadata key
    ``left_out``. The date is that of the last change.

    Raises:
        DocumentError: if the file is empty, damaged, encrypted, too large or no
            workbook.
    """
    office.check(data, source, "XLSX")
    layout = Layout()
    left_out: Counter[str] = Counter()
    with reading(source, "XLSX"):
        sheets, rich = _surveyed(data, left_out)
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, rich_text=rich)
        try:
            sheet: Any
            for sheet in book.worksheets:
                if sheet.sheet_state != "visible":
                    left_out["hidden sheet{}"] += 1
                    continue
                sheet.reset_dimensions()  # what is written there is not always true
                layout.section(1, sheet.title)
                shape = sheets[sheet._worksheet_path]  # it has no public name
                for number, line in statements(_rows(sheet, shape, left_out), pairs=False):
                    layout.row(line, number)
            properties = book.properties
        finally:
            book.close()
    said = tuple(f"{n} {what.format('s' * (n > 1))}" for what, n in left_out.items() if n)
    metadata = {"date": office.day(properties.modified), "left_out": said}
    return layout.document(source, data, properties.title, metadata)


def _rows(sheet: Any, shape: _Sheet, left_out: Counter[str]) -> Iterator[Row]:  # noqa: ANN401
    """The rows that are not hidden, as text; what says something in the others is counted."""
    reaching: dict[int, tuple[str, int]] = {}  # by column: what, down to which row
    hidden = set()
    for number, cells in enumerate(sheet.iter_rows(max_row=MAX_ROWS), start=1):
        reaching = {c: (text, last) for c, (text, last) in reaching.items() if number <= last}
        said = [_said(cell) for cell in cells]
        if any(said):
            said += [""] * (1 + max(reaching, default=0) - len(said))
            for column, (text, _) in reaching.items():
                said[column] = text
        for column, last in shape.merged.get(number, ()):
            if column < len(said):
                reaching[column] = (said[column], last)
        for column in shape.columns:
            if column >= len(said):
                break
            if said[column]:
                hidden.add(column)
                said[column] = ""
        if number in shape.rows:
            left_out["hidden row{}"] += any(said)
        else:
            yield Row(number, said)
    left_out["hidden column{}"] += len(hidden)


def _said(cell: Any) -> str:  # noqa: ANN401
    """A cell's value as a reader sees it, but for colours and the rarer formats of numbers."""
    value = cell.value
    if value is None or (cell.has_style and cell.font.strike):
        return ""
    if isinstance(value, CellRichText):
        return "".join(map(_run, value))
    if isinstance(value, datetime.date | datetime.time):
        return iso(value)
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float | int):
        return formatted(value, cell.number_format)
    return str(value)


def _run(run: Any) -> str:  # noqa: ANN401
    """A part of a cell's text, which is a string or has a font of its own."""
    if isinstance(run, str):
        return run
    if run.font.strike:
        return ""
    return superscript(run.text) if run.font.vertAlign == "superscript" else str(run.text)


def _surveyed(data: bytes, left_out: Counter[str]) -> tuple[dict[str, _Sheet], bool]:
    """What is hidden and merged in each sheet, and whether texts have struck or raised parts.

    Formulas without a value are counted.

    Raises:
        ValueError: if a sheet has a cell where none can be.
    """
    sheets, rich = {}, False
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():  # a sheet may have any
            member = archive.read(name).replace(b"\x00", b"")  # it may be UTF-16
            if _FAR_AWAY.search(member):
                raise ValueError(f"{name} has a cell beyond any sheet")
            left_out["formula{} without a stored value"] += len(_NO_VALUE.findall(member))
            sheets[name] = _shape(member)
            rich = rich or bool(_TEXTS.search(member, 0, 1000) and _RICH.search(member))
    return sheets, rich


def _shape(member: bytes) -> _Sheet:
    """What is hidden and merged in a sheet, of which this is the XML."""
    rows: set[int] = set()
    columns: set[int] = set()
    number = 0
    merged: dict[int, list[tuple[int, int]]] = {}
    for row in _ROW.finditer(member) if b"hidden" in member else ():
        attributes = dict(_ATTRIBUTE.findall(row[1]))
        number = int(attributes.get(b"r", number + 1))
        if _is_hidden(attributes):
            rows.add(number)
    for column in _COLUMNS.finditer(member):
        attributes = dict(_ATTRIBUTE.findall(column[1]))
        if _is_hidden(attributes):
            first, last = int(attributes[b"min"]), int(attributes[b"max"])
            columns.update(range(first - 1, min(last, MAX_COLUMNS)))
    for letters, first_row, last_row in _MERGED.findall(member):
        if int(last_row) > int(first_row):
            place = (column_index_from_string(letters.decode()) - 1, int(last_row))
            merged.setdefault(int(first_row), []).append(place)
    return _Sheet(rows, sorted(columns), merged)


def _is_hidden(attributes: dict[bytes, bytes]) -> bool:
    return office.is_on(attributes.get(b"hidden", b"0").decode(), False)
