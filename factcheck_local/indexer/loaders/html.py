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

from inscriptis.css_profiles import CSS_PROFILES
from inscriptis.html_engine import Inscriptis
from inscriptis.html_properties import Display, WhiteSpace
from inscriptis.model.config import ParserConfig
from inscriptis.model.html_element import HtmlElement as Style
from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Block, Document, Span
from factcheck_local.indexer.loaders.rows import Cell, grid, joined, sections, span
from factcheck_local.indexer.loaders.text import (
    HeadingPath,
    decode,
    decode_any,
    fraction,
    hidden,
    named,
    one_line,
    paragraphs,
    stated_all,
    struck,
    superscript,
)
from factcheck_local.indexer.tables import rule_below

_HEADINGS = {f"h{level}": [str(level)] for level in range(1, 7)}
_HEADING = " or ".join(f"self::{tag}" for tag in _HEADINGS)
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
    # A question that opens on a click is a button in a heading.
    f"|.//button[not(ancestor::*[self::summary or {_HEADING}])]|.//*[@hidden][not(self::body)]"
    "|.//nav|.//*[@role='navigation' or @role='search']|.//annotation|.//del|.//s|.//strike"
)
_MAIN = etree.XPath(".//main|.//*[@role='main']")
_FURNITURE = etree.XPath(
    ".//*[self::footer or self::aside or self::header[not(.//h1)] or @role='contentinfo'"
    " or @role='complementary' or @role='banner'][not(ancestor::article)]"
)
_TABLE_PARTS = ("tr", "td", "th", "thead", "tbody", "tfoot", "caption", "colgroup")
_CELLS = etree.XPath("./td|./th")
_SECTIONS = etree.XPath(  # cells with a heading and what it heads, there or in another row
    f".//td[.//*[{_HEADING}]][normalize-space() != normalize-space(.//*[{_HEADING}])]"
    f"|self::*[not(.//tr[td[2]])]//td[.//*[{_HEADING}]]"
)
_STRUCTURE = etree.XPath(
    f".//*[self::table or self::{_TABLE} or self::ul or self::ol or {_HEADING}]"
)
_BREAKS = etree.XPath(".//br|.//p|.//div|.//li|.//dt|.//dd")

# An encoding is declared by an attribute or as a content type, not by what another tag says of
# one: "Set charset=utf8mb4".
_ATTRIBUTE = rb"(?>[\s/]*[^\s\"'>/=]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?)"
_DECLARED = re.compile(
    rb"<(?:meta(?=[\s/])%b*?[\s/]*charset"
    rb"|meta(?=[^>]*(?:http-equiv\s*=[\s\"']*content-type|content\s*=[\s\"']*text/html))[^>]*?charset"
    rb"|\?xml[^>]*?encoding)\s*=\s*[\"']?([\w.:-]+)" % _ATTRIBUTE,
    re.IGNORECASE,
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
    declared = _declared(data, source)
    page = _parsed(decode(data, source, declared) if declared else decode_any(data, source))
    if page is None:
        return Document(source, "", named("", (), source)[0], (), sha256)
    metadata = stated_all(_meta(page))
    page_title = page.findtext(".//title") or ""
    text, blocks = _content(page)
    title, borrowed = named(page_title, blocks, source)
    return Document(source, text, title, blocks, sha256, metadata=metadata, borrowed_title=borrowed)


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


def _meta(page: HtmlElement) -> dict[str, str]:
    """What ``<meta name=...>`` state, by name in lower case; the first of a name that says it."""
    found: dict[str, str] = {}
    for element in page.iterfind(".//meta[@name]"):
        if said := element.get("content", "").strip():
            found.setdefault(element.get("name").strip().lower(), said)
    return found


def _content(page: HtmlElement) -> tuple[str, tuple[Block, ...]]:
    """The text of the main content and its blocks."""
    for body in page.iter("body"):
        body.attrib.pop("style", None)
    _drop(page, _UNSEEN(page))
    _drop_by_style(page)
    main = _main(page)
    if main is None:
        _drop(page, _FURNITURE(page))
        main = page
    main.tail = None
    _write_superscripts(main)
    _write_fractions(main)
    _number_lists(main)
    _flatten_tables(main)
    engine = Inscriptis(main, ParserConfig(css=_CSS, annotation_rules=_HEADINGS))
    text = engine.get_text()
    headings = ((a.start, a.end, int(a.metadata)) for a in engine.get_annotations())
    return text, tuple(_blocks(text, sorted(headings)))


def _main(page: HtmlElement) -> HtmlElement | None:
    """The element with the page's main content, None without one.

    The only article counts if it has the page's first heading or most of its text: it may be
    the teaser of another page.
    """
    for main in _MAIN(page):
        if _letters(main):
            return main
    articles = list(page.iter("article"))
    if len(articles) != 1 or not _letters(articles[0]):
        return None
    heading = page.find(".//h1")
    holds = heading is not None and articles[0] in heading.iterancestors()
    return articles[0] if holds or 2 * _letters(articles[0]) > _letters(page) else None


def _letters(element: HtmlElement) -> int:
    """Length of an element's text without white space."""
    return len("".join(element.text_content().split()))


def _drop_by_style(page: HtmlElement) -> None:
    """Take out what styles hide or strike out; a cell that is struck out keeps its column."""
    gone = []
    for element in list(page.iterfind(".//*[@style]")):
        style = element.get("style")
        if hidden(style) or (struck(style) and element.tag not in ("td", "th")):
            gone.append(element)
        elif struck(style):
            element[:] = []
            element.text = None
    _drop(page, gone)


def _drop(page: HtmlElement, elements: list[HtmlElement]) -> None:
    """Take elements out, their tails left; one by one that would take quadratic time."""
    for element in elements:
        element.tag = _DROPPED
    etree.strip_elements(page, _DROPPED, with_tail=False)


def _write_superscripts(root: HtmlElement) -> None:
    """Put what stands for a superscript in its place."""
    powers = [power[1] for power in root.iter("msup") if len(power) > 1]
    for element in [*root.iter("sup"), *powers]:
        said = element.text_content()
        if (shown := superscript(said)) != said:
            element[:] = []
            element.text = shown


def _write_fractions(root: HtmlElement) -> None:
    """Put "1/2" in the place of a fraction, apart from what is in front: 2½ is no 21/2."""
    for element in reversed(list(root.iter("mfrac"))):  # the inner before the outer
        parts = [part.text_content() for part in element]
        element[:] = []
        element.text = fraction(*parts)


def _number_lists(root: HtmlElement) -> None:
    """Say at its first item where a numbered list begins; inscriptis knows items' numbers only."""
    for numbered in root.iterfind(".//ol[@start]"):
        first, start = numbered.find("li"), numbered.get("start").strip()
        if first is not None and first.get("value") is None and start.isdecimal():
            first.set("value", start)


def _flatten_tables(root: HtmlElement) -> None:
    """Turn tables into lines, one a row; a table that is layout becomes mere blocks."""
    for table in reversed(list(root.iter("table"))):  # the inner before the outer
        if not _is_layout(table):
            captions = filter(None, map(_line, table.iter("caption")))
            lines = [*captions, *_lines(list(table.iter("tr")))]
            table[:] = []
            table.text = "\n".join(lines)
            table.tag = _TABLE
    for row in list(root.iter("tr")):  # of layout
        if len(_CELLS(row)) > 1 and not _STRUCTURE(row):
            said = _piped([_line(cell) for cell in _CELLS(row)])
            row[:] = []
            row.text = said
    for element in list(root.iter("table", *_TABLE_PARTS)):
        element.tag = "div"


def _is_layout(table: HtmlElement) -> bool:
    """Whether a table only places what is in it: other tables, sections; or it says so.

    Headings alone in their cells name columns or rows where cells stand side by side.
    """
    return (
        table.get("role") in ("presentation", "none")
        or table.find(".//table") is not None
        or table.find(f".//{_TABLE}") is not None
        or (table.find(".//th") is None and bool(_SECTIONS(table)))
    )


def _lines(rows: Sequence[HtmlElement]) -> Iterator[str]:
    """A table's rows as lines, each header in one with the rule below it.

    A further header begins another table, which stands apart with the titles above it.
    """
    cells = [row for row in grid(map(_cells, rows)) if row.cells]
    # A cell may reach over more columns than there are: "100%" is read as 100.
    wide = max((at + 1 for row in cells for at, said in enumerate(row.cells) if said), default=0)
    begun = False
    for above, header, below in sections(cells, one_column=wide == 1):
        if header and begun:
            yield ""
        yield from (_piped(row.cells[:wide]) for row in above)
        if header:
            names = _piped(joined(header)[:wide])
            yield from (names, rule_below(names))
        yield from (_piped(row.cells[:wide]) for row in below)
        begun = True


def _cells(row: HtmlElement) -> list[Cell]:
    """The cells of a row; those of a header are marked as such."""
    in_head = row.getparent().tag == "thead"
    return [
        Cell(
            _line(cell),
            span(cell.get("rowspan")),
            span(cell.get("colspan")),
            in_head or cell.tag == "th",
        )
        for cell in _CELLS(row)
    ]


def _piped(cells: Sequence[str]) -> str:
    """A row as a line, empty if it says nothing; a pipe within a cell is none between cells."""
    said = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return f"| {said} |" if any(cells) else ""


def _line(element: HtmlElement) -> str:
    """The text of a table's cell or caption on one line."""
    for part in _BREAKS(element):
        part.text = f" {part.text or ''}"
        part.tail = f" {part.tail or ''}"
    return one_line(element.text_content())


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
        outline.enter(level, one_line(said))
        yield Block(Span(start, position), outline.path, is_heading=True)
    yield from paragraphs(text, position, len(text), outline.path)
