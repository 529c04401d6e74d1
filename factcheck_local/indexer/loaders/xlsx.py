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
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from openpyxl import load_workbook

from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import office
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.rows import statements
from factcheck_local.indexer.loaders.text import reading

#: Rows that a sheet can have, as Excel has them.
MAX_ROWS = 1_048_576

#: Digits of a number; those behind them are noise.
MAX_DIGITS = 15

#: Characters of a number's format, as Excel has them.
MAX_FORMAT = 255

# A part of a number's format: zeros for its digits, and around them what is shown as it is.
_AROUND = r'(?:"[^"]*"|\\.|\[\$[^\]]*\]|[_*].|[-+()%$€£¥ \u00a0])*'
_FORMAT = re.compile(
    r"(?:\[[A-Za-z]+\d*\])?"  # a colour
    rf"(?P<before>{_AROUND})(?P<whole>#,##0|#*0{{1,15}})(?:\.(?P<places>0{{1,15}}))?(?P<after>{_AROUND})"
)
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|[_*].|(.)')
_QUOTED = re.compile(r'"[^"]*"|\\.')
_AS_SHOWN = Context(prec=4 * MAX_DIGITS, rounding=ROUND_HALF_UP)

# A formula that the program which wrote it did not compute has no value to show.
_NO_VALUE = re.compile(rb"(?:</f>|<f\b[^>]*/>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")

# The library makes all the cells up to the one that is named; no column has four letters.
_FAR_AWAY = re.compile(rb"<c\s[^<>]*?\br\s*=\s*[\"'](?![A-Za-z]{1,3}\d{1,7}[\"'])")


def load(data: bytes, source: str) -> Document:
    """Read a workbook: numbers as their format shows them, formulas as last computed.

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
    """A cell's value as a reader sees it, but for colours and the rarer formats of numbers."""
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
        raw = f"{value:.{MAX_DIGITS}g}" if isinstance(value, float) else str(value)
        return _formatted(raw, cell.number_format)
    return str(value)


def _formatted(raw: str, number_format: str) -> str:
    """A number by its format: places, thousands, percent, and the text around it.

    Args:
        raw: the number as it is stored, which it stays with a format that has more to it.
        number_format: as the workbook has it; its second part is that of negative numbers.
    """
    value = Decimal(raw)
    parts = number_format[:MAX_FORMAT].split(";")
    own = value < 0 and len(parts) > 1
    found = _FORMAT.fullmatch(parts[own])
    if found is None or not value.is_finite() or value.adjusted() >= MAX_DIGITS:
        return raw
    before, after = _literal(found["before"]), _literal(found["after"])
    if own and not {"-", "("} & {*before} and any(map(str.isalpha, before + after)):
        return raw  # it may be the words that say that it is negative
    if own:  # which also brackets or a colour say, but not to a model
        before, after = before.strip("- ("), after.rstrip(") ")
    percent = "%" in _QUOTED.sub("", parts[own])
    places = len(found["places"] or "")
    shown = abs(value.scaleb(2 * percent)).quantize(Decimal(1).scaleb(-places), context=_AS_SHOWN)
    whole = f"{shown:,f}" if "," in found["whole"] else f"{shown:f}"
    digits = whole.zfill(found["whole"].count("0") + places + (places > 0))
    sign = "-" if value < 0 and shown else ""
    return f"{sign}{before}{digits}{after}".strip()


def _literal(part: str) -> str:
    """What stands before or behind the digits, without what only moves it about."""
    return "".join(text for found in _LITERAL.findall(part) for text in found)


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
