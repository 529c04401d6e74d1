"""MediaWiki's export: wikitext as text, by mwparserfromhell. `wiki` parses the XML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import mwparserfromhell
from lxml import etree
from mwparserfromhell import nodes

from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.rows import Cell, grid, span, statements
from factcheck_local.indexer.loaders.text import hidden, one_line, struck, superscript

#: Brackets that are open at a place. The parser's time grows with their square, so a text
#: with more of them is taken as it is written.
MAX_OPEN = 200

_BRACKETS = (("{{", "}}"), ("[[", "]]"), ("{|", "|}"), ("<", ">"), ("<!--", "-->"))
_MEDIA = ("file:", "image:")
_UNSEEN = ("ref", "references", "gallery", "style", "script", "templatestyles")
_STRUCK = ("s", "del", "strike")
_MARKERS = {"li": "- ", "dt": "", "dd": "", "hr": "\n\n"}  # of wikitext, empty tags in a line
_MARKED = re.compile(r"(?m)^((?:- )+) *")


def lay_out(root: etree._Element, layout: Layout) -> tuple[str | None, str | None]:
    """Write each page, as its last revision has it, under its title.

    Returns:
        The name of the site, and the day of the last change if there is one page.
    """
    pages = list(root.iterfind("{*}page"))
    day = None
    for page in pages:
        layout.heading(1, page.findtext("{*}title") or "(without a title)")
        revisions = list(page.iterfind("{*}revision"))
        if revisions:
            last = max(revisions, key=lambda one: one.findtext("{*}timestamp") or "")
            day = (last.findtext("{*}timestamp") or "")[:10]
            _page(layout, last.findtext("{*}text") or "")
    site = root.findtext("{*}siteinfo/{*}sitename")
    return site, day if len(pages) == 1 else None


def _page(layout: Layout, wikitext: str) -> None:
    """Write a page's text; its sections are below its title."""
    if any(_most_open(wikitext, *pair) > MAX_OPEN for pair in _BRACKETS):
        layout.prose(wikitext)
        return
    pending: list[str] = []
    for node in mwparserfromhell.parse(wikitext).nodes:
        if isinstance(node, nodes.Heading):
            layout.prose(_MARKED.sub(r"\1", "".join(pending)))
            pending = []
            layout.heading(max(2, node.level), _text(node.title))
        else:
            pending += _said(node)
    layout.prose(_MARKED.sub(r"\1", "".join(pending)))


def _most_open(wikitext: str, opening: str, closing: str) -> int:
    """How many brackets of a kind are open where most of them are."""
    depth = most = 0
    for match in re.finditer(f"{re.escape(opening)}|{re.escape(closing)}", wikitext):
        depth = depth + 1 if match[0] == opening else max(0, depth - 1)
        most = max(most, depth)
    return most


def _text(code: Any) -> str:  # noqa: ANN401
    """Wikitext as text."""
    return "".join(piece for node in code.nodes for piece in _said(node)) if code else ""


def _said(node: nodes.Node) -> Iterator[str]:
    """The text of a node, without its markup."""
    if isinstance(node, nodes.Text):
        yield str(node.value)
    elif isinstance(node, nodes.HTMLEntity):
        yield html.unescape(str(node))
    elif isinstance(node, nodes.Wikilink):
        title, shown = str(node.title), _text(node.text)
        if title.lower().startswith(_MEDIA):
            shown = shown.rpartition("|")[2]  # the caption is behind the sizes
            yield f"\n\n{shown}\n\n" if shown else ""
        else:
            yield shown or title.lstrip(":")
    elif isinstance(node, nodes.ExternalLink):
        yield _text(node.title) or str(node.url)
    elif isinstance(node, nodes.Template):
        yield from _template(node)
    elif isinstance(node, nodes.Tag):
        yield from _tag(node)


def _template(node: nodes.Template) -> Iterator[str]:
    """A template's values with their names: what it would show is not in the export."""
    said = []
    for parameter in node.params:
        value = one_line(_text(parameter.value))
        name = one_line(_text(parameter.name)) if parameter.showkey else ""
        if value:
            said.append(f"{name}: {value}" if name else value)
    if said:
        yield f"{one_line(_text(node.name))} ({'; '.join(said)})"


def _tag(node: nodes.Tag) -> Iterator[str]:
    """What a tag holds; list markers in their lines, the rows of tables as paragraphs."""
    name, style = _name(node), _attribute(node, "style")
    if hidden(style) or struck(style):
        return
    if name == "table":
        yield "".join(f"\n\n{line}" for _, line in statements(grid(_rows(node)))) + "\n\n"
    elif name in _MARKERS and node.wiki_markup:
        yield _MARKERS[name]
    elif name == "br":
        yield "\n"
    elif name == "sup":
        yield superscript(_text(node.contents))
    elif name not in _UNSEEN + _STRUCK:
        yield _text(node.contents)


def _rows(table: nodes.Tag) -> Iterator[list[Cell]]:
    """The caption and the cells of each row; the parser takes a caption for a cell."""
    cells: list[Cell] = []
    for node in table.contents.nodes if table.contents else ():
        name, style = _name(node), _attribute(node, "style")
        if hidden(style) or (name == "tr" and struck(style)):
            continue
        if isinstance(node, nodes.Tag) and name == "tr":
            if cells:
                yield cells
                cells = []
            yield from _rows(node)
        else:
            said = _cell(node)
            if said.startswith("+") and not cells:
                yield [Cell(said[1:].strip(), head=True)]
            elif name:
                down, across = span(_attribute(node, "rowspan")), span(_attribute(node, "colspan"))
                cells.append(Cell(said, down, across, name == "th"))
            elif said:
                cells.append(Cell(said))
    if cells:
        yield cells


def _cell(node: nodes.Node) -> str:
    """What a cell says; one with nothing but a template without values says that one's name."""
    if not isinstance(node, nodes.Tag) or node.contents is None:
        return one_line("".join(_said(node)))
    if struck(_attribute(node, "style")):
        return ""
    if said := one_line(_text(node.contents)):
        return said
    templates = node.contents.filter_templates(recursive=False)
    return " ".join(one_line(_text(each.name)) for each in templates)


def _name(node: nodes.Node) -> str:
    """A tag's name, empty where it is none."""
    return str(node.tag).strip().lower() if isinstance(node, nodes.Tag) else ""


def _attribute(node: nodes.Node, name: str) -> str | None:
    """A tag's attribute as it is written, None without it."""
    if not isinstance(node, nodes.Tag) or not node.has(name):
        return None
    return str(node.get(name).value)
