"""Word: paragraphs, lists and tables in their order, headings by the level of their style.

Offsets are offsets in the extracted text. Tracked insertions are read, deletions are
not, nor is what is struck out; text boxes follow the paragraph that they are anchored
in; footnotes and endnotes stand at the end. Running headers and footers and comments
are left out.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from docx import Document as open_document
from docx.document import Document as WordDocument
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml

from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import office
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.rows import statements
from factcheck_local.indexer.loaders.text import one_line, reading, superscript

#: Level of a paragraph in the outline: 0 the title, 1 to 9 headings.
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)

#: Columns that a table can have, as Word has them.
MAX_COLUMNS = 63

# Word's own styles of lists; "List Paragraph" is an indentation only.
_LIST = re.compile(r"list(?! paragraph)\b", re.IGNORECASE)

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_UNSEEN = {qn("w:del"), qn("w:moveFrom"), qn("w:txbxContent"), f"{_MC}Fallback"}
_AROUND = {qn(f"w:{tag}") for tag in ("sdt", "sdtContent", "ins", "moveTo", "customXml")} | {
    f"{_MC}AlternateContent",
    f"{_MC}Choice",
}
_SAID = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_OFF = ("false", "0", "off")
_TEXT = {qn("w:t"), qn("m:t")}
_NOTES = {"footnote": "Footnotes", "endnote": "Endnotes"}


def load(data: bytes, source: str) -> Document:
    """Read a Word document; the date is that of its last change.

    Raises:
        DocumentError: if the file is empty, damaged, encrypted, too large or no
            Word document.
    """
    office.check(data, source, "DOCX")
    with reading(source, "DOCX"):
        word = open_document(io.BytesIO(data))
        reader = _DocxReader(_Styles(word))
        reader.body(word.element.body)
        for kind, heading in _NOTES.items():
            reader.notes(word, kind, heading)
        reader.end_list()
        properties = word.core_properties
        return reader.layout.document(source, data, properties.title, office.metadata(properties))


class _Styles:
    """What the styles of a document say of paragraphs."""

    def __init__(self, word: WordDocument) -> None:
        self._styles = {
            style.get(qn("w:styleId")): style for style in word.styles.element.iter(qn("w:style"))
        }

    def level(self, paragraph: Any) -> int | None:  # noqa: ANN401
        """The level in the outline, None for body text."""
        own = _value(paragraph, "w:pPr/w:outlineLvl")
        if own is not None:
            return int(own) + 1 if int(own) < 9 else None
        for style in self._chain(paragraph):
            name = _value(style, "w:name") or ""
            if name.lower() == "title":
                return 0
            if found := _HEADING.fullmatch(name):
                return int(found[1])
            level = _value(style, "w:pPr/w:outlineLvl")
            if level is not None:
                return int(level) + 1 if int(level) < 9 else None
        return None

    def is_item(self, paragraph: Any) -> bool:  # noqa: ANN401
        """Whether the paragraph is an item of a list."""
        number = _value(paragraph, "w:pPr/w:numPr/w:numId")
        if number is not None:
            return number != "0"  # which takes a paragraph out of its style's list
        return any(
            _value(style, "w:pPr/w:numPr/w:numId") is not None
            or _LIST.match(_value(style, "w:name") or "")
            for style in self._chain(paragraph)
        )

    def _chain(self, paragraph: Any) -> Iterator[Any]:  # noqa: ANN401
        """The paragraph's style and those that it is based on."""
        seen = set()
        name = _value(paragraph, "w:pPr/w:pStyle")
        while name in self._styles and name not in seen:
            seen.add(name)
            yield self._styles[name]
            name = _value(self._styles[name], "w:basedOn")


class _DocxReader:
    """Walks through a document and lays out what it finds."""

    def __init__(self, styles: _Styles) -> None:
        self.layout = Layout()
        self._styles = styles
        self._items: list[str] = []

    def body(self, container: Any) -> None:  # noqa: ANN401
        """Read the paragraphs and tables of a container."""
        for element in container:
            if element.tag == qn("w:p"):
                self._paragraph(element)
            elif element.tag == qn("w:tbl"):
                self._table(element)
            elif element.tag in _AROUND:
                self.body(element)

    def notes(self, word: WordDocument, kind: str, heading: str) -> None:
        """Read the footnotes or endnotes, each by its number."""
        for relation in word.part.rels.values():
            if relation.is_external or not relation.reltype.endswith(f"/{kind}s"):
                continue
            notes = [
                (note.get(qn("w:id")), _said(note))
                for note in parse_xml(relation.target_part.blob).iter(qn(f"w:{kind}"))
                if note.get(qn("w:type"), "normal") == "normal"  # not a line between columns
            ]
            said = [f"[{number}] {text}" for number, text in notes if text]
            if said:
                self.end_list()
                self.layout.heading(1, heading)
                for text in said:
                    self.layout.block(text)

    def end_list(self) -> None:
        """Lay out the items read so far as one block."""
        self.layout.block("\n".join(self._items))
        self._items = []

    def _paragraph(self, paragraph: Any) -> None:  # noqa: ANN401
        text = "".join(_pieces(paragraph)).strip()
        level = self._styles.level(paragraph)
        if text and level is None and self._styles.is_item(paragraph):
            self._items.append(f"- {text}")
        elif text:
            self.end_list()
            if level is None:
                self.layout.prose(text)
            else:
                self.layout.heading(level, text)
        for box in paragraph.iter(qn("w:txbxContent")):
            if not any(parent.tag == f"{_MC}Fallback" for parent in box.iterancestors()):
                self.body(box)

    def _table(self, table: Any) -> None:  # noqa: ANN401
        self.end_list()
        rows = enumerate(_rows(table), start=1)
        self.layout.block("\n".join(line for _, line in statements(rows)))


def _rows(table: Any) -> Iterator[list[str]]:  # noqa: ANN401
    """The cells of each row by column; a cell over several rows is said in each."""
    above: dict[int, str] = {}
    for row in _children(table, qn("w:tr")):
        cells: dict[int, str] = {}
        column = min(int(_value(row, "w:trPr/w:gridBefore") or 0), MAX_COLUMNS)
        for cell in _children(row, qn("w:tc")):
            merged = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
            goes_on = merged is not None and merged.get(qn("w:val"), "continue") == "continue"
            cells[column] = above.get(column, "") if goes_on else _said(cell)
            column += min(int(_value(cell, "w:tcPr/w:gridSpan") or 1), MAX_COLUMNS)
        above = cells
        yield [cells.get(index, "") for index in range(min(column, max(cells, default=-1) + 1))]


def _children(parent: Any, tag: str) -> Iterator[Any]:  # noqa: ANN401
    """The children with this tag, those within content controls and insertions too."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in _AROUND:
            yield from _children(child, tag)


def _said(container: Any) -> str:  # noqa: ANN401
    """All text of a cell or a note on one line."""
    return one_line(" ".join("".join(_pieces(p)) for p in container.iter(qn("w:p"))))


def _pieces(element: Any) -> Iterator[str]:  # noqa: ANN401
    """The text of a paragraph, piece by piece."""
    for child in element:
        if child.tag in _TEXT:
            yield child.text or ""
        elif child.tag in _SAID:
            yield _SAID[child.tag]
        elif child.tag in (qn("w:footnoteReference"), qn("w:endnoteReference")):
            yield f" [{child.get(qn('w:id'))}]"
        elif child.tag not in _UNSEEN and not _is_struck(child):
            said = _pieces(child)
            yield from [superscript("".join(said))] if _is_raised(child) else said


def _is_struck(run: Any) -> bool:  # noqa: ANN401
    """Whether an element is a run that is struck out, by its own format and not by a style."""
    marks = (run.find(f"{qn('w:rPr')}/{qn(name)}") for name in ("w:strike", "w:dstrike"))
    return any(mark is not None and mark.get(qn("w:val")) not in _OFF for mark in marks)


def _is_raised(element: Any) -> bool:  # noqa: ANN401
    """Whether an element is a run that is a superscript by its own format, or one of a formula."""
    return element.tag == qn("m:sup") or _value(element, "w:rPr/w:vertAlign") == "superscript"


def _value(element: Any, path: str) -> str | None:  # noqa: ANN401
    """The ``w:val`` of the element at a path, None where there is none."""
    for step in path.split("/"):
        element = element.find(qn(step))
        if element is None:
            return None
    value = element.get(qn("w:val"))
    return None if value is None else str(value)
