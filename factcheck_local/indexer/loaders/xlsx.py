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

from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import office
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.rows import statements
from factcheck_local.indexer.loaders.text import reading

#: Rows that a sheet can have, as Excel has them.
MAX_ROWS = 1_048_576

_PERCENT = re.compile(r"0(?:\.(0{1,15}))?%")
# A formula that the program which wrote it did not compute has no value to show.
_NO_VALUE = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")

# The library makes all the cells up to the one that is named; no column has four letters.
_FAR_AWAY = re.compile(rb"<c\s[^<>]*?\br\s*=\s*[\"'](?![A-Za-z]{1,3}\d{1,7}[\"'])")


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
    with reading(source, "XLSX"):
        uncomputed = _uncomputed(data)
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
        if uncomputed:
            count = f"{uncomputed} formula{'s' * (uncomputed > 1)}"
            metadata["left_out"] = (f"{count} without a stored value",)
    return layout.document(source, data, title, metadata)


def _rows(sheet: Any) -> Iterator[tuple[int, Sequence[str]]]:  # noqa: ANN401
    """Number and cells of each row, as text."""
    for number, cells in enumerate(sheet.iter_rows(max_row=MAX_ROWS), start=1):
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
    """Number of formulas without a value.

    Raises:
        ValueError: if a sheet has a cell where none can be.
    """
    count = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():  # a sheet may have any
            member = archive.read(name).replace(b"\x00", b"")  # it may be UTF-16
            if _FAR_AWAY.search(member):
                raise ValueError(f"{name} has a cell beyond any sheet")
            count += len(_NO_VALUE.findall(member))
    return count
