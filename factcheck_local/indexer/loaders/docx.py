"""Word: paragraphs, lists and tables in their order, headings by the level of their style.

Offsets are offsets in the extracted text. Tracked insertions are read, deletions are
not, nor is what is struck out or hidden; text boxes follow the paragraph that they are
anchored in; footnotes and endnotes stand at the end. Running headers and footers and
comments are left out. Items of lists are written as in Markdown, with their decimal
numbers.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from docx import Document as open_document
from docx.document import Document as WordDocument
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml

from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import office
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.rows import Cell, grid, statements
from factcheck_local.indexer.loaders.text import fraction, listing, one_line, reading, superscript

#: Level of a paragraph in the outline: 0 the title, 1 to 9 headings.
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)

#: Columns that a table can have, as Word has them.
MAX_COLUMNS = 63

# Word's own styles of lists, "List Bullet 2" say; "List Paragraph" is an indentation only.
_LIST = re.compile(r"list(?! paragraph)\b(?:.* ([2-9])$)?", re.IGNORECASE)

_PLACEHOLDER = re.compile(r"%(\d)")  # of a level's number, in the text of one

_UNSEEN = {qn("w:del"), qn("w:moveFrom"), qn("w:txbxContent"), f"{office.OFFERS}Fallback"}
_AROUND = {qn(f"w:{tag}") for tag in ("sdt", "sdtContent", "ins", "moveTo", "customXml")} | {
    f"{office.OFFERS}AlternateContent",
    f"{office.OFFERS}Choice",
}
_TEXT = (qn("w:t"), office.MATH_TEXT)
_SAID = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
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
        reader = _DocxReader(_Styles(word), _Numbers(word))
        reader.body(word.element.body)
        for kind, heading in _NOTES.items():
            reader.notes(word, kind, heading)
        reader.end_list()
        properties = word.core_properties
        metadata = {"date": office.day(properties.modified)}
        return reader.layout.document(source, data, properties.title, metadata)


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

    def place(self, paragraph: Any) -> _Place | None:  # noqa: ANN401
        """Where the paragraph stands in a list, None if it is no item of one."""
        chain = list(self._chain(paragraph))
        lists = (_value(each, "w:pPr/w:numPr/w:numId") for each in (paragraph, *chain))
        number = next((stated for stated in lists if stated is not None), None)
        names = (_LIST.match(_value(style, "w:name") or "") for style in chain)
        named = next(filter(None, names), None)
        if number == "0" or (number is None and named is None):
            return None  # 0 takes a paragraph out of its style's list
        levels = (_value(each, "w:pPr/w:numPr/w:ilvl") for each in (paragraph, *chain))
        stated = next((int(level) for level in levels if level is not None), 0)
        level = min(max(stated, 0), office.MAX_LEVELS - 1)
        shown = level or (int(named[1] or 1) - 1 if named else 0)
        return _Place(number, level, shown)

    def _chain(self, paragraph: Any) -> Iterator[Any]:  # noqa: ANN401
        """The paragraph's style and those that it is based on."""
        seen = set()
        name = _value(paragraph, "w:pPr/w:pStyle")
        while name in self._styles and name not in seen:
            seen.add(name)
            yield self._styles[name]
            name = _value(self._styles[name], "w:basedOn")


class _Place(NamedTuple):
    """A place in a list.

    Attributes:
        list: the list's id among the document's numberings, None if it has none.
        level: of the list, from 0.
        shown: the level that is seen; a style has a list of its own for each level.
    """

    list: str | None
    level: int
    shown: int


class _Numbers:
    """The numbers of the items of a document's lists, which its text does not have."""

    def __init__(self, word: WordDocument) -> None:
        """Read how the lists are numbered."""
        self._lists: dict[str, str] = {}  # list -> the numbering that it shares with others
        self._starts: dict[tuple[str, int], int] = {}  # (numbering, level), decimal ones
        self._alone: set[tuple[str, int]] = set()  # shown without those of levels above
        self._restarts: dict[tuple[str, int], int] = {}  # (list, level), until they are used
        self._counts: dict[str, list[int | None]] = {}  # by level
        for root in _related(word, "numbering"):
            for numbering in root.iter(qn("w:abstractNum")):
                self._learn(numbering)
            for one in root.iter(qn("w:num")):
                name = one.get(qn("w:numId"))
                self._lists[name] = _value(one, "w:abstractNumId") or ""
                for override in one.iter(qn("w:lvlOverride")):
                    start = _value(override, "w:startOverride")
                    if start is not None:
                        self._restarts[name, int(override.get(qn("w:ilvl")))] = int(start)

    def next(self, place: _Place) -> int | None:
        """The number of the next item at a place, None if it has no decimal one of its own."""
        numbering = self._lists.get(place.list or "", "")
        counts = self._counts.setdefault(numbering, [None] * office.MAX_LEVELS)
        counts[place.level + 1 :] = [None] * (office.MAX_LEVELS - place.level - 1)
        start = self._starts.get((numbering, place.level))
        if start is None:
            return None
        last = counts[place.level]
        restart = self._restarts.pop((place.list or "", place.level), None)
        number = restart if restart is not None else start if last is None else last + 1
        counts[place.level] = number
        return number if (numbering, place.level) in self._alone else None

    def _learn(self, numbering: Any) -> None:  # noqa: ANN401
        name = numbering.get(qn("w:abstractNumId"))
        for level in numbering.iter(qn("w:lvl")):
            if _value(level, "w:numFmt") in (None, "decimal", "decimalZero"):
                at = int(level.get(qn("w:ilvl")))
                self._starts[name, at] = int(_value(level, "w:start") or 1)
                if _PLACEHOLDER.findall(_value(level, "w:lvlText") or "") == [str(at + 1)]:
                    self._alone.add((name, at))


class _DocxReader:
    """Walks through a document and lays out what it finds."""

    def __init__(self, styles: _Styles, numbers: _Numbers) -> None:
        self.layout = Layout()
        self._styles = styles
        self._numbers = numbers
        self._items: list[tuple[str, int, int | None]] = []

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
        for root in _related(word, f"{kind}s"):
            notes = [
                (note.get(qn("w:id")), _said(note))
                for note in root.iter(qn(f"w:{kind}"))
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
        self.layout.block(listing(self._items))
        self._items = []

    def _paragraph(self, paragraph: Any) -> None:  # noqa: ANN401
        text = "".join(_pieces(paragraph)).strip()
        level = self._styles.level(paragraph)
        place = self._styles.place(paragraph) if text else None
        number = self._numbers.next(place) if place else None  # headings count, too
        if place is not None and level is None:
            self._items.append((text, place.shown, number))
        elif text:
            self.end_list()
            if level is None:
                self.layout.prose(text)
            else:
                self.layout.heading(level, text)
        for box in paragraph.iter(qn("w:txbxContent")):
            if not _is_fallback(box):
                self.body(box)

    def _table(self, table: Any) -> None:  # noqa: ANN401
        self.end_list()
        for _, line in statements(grid(_rows(table))):
            self.layout.block(line)


def _rows(table: Any) -> Iterator[list[Cell]]:  # noqa: ANN401
    """The cells of each row; a cell over several rows is said in each.

    The first cells are marked where the table's look has them stand out and no first row;
    to have both is the default, and other programs write neither.
    """
    names_rows = _looks(table, "firstColumn", 0x80) and not _looks(table, "firstRow", 0x20)
    above: dict[int, str] = {}
    for row in _children(table, qn("w:tr")):
        names_columns = _is_on(row, "w:trPr", "w:tblHeader")
        before = min(int(_value(row, "w:trPr/w:gridBefore") or 0), MAX_COLUMNS)
        cells = [Cell("", across=before)] if before else []
        column, texts = before, {}
        for cell in _children(row, qn("w:tc")):
            merged = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
            goes_on = merged is not None and merged.get(qn("w:val"), "continue") == "continue"
            texts[column] = above.get(column, "") if goes_on else _said(cell)
            across = min(int(_value(cell, "w:tcPr/w:gridSpan") or 1), MAX_COLUMNS)
            head = names_columns or (names_rows and not column)
            cells.append(Cell(texts[column], across=across, head=head))
            column += across
        above = texts
        yield cells


def _looks(table: Any, part: str, bit: int) -> bool:  # noqa: ANN401
    """Whether a part of a table stands out, by an attribute of its own or a bit for it."""
    look = table.find(f"{qn('w:tblPr')}/{qn('w:tblLook')}")
    if look is None:
        return False
    by_bit = bool(int(look.get(qn("w:val"), "0"), 16) & bit)
    return office.is_on(look.get(qn(f"w:{part}")), by_bit)


def _children(parent: Any, tag: str) -> Iterator[Any]:  # noqa: ANN401
    """The children with this tag, those within content controls and insertions too."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in _AROUND:
            yield from _children(child, tag)


def _related(word: WordDocument, kind: str) -> Iterator[Any]:
    """The roots of the parts of a kind that belong to a document."""
    for relation in word.part.rels.values():
        if not relation.is_external and relation.reltype.endswith(f"/{kind}"):
            yield parse_xml(relation.target_part.blob)


def _said(container: Any) -> str:  # noqa: ANN401
    """All text of a cell or a note on one line."""
    paragraphs = (p for p in container.iter(qn("w:p")) if not _is_fallback(p))
    return one_line(" ".join("".join(_pieces(p)) for p in paragraphs))


def _is_fallback(element: Any) -> bool:  # noqa: ANN401
    """Whether an element is there for programs that do not know another one, which says it too."""
    return any(parent.tag == f"{office.OFFERS}Fallback" for parent in element.iterancestors())


def _pieces(element: Any) -> Iterator[str]:  # noqa: ANN401
    """The text of a paragraph, piece by piece."""
    for child in element:
        if child.tag in _TEXT:
            yield child.text or ""
        elif child.tag in _SAID:
            yield _SAID[child.tag]
        elif child.tag in (qn("w:footnoteReference"), qn("w:endnoteReference")):
            yield f" [{child.get(qn('w:id'))}]"
        elif child.tag == office.FRACTION:
            parts = (part for part in child if part.tag in office.FRACTION_PARTS)
            yield fraction(*("".join(_pieces(part)) for part in parts))
        elif child.tag not in _UNSEEN and not _is_unread(child):
            said = _pieces(child)
            yield from [superscript("".join(said))] if _is_raised(child) else said


def _is_unread(run: Any) -> bool:  # noqa: ANN401
    """Whether a run is struck out or hidden, by its own format and not by a style."""
    return any(_is_on(run, "w:rPr", name) for name in ("w:strike", "w:dstrike", "w:vanish"))


def _is_on(element: Any, properties: str, name: str) -> bool:  # noqa: ANN401
    """Whether a property of an element is there and not switched off."""
    mark = element.find(f"{qn(properties)}/{qn(name)}")
    return mark is not None and office.is_on(mark.get(qn("w:val")), True)


def _is_raised(element: Any) -> bool:  # noqa: ANN401
    """Whether an element is a run that is a superscript by its own format, or one of a formula."""
    return element.tag == office.RAISED or _value(element, "w:rPr/w:vertAlign") == "superscript"


def _value(element: Any, path: str) -> str | None:  # noqa: ANN401
    """The ``w:val`` of the element at a path, None where there is none."""
    for step in path.split("/"):
        element = element.find(qn(step))
        if element is None:
            return None
    value = element.get(qn("w:val"))
    return None if value is None else str(value)
