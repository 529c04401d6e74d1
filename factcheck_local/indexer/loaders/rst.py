"""reStructuredText: sections by docutils, text as written.

Offsets are offsets in the file. A block is a paragraph with what is indented below it,
so that a directive or a list item stays whole. Nothing is included, and no
configuration of docutils is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document

from factcheck_local.core.types import Block, Document, Span
from factcheck_local.indexer.loaders.text import (
    HeadingPath,
    decode_any,
    file_as_document,
    one_line,
    paragraphs,
    stated_all,
)

#: The parser's patterns take time that grows faster than a line; it refuses longer ones.
MAX_LINE = 20_000

_QUIET = 5  # above the worst of docutils' levels: what it cannot read stays as written
_MARKUP = (
    r"_|\[[^\]\n]+\]|\||[\w.+:-]+[ \t]?::(?=\s|\Z)"  # targets, notes, substitutions, directives
)
_UNSEEN = re.compile(
    # A comment with the lines indented below it, ...
    rf"^\.\.(?:[ \t]+(?!{_MARKUP})\S[^\n]*|[ \t\r]*(?=\n[ \t]+\S))"
    r"(?:\n[ \t]+\S[^\n]*|\n[ \t\r]*(?=\n[ \t\r\n]*[ \t]\S))*"
    # ... a label that links may go to, a line across the page.
    r"|^\.\. _[^\n]*:[ \t\r]*$|^([!-/:-@\[-`{-~])\1{3,}[ \t\r]*$",
    re.MULTILINE,
)
_SECTIONS = (nodes.document, nodes.section)


def load(data: bytes, source: str) -> Document:
    """Read reStructuredText; its first field list and ``meta`` become metadata.

    Raises:
        DocumentError: if the bytes are not text.
    """
    text = decode_any(data, source)
    tree = _parsed(text)
    metadata = _metadata(tree)
    return file_as_document(source, data, text, _blocks(text, tree), metadata)


def _parsed(text: str) -> nodes.document:
    """The document tree, without transforms: nothing is resolved, moved or inserted."""
    tree = new_document("", _settings().copy())
    Parser().parse(text, tree)
    return tree


@lru_cache(maxsize=1)
def _settings() -> Any:  # noqa: ANN401
    """Defaults, without the configuration files that docutils otherwise looks for."""
    settings = get_default_settings(Parser)
    settings.file_insertion_enabled = False
    settings.raw_enabled = False
    settings.report_level = settings.halt_level = _QUIET
    settings.line_length_limit = MAX_LINE
    settings.syntax_highlight = "none"
    return settings


def _metadata(tree: nodes.document) -> dict[str, Any]:
    """What the fields at the top and the ``meta`` directive state."""
    fields: dict[str, Any] = {}
    for meta in tree.findall(nodes.meta):
        fields[str(meta.get("name", ""))] = str(meta.get("content", ""))
    for field in tree.findall(nodes.field):
        listed = field.parent
        at_top = isinstance(listed.parent, _SECTIONS) and not any(
            isinstance(node, nodes.Body) and not isinstance(node, nodes.comment | nodes.meta)
            for node in listed.parent.children[: listed.parent.index(listed)]
        )
        if at_top and listed.parent in (tree, _first_section(tree)):
            fields[field[0].astext()] = one_line(field[1].astext())
    metadata = stated_all(fields)
    title = tree.get("title") or fields.get("title")
    return {"title": title, **metadata} if title else metadata


def _first_section(tree: nodes.document) -> nodes.Node | None:
    """The section that the document begins with, None if it begins with something else."""
    unseen = nodes.comment | nodes.meta | nodes.system_message | nodes.target
    first = next((node for node in tree.children if not isinstance(node, unseen)), None)
    return first if isinstance(first, nodes.section) else None


def _blocks(text: str, tree: nodes.document) -> Iterator[Block]:
    """Headings, and between them paragraphs with what is indented below each."""
    headings = HeadingPath()
    position = 0
    for title, level, span in _titles(text, tree):
        yield from _body(text, position, span.start, headings.path)
        headings.enter(level, title)
        yield Block(span, headings.path, is_heading=True)
        position = span.end
    yield from _body(text, position, len(text), headings.path)


def _titles(text: str, tree: nodes.document) -> Iterator[tuple[str, int, Span]]:
    """What each section's title says, its level from 1, its place with its adornment."""
    lines = re.sub("[\v\f]", " ", text).splitlines(keepends=True)  # lines as docutils counts
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    above = 0  # the line after the title before
    for title in tree.findall(nodes.title):
        said = one_line(title.astext())
        if not isinstance(title.parent, nodes.section) or not said or not title.line:
            continue
        under = title.line - 1
        first = under - 1
        if first > above and lines[first - 1].strip() == lines[under].strip():
            first -= 1  # the line above the title
        above = under + 1
        level = 0
        node: Any = title.parent
        while isinstance(node, nodes.section):
            level, node = level + 1, node.parent
        yield said, level, Span(starts[first], starts[under + 1]).trimmed(text)


def _body(text: str, start: int, end: int, path: tuple[str, ...]) -> Iterator[Block]:
    """Blocks of ``text[start:end]``, comments left out."""
    for match in _UNSEEN.finditer(text, start, end):
        yield from _grouped(text, start, match.start(), path)
        start = match.end()
    yield from _grouped(text, start, end, path)


def _grouped(text: str, start: int, end: int, path: tuple[str, ...]) -> Iterator[Block]:
    """Paragraphs, each joined by the indented ones that follow it."""
    open_block: Block | None = None
    for block in paragraphs(text, start, end, path):
        at = block.span.start
        indented = at > start and text[at - 1] in " \t"
        if open_block is not None and indented:
            open_block = Block(Span(open_block.span.start, block.span.end), path)
            continue
        if open_block is not None:
            yield open_block
        open_block = block
    if open_block is not None:
        yield open_block
