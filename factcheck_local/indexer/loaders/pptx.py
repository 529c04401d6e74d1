"""PowerPoint: a page for each slide, its title as heading, its notes labelled as such.

Offsets are offsets in the extracted text, where a form feed stands between slides.
Pictures and SmartArt have no text that could be read here; slides that hold nothing
else are listed. What is struck out or hidden is not read; hidden slides are listed, and keep
their numbers. Paragraphs of several levels are written as a list of Markdown.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterable, Iterator
from typing import Any

from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel
from pptx import Presentation
from pptx.chart.chart import Chart
from pptx.oxml.ns import qn
from pptx.slide import Slide
from pptx.text.text import TextFrame

from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import office
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.number_format import formatted, is_date, iso
from factcheck_local.indexer.loaders.rows import Cell, grid, statements
from factcheck_local.indexer.loaders.text import (
    first_of,
    fraction,
    listing,
    one_line,
    reading,
    superscript,
)

NOTES = "Speaker notes"

#: What PowerPoint itself calls a presentation that nobody gave a title.
_DEFAULT_TITLE = "PowerPoint Presentation"

_TEXT = (qn("a:t"), office.MATH_TEXT)


def load(data: bytes, source: str) -> Document:
    """Read a presentation; the date is that of its last change.

    Slides without text, and hidden ones, are listed under the metadata key ``left_out``.

    Raises:
        DocumentError: if the file is empty, damaged, encrypted, too large or no
            presentation.
    """
    office.check(data, source, "PPTX")
    layout = Layout()
    silent, hidden = [], []
    with reading(source, "PPTX"):
        deck = Presentation(io.BytesIO(data))
        for number, slide in enumerate(deck.slides, start=1):
            layout.page()
            if not office.is_on(slide.element.get("show"), True):
                hidden.append(number)
                continue
            blocks = len(layout.blocks)
            _slide(layout, slide)
            if len(layout.blocks) == blocks:
                silent.append(number)
        properties = deck.core_properties
        title = properties.title if properties.title != _DEFAULT_TITLE else None
        day = office.day(properties.modified)
    notes = {"no text on slide": silent, "hidden: slide": hidden}
    left_out = tuple(f"{note} {first_of(numbers)}" for note, numbers in notes.items() if numbers)
    return layout.document(source, data, title, {"date": day, "left_out": left_out})


def _slide(layout: Layout, slide: Slide) -> None:
    """Lay out the title, the shapes in their order, the notes."""
    _choose(slide.element)
    title = slide.shapes.title
    if title is not None and not _is_hidden(title):
        layout.heading(1, _line(title.text_frame))
    for shape in _shapes(slide.shapes):
        if title is not None and shape.element is title.element:  # ids may be there twice
            continue
        if shape.has_text_frame:
            layout.block(_text(shape.text_frame))
        elif getattr(shape, "has_table", False) and shape.has_table:
            for _, line in statements(grid(_rows(shape.table))):
                layout.block(line)
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            layout.block("\n".join(_chart(shape.chart)))
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and (said := _text(notes)):
        layout.heading(2, NOTES)
        layout.prose(said)


def _choose(slide: Any) -> None:  # noqa: ANN401
    """Put what a slide offers to newer programs, or else to others, where the library sees it."""
    for offer in list(slide.iter(f"{office.OFFERS}AlternateContent")):
        kinds = (f"{office.OFFERS}Choice", f"{office.OFFERS}Fallback")
        chosen = next((each for kind in kinds for each in offer.iterfind(kind) if len(each)), ())
        for element in list(chosen):
            offer.addprevious(element)
        offer.getparent().remove(offer)


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """The shapes that are not hidden, those within groups too."""
    for shape in shapes:
        if _is_hidden(shape):
            continue
        inner = getattr(shape, "shapes", None)
        if inner is None:
            yield shape
        else:
            yield from _shapes(inner)


def _is_hidden(shape: Any) -> bool:  # noqa: ANN401
    """Whether a shape is switched off."""
    properties = shape.element.find(f"./*/{qn('p:cNvPr')}")
    return properties is not None and office.is_on(properties.get("hidden"), False)


def _text(frame: TextFrame) -> str:
    """The paragraphs, a line each, or an item of a list if they have several levels."""
    lines = list(_lines(frame))
    if any(level for _, level in lines):
        return listing([(line, level, None) for line, level in lines])
    return "\n".join(line for line, _ in lines)


def _line(frame: TextFrame) -> str:
    """The paragraphs on one line."""
    return one_line(" ".join(line for line, _ in _lines(frame)))


def _lines(frame: TextFrame) -> Iterator[tuple[str, int]]:
    """The paragraphs that say something, and their levels from 0."""
    for paragraph in frame.paragraphs:
        if line := "".join(_pieces(paragraph._p)).strip():
            yield line, min(paragraph.level, office.MAX_LEVELS - 1)


def _pieces(element: Any) -> Iterator[str]:  # noqa: ANN401
    """The text of a paragraph, piece by piece, without what is struck out."""
    for child in element:
        own = child.find(qn("a:rPr"))
        if child.tag == qn("a:br"):
            yield "\n"
        elif child.tag in _TEXT:
            yield child.text or ""
        elif child.tag == office.FRACTION:
            parts = (part for part in child if part.tag in office.FRACTION_PARTS)
            yield fraction(*("".join(_pieces(part)) for part in parts))
        elif own is None or own.get("strike", "noStrike") == "noStrike":
            said = _pieces(child)
            yield from [superscript("".join(said))] if _is_raised(child, own) else said


def _is_raised(element: Any, own: Any) -> bool:  # noqa: ANN401
    """Whether an element stands above the line, as its own format, if any, or a formula has it."""
    baseline = "0" if own is None else own.get("baseline", "0")  # percent, or thousandths of one
    return element.tag == office.RAISED or float(baseline.rstrip("%")) > 0


def _rows(table: Any) -> Iterator[list[Cell]]:  # noqa: ANN401
    """The cells that begin in each row.

    The first are marked where the table's look has them stand out and no first row, which new
    tables have.
    """
    names_rows = table.first_col and not table.first_row
    for row in table.rows:
        cells = enumerate(row.cells)
        yield [
            Cell(
                _line(cell.text_frame),
                cell.span_height if cell.is_merge_origin else 1,
                cell.span_width if cell.is_merge_origin else 1,
                names_rows and not column,
            )
            for column, cell in cells
            if not cell.is_spanned
        ]


def _chart(chart: Chart) -> Iterator[str]:
    """A chart's title, and its series with the value of each category.

    The library finds a point in time that grows with their number, and makes as many as
    the file says there are.
    """
    if chart.has_title and chart.chart_title.has_text_frame:
        yield chart.chart_title.text_frame.text
    marks = chart.element.iter(qn("c:date1904"))
    is_mac = any(office.is_on(mark.get("val"), True) for mark in marks)
    epoch = CALENDAR_MAC_1904 if is_mac else CALENDAR_WINDOWS_1900
    for series in chart.element.iter(qn("c:ser")):
        name = next(series.iterfind(f"{qn('c:tx')}//{qn('c:v')}"), None)
        categories = _points(series, "c:cat", epoch) | _points(series, "c:xVal", epoch)
        values = _points(series, "c:val", epoch) | _points(series, "c:yVal", epoch)
        said = [
            f"{categories[index]}: {value}" if index in categories else value
            for index, value in values.items()
        ]
        shown = (name.text if name is not None else "") or ""
        yield f"{shown} ({'; '.join(said)})" if said else shown


def _points(series: Any, of: str, epoch: datetime.datetime) -> dict[str, str]:  # noqa: ANN401
    """The categories or values of a series by index; of several levels the outermost first."""
    elements = (each for root in series.iterfind(qn(of)) for each in root.iter())
    levels = [
        {point.get("idx"): _shown(point, epoch) for point in points}
        for element in elements
        if (points := element.findall(qn("c:pt")))
    ]
    reaching, points = levels[:0:-1], {}
    above = [""] * len(reaching)
    for index, said in levels[0].items() if levels else ():
        # One of an outer level is stated where it begins.
        above = [level.get(index, last) for level, last in zip(reaching, above, strict=True)]
        points[index] = " ".join(filter(None, [*above, said]))
    return points


def _shown(point: Any, epoch: datetime.datetime) -> str:  # noqa: ANN401
    """A number as its format shows it, a date in ISO 8601; text as it is."""
    said, parent = point.findtext(qn("c:v")) or "", point.getparent()
    if parent.tag not in (qn("c:numCache"), qn("c:numLit")):
        return said
    number_format = point.get("formatCode") or parent.findtext(qn("c:formatCode")) or ""
    try:
        if is_date(number_format):
            return iso(from_excel(float(said), epoch))
        return formatted(float(said), number_format)
    except (ValueError, OverflowError):
        return said
