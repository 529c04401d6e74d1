"""PowerPoint: a page for each slide, its title as heading, its notes labelled as such.

Offsets are offsets in the extracted text, where a form feed stands between slides.
Pictures and SmartArt have no text that could be read here; slides that hold nothing
else are listed.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from pptx import Presentation
from pptx.chart.chart import Chart
from pptx.oxml.ns import qn
from pptx.slide import Slide
from pptx.text.text import TextFrame

from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import office
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.rows import statements
from factcheck_local.indexer.loaders.text import reading

NOTES = "Speaker notes"

#: What PowerPoint itself calls a presentation that nobody gave a title.
_DEFAULT_TITLE = "PowerPoint Presentation"


def load(data: bytes, source: str) -> Document:
    """Read a presentation; the date is that of its last change.

    Raises:
        DocumentError: if the file is empty, damaged, encrypted, too large or no
            presentation.
    """
    office.check(data, source, "PPTX")
    layout = Layout()
    silent = []
    with reading(source, "PPTX"):
        deck = Presentation(io.BytesIO(data))
        for number, slide in enumerate(deck.slides, start=1):
            layout.page()
            blocks = len(layout.blocks)
            _slide(layout, slide)
            if len(layout.blocks) == blocks:
                silent.append(number)
        properties = deck.core_properties
        metadata = office.metadata(properties)
        title = properties.title if properties.title != _DEFAULT_TITLE else None
    if silent:
        shown = ", ".join(map(str, silent[:10])) + (" …" if len(silent) > 10 else "")
        metadata["left_out"] = (f"no text on slide {shown}",)
    return layout.document(source, data, title, metadata)


def _slide(layout: Layout, slide: Slide) -> None:
    """Lay out the title, the shapes in their order, the notes."""
    title = slide.shapes.title
    if title is not None:
        layout.heading(1, title.text_frame.text)
    for shape in _shapes(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if shape.has_text_frame:
            layout.block(_text(shape.text_frame))
        elif getattr(shape, "has_table", False) and shape.has_table:
            rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
            layout.block("\n".join(line for _, line in statements(enumerate(rows))))
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            layout.block("\n".join(_chart(shape.chart)))
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        layout.heading(2, NOTES)
        layout.prose(_text(notes))


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    """The shapes, those within groups too."""
    for shape in shapes:
        inner = getattr(shape, "shapes", None)
        if inner is None:
            yield shape
        else:
            yield from _shapes(inner)


def _text(frame: TextFrame) -> str:
    """The paragraphs, a line each; the library has a vertical tab for a line break."""
    lines = (paragraph.text.replace("\v", "\n").strip() for paragraph in frame.paragraphs)
    return "\n".join(filter(None, lines))


def _chart(chart: Chart) -> Iterator[str]:
    """A chart's title, and its series with the value of each category.

    The library finds a point in time that grows with their number, and makes as many as
    the file says there are.
    """
    if chart.has_title and chart.chart_title.has_text_frame:
        yield chart.chart_title.text_frame.text
    for series in chart.element.iter(qn("c:ser")):
        name = next(series.iterfind(f"{qn('c:tx')}//{qn('c:v')}"), None)
        categories = _points(series, "c:cat")
        categories |= {index: _said(x) for index, x in _points(series, "c:xVal").items()}
        values = _points(series, "c:val") | _points(series, "c:yVal")
        said = [
            f"{categories[index]}: {_said(value)}" if index in categories else _said(value)
            for index, value in values.items()
        ]
        shown = (name.text if name is not None else "") or ""
        yield f"{shown} ({'; '.join(said)})" if said else shown


def _points(series: Any, of: str) -> dict[str, str]:  # noqa: ANN401
    """The categories or values of a series by index; of several levels the innermost."""
    points: dict[str, str] = {}
    for point in series.iterfind(f"{qn(of)}//{qn('c:pt')}"):
        points.setdefault(point.get("idx"), point.findtext(qn("c:v")) or "")
    return points


def _said(value: str) -> str:
    """A value without the digits that are only noise of floating point."""
    try:
        return f"{float(value):.15g}"
    except ValueError:
        return value
