"""HTML: the main content as text, laid out by inscriptis.

Offsets are offsets in the extracted text. Menus, scripts, what is struck out and what
a browser does not show are left out; tables become one line a row, ``| cell | cell |``,
with the rule of a Markdown table below their header.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import PurePosixPath

from inscriptis.css_profiles import CSS_PROFILES
from inscriptis.html_engine import Inscriptis
from inscriptis.html_properties import Display, WhiteSpace
from inscriptis.model.config import ParserConfig
from inscriptis.model.html_element import HtmlElement as Style
from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Block, Document, Span
from factcheck_local.indexer.loaders.rows import Cell, grid, span
from factcheck_local.indexer.loaders.text import (
    META_KEYS,
    HeadingPath,
    decode,
    decode_any,
    first_heading,
    one_line,
    paragraphs,
    shortened,
    stated,
    superscript,
)
from factcheck_local.indexer.tables import rule_below

_HEADINGS = {f"h{level}": [str(level)] for level in range(1, 7)}
_BLOCKS = ("section", "details", "summary", "form", "fieldset", "dl", "dt", "dd")
_TABLE = "rows"  # no element of HTML: a table as lines, laid out as it is
_DROPPED = "dropped"  # no element of HTML: goes, with all that is in it
_CSS = {
    **CSS_PROFILES["strict"],
    **{tag: Style(display=Display.block) for tag in _BLOCKS},
    _TABLE: Style(
        display=Display.block, whitespace=WhiteSpace.pre, margin_before=1, margin_after=1
    ),
}

# The body itself is never dropped: pages hide it until a script has run.
_UNSEEN = etree.XPath(
    ".//script|.//style|.//noscript|.//template|.//svg|.//iframe|.//select|.//textarea"
    "|.//button|.//*[@hidden][not(self::body)]"
    "|.//*[contains(translate(@style, ' ', ''), 'display:none')][not(self::body)]"
    "|.//nav|.//*[@role='navigation' or @role='search']"
    "|.//del|.//s|.//strike|.//*[contains(@style, 'line-through')][not(self::body)]"
)
_MAIN = etree.XPath(".//main|.//*[@role='main']|(.//article)[$articles = 1]")
_FURNITURE = etree.XPath(
    ".//*[self::footer or self::aside or self::header[not(.//h1)] or @role='contentinfo'"
    " or @role='complementary' or @role='banner'][not(ancestor::article)]"
)
_TABLE_PARTS = ("tr", "td", "th", "thead", "tbody", "tfoot", "caption", "colgroup")
_CELLS = etree.XPath("./td|./th")
_BREAKS = etree.XPath(".//br|.//p|.//div|.//li|.//dt|.//dd")

_DECLARED = re.compile(
    rb"<(?:meta[^>]*?charset|\?xml[^>]*?encoding)\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE
)
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # in a tree, by lxml
_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")


def load(data: bytes, source: str) -> Document:
    """Read a page: its main content, its title, and metadata from ``<meta name=...>``.

    Raises:
        DocumentError: if the bytes are not text, by their byte order mark or else in the
            encoding that the page declares.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    name = PurePosixPath(source).name
    declared = _declared(data, source)
    page = _parsed(decode(data, source, declared) if declared else decode_any(data, source))
    if page is None:
        return Document(source, "", name, (), sha256)
    metadata = {key: value for key in META_KEYS if (value := _meta(page, key)) is not None}
    page_title = shortened(one_line(page.findtext(".//title") or ""))
    text, blocks = _content(page)
    title = page_title or first_heading(blocks) or name
    return Document(source, text, title, blocks, sha256, metadata=metadata)


def extract(html: str) -> tuple[str, tuple[Block, ...]]:
    """The text of a page's main content and its blocks, for HTML inside other formats."""
    page = _parsed(html)
    return ("", ()) if page is None else _content(page)


def _parsed(html: str) -> HtmlElement | None:
    """The page's tree; None if there is nothing in it, or nothing but comments."""
    declaration = _XML_DECLARATION.match(html)  # which lxml refuses in a text
    # huge_tree: without it the parser drops, silently, what is nested deeply
    parser = HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        page = document_fromstring(html[declaration.end() if declaration else 0 :], parser=parser)
    except etree.ParserError:
        return None
    if _UNWRITABLE.search(page.text_content()):
        for element in page.iter():
            element.text = _UNWRITABLE.sub("\ufffd", element.text or "")
            element.tail = _UNWRITABLE.sub("\ufffd", element.tail or "")
    return page


def _declared(data: bytes, source: str) -> str | None:
    """The encoding that the page declares, as browsers read it; None without a declaration."""
    declared = _DECLARED.search(data, 0, 1024)
    if declared is None or data.startswith(codecs.BOM_UTF8):
        return None
    label = declared[1].decode("ascii", "replace")
    if label.lower().startswith(("utf-16", "utf-32")):
        return None  # a declaration that could be read as ASCII cannot be true
    try:
        b"x".decode(label)  # knows text encodings only, where codecs.lookup knows others too
        name = codecs.lookup(label).name
    except (LookupError, UnicodeError) as error:
        raise DocumentError(f"{source}: declares the unknown encoding {label!r}") from error
    return "cp1252" if name in ("ascii", "iso8859-1") else name


def _meta(page: HtmlElement, name: str) -> str | float | None:
    """A metadata value, None where there is none."""
    for element in page.iterfind(".//meta[@name]"):
        if element.get("name", "").strip().lower() == name and element.get("content"):
            return stated(name, str(element.get("content")).strip())
    return None


def _content(page: HtmlElement) -> tuple[str, tuple[Block, ...]]:
    """The text of the main content and its blocks."""
    for body in page.iter("body"):
        body.attrib.pop("style", None)
    _drop(page, _UNSEEN(page))
    articles = sum(1 for _ in page.iter("article"))
    mains = _MAIN(page, articles=articles)
    main = next((found for found in mains if found.text_content().strip()), None)
    if main is None:
        _drop(page, _FURNITURE(page))
        main = page
    main.tail = None
    _write_superscripts(main)
    _flatten_tables(main)
    engine = Inscriptis(main, ParserConfig(css=_CSS, annotation_rules=_HEADINGS))
    text = engine.get_text()
    headings = ((a.start, a.end, int(a.metadata)) for a in engine.get_annotations())
    return text, tuple(_blocks(text, sorted(headings)))


def _drop(page: HtmlElement, elements: list[HtmlElement]) -> None:
    """Take elements out, their tails left; one by one that would take quadratic time."""
    for element in elements:
        element.tag = _DROPPED
    etree.strip_elements(page, _DROPPED, with_tail=False)


def _write_superscripts(root: HtmlElement) -> None:
    """Put what stands for a superscript in its place."""
    for element in list(root.iter("sup")):
        said = element.text_content()
        if (shown := superscript(said)) != said:
            element[:] = []
            element.text = shown


def _flatten_tables(root: HtmlElement) -> None:
    """Turn tables into lines, one a row; a table around tables is layout, a mere block."""
    for table in reversed(list(root.iter("table"))):  # the inner before the outer
        if table.find(f".//{_TABLE}") is None:
            lines = [*map(_line, table.iter("caption")), *_lines(list(table.iter("tr")))]
            table[:] = []
            table.text = "\n".join(filter(None, lines))
            table.tag = _TABLE
    for row in list(root.iter("tr")):  # of layout
        if row.find(f".//{_TABLE}") is None:
            said = _piped([_line(cell) for cell in _CELLS(row)])
            row[:] = []
            row.text = said
    for element in list(root.iter("table", *_TABLE_PARTS)):
        element.tag = "div"


def _lines(rows: Sequence[HtmlElement]) -> Iterator[str]:
    """A table's rows as lines, empty where they are; below the header's last one the rule.

    A header that fills the first of several columns only is a title, and gets none.
    """
    cells = list(grid([_cell(cell) for cell in _CELLS(row)] for row in rows))
    # A cell may reach over more columns than there are: "100%" is read as 100.
    wide = max((at + 1 for row in cells for at, said in enumerate(row) if said), default=0)
    cells = [row[:wide] for row in cells]
    heads = sum(1 for _ in takewhile(_is_head, rows))
    header = next((row for row in reversed(cells[:heads]) if any(row)), [])
    names = any(header[1:]) or max(map(len, cells), default=0) == 1
    yield from map(_piped, cells[:heads])
    if header and names and any(map(any, cells[heads:])):
        yield rule_below(_piped(header))
    yield from map(_piped, cells[heads:])


def _is_head(row: HtmlElement) -> bool:
    """Whether a row is one of a table's header: marked as such, but for empty corners."""
    return row.getparent().tag == "thead" or all(
        cell.tag == "th" or not cell.text_content().strip() for cell in _CELLS(row)
    )


def _cell(cell: HtmlElement) -> Cell:
    return Cell(_line(cell), span(cell.get("rowspan")), span(cell.get("colspan")))


def _piped(cells: Sequence[str]) -> str:
    """A row as a line, empty if it says nothing; a pipe within a cell is none between cells."""
    said = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return f"| {said} |" if any(cells) else ""


def _line(element: HtmlElement) -> str:
    """The text of a table's cell or caption on one line."""
    for part in _BREAKS(element):
        part.text = f" {part.text or ''}"
        part.tail = f" {part.tail or ''}"
    return " ".join(element.text_content().split())


def _blocks(text: str, headings: list[tuple[int, int, int]]) -> Iterator[Block]:
    """Paragraphs between the headings, which come as (start, end, level)."""
    outline = HeadingPath()
    position = 0
    for start, end, level in headings:
        said = text[start:end].strip()
        if start < position or not said:
            continue  # a heading within a heading, or an empty one
        yield from paragraphs(text, position, start, outline.path)
        start = text.index(said, start)
        position = start + len(said)
        outline.enter(level, " ".join(said.split()))
        yield Block(Span(start, position), outline.path, is_heading=True)
    yield from paragraphs(text, position, len(text), outline.path)
