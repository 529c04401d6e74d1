"""Markdown: CommonMark with tables, and YAML front matter.

Offsets are offsets in the file, without its byte order mark. The parser gives
the structure as line numbers; the text stays as written, markup included, so
that a quote is found again where it stands.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
import yaml.composer
import yaml.events
from markdown_it.rules_block import StateBlock, reference
from markdown_it.token import Token

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.text.markdown import markdown_parser
from factcheck_local.core.types import Block, Document, Span
from factcheck_local.indexer.loaders.text import HeadingPath, decode_any, file_as_document, one_line

_FRONT_MATTER = re.compile(
    r"---[ \t]*\r?\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_LINE_END = re.compile(r"\r\n?|\n")  # what the parser counts as one line end
# ValueError: the 31st of June; the others: tags whose value is not what they say.
_NOT_YAML = (yaml.YAMLError, ValueError, RecursionError, LookupError, AttributeError, TypeError)
_COMMENTS = re.compile(r"(?:<!--(?>.*?-->)\s*)+", re.DOTALL)


def load(data: bytes, source: str) -> Document:
    """Read Markdown; front matter becomes metadata and stays out of the blocks.

    Raises:
        DocumentError: if the bytes are not text, or the front matter is not
            valid YAML.
    """
    text = decode_any(data, source)
    metadata, body = _front_matter(text, source)
    return file_as_document(source, data, text, _blocks(text, body), metadata)


class _FrontMatterLoader(yaml.SafeLoader):
    """Reads YAML without aliases: a few lines of them can stand for any amount of text."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:  # noqa: ANN401
        """The next value.

        Raises:
            YAMLError: if it is an alias.
        """
        if self.check_event(yaml.events.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(problem="aliases are not read", problem_mark=mark)
        return super().compose_node(parent, index)


def _front_matter(text: str, source: str) -> tuple[dict[str, Any], int]:
    """The metadata, and the offset at which the text proper begins."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, 0
    try:
        values = yaml.load(match["yaml"], _FrontMatterLoader)
    except _NOT_YAML as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 2}" if mark else ""
        what = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise DocumentError(f"{source}: front matter is not valid YAML{where}: {what}") from error
    if values is None:
        return {}, match.end()
    if not isinstance(values, dict):
        return {}, 0  # text between two thematic breaks
    return {str(key): _as_written(value) for key, value in values.items()}, match.end()


def _as_written(value: object) -> object:
    """Dates as ISO 8601, which is how YAML wants them written; the rest as it is."""
    return value.isoformat() if isinstance(value, datetime.date) else value


def _blocks(text: str, body: int) -> Iterator[Block]:
    """The top-level blocks of ``text[body:]``, each knowing the headings above it."""
    starts = [body, *(match.end() for match in _LINE_END.finditer(text, body)), len(text)]
    headings = HeadingPath()
    parser = markdown_parser()
    parser.block.ruler.at("reference", _link_definition)
    tokens = parser.parse(text[body:])
    for index, token in enumerate(tokens):
        if token.level or token.map is None or token.type == "hr":
            continue
        first, last = token.map
        span = Span(starts[first], starts[min(last, len(starts) - 1)]).trimmed(text)
        is_heading = token.type == "heading_open"
        if is_heading:
            headings.enter(int(token.tag[1:]), _said(tokens[index + 1].children or ()))
        elif token.type == "html_block" and _COMMENTS.fullmatch(span.of(text)):
            continue
        if span.start < span.end:
            yield Block(span, headings.path, is_heading)


def _link_definition(state: StateBlock, line: int, last: int, silent: bool) -> bool:
    """The parser's rule for ``[name]: address``, but for footnotes of one word: they are text."""
    begin = state.bMarks[line] + state.tShift[line]
    return not state.src.startswith("[^", begin) and reference(state, line, last, silent)


def _said(inline: Sequence[Token]) -> str:
    """What a heading says, without its markup."""
    words = (" " if token.type.endswith("break") else token.content for token in inline)
    return one_line("".join(words))
