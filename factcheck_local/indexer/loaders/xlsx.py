"""Excel: each row of a sheet a statement with its headers, under the sheet's name.

The text is extracted. A passage's line is the row of the sheet that it begins in; line
feeds in the text count the rows on from there.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from openpyxl import load_workbook

from factcheck_local.indexer.loaders import office
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.rows import statements
from factcheck_local.types import Document

_PERCENT = re.compile(r"0(?:\.(0+))?%")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
# A formula that the program which wrote it did not compute has no value to show.
_NO_VALUE = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")


def load(data: bytes, source: str) -> Document:
    """Read a workbook: values as stored, formulas as last computed.

    Formulas without a stored value are counted under the metadata key ``left_out``.
    The date is that of the last change.

    Raises:
        DocumentError: if the file is empty, damaged, encrypted, too large or no
            workbook.
    """
    office.check(data, source, "XLSX")
    layout = Layout()
    with office.reading(source, "XLSX"):
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        try:
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # what is written there is not always true
                layout.section(1, sheet.title)
                for number, line in statements(_rows(sheet)):
                    layout.row(line, number)
            metadata = office.metadata(book.properties)
            title = book.properties.title
        finally:
            book.close()
        if count := _uncomputed(data):
            metadata["left_out"] = (f"{count} formula{'s' * (count > 1)} without a stored value",)
    return layout.document(source, data, title, metadata)


def _rows(sheet: Any) -> Iterator[tuple[int, Sequence[str]]]:  # noqa: ANN401
    """Number and cells of each row, as text."""
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        yield number, [_said(cell) for cell in cells]


def _said(cell: Any) -> str:  # noqa: ANN401
    """A cell's value as a reader sees it, but for the colours."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float | int):
        if found := _PERCENT.search(cell.number_format):
            return f"{value * 100:.{len(found[1] or '')}f}%"
        return f"{value:.15g}" if isinstance(value, float) else str(value)
    return str(value)


def _uncomputed(data: bytes) -> int:
    """Number of formulas without a value."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheets = filter(_SHEET.fullmatch, archive.namelist())
        return sum(len(_NO_VALUE.findall(archive.read(name))) for name in sheets)
