"""Cut an answer into the units that are looked at one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.core.types import Kind, Segment, Span

_LINE_END = re.compile(r"\r\n?|\n")

#: Bold words at the start of a paragraph, followed by what they are the heading of.
_RUN_IN_HEADING = re.compile(r"\*\*([^*\n]+[.:])\*\*\s+(?=\S)|\*\*([^*\n]+)\*\*:\s+(?=\S)")

#: Blocks that show something instead of saying it.
_DATA_BLOCKS = {"fence", "code_block", "html_block"}


def segment(text: str) -> tuple[Segment, ...]:
    """Sentences, table rows, headings and code blocks of an answer, in order.

    Args:
        text: Markdown, or plain text, which is Markdown without markup.

    Returns:
        Units with ``text[unit.span.start : unit.span.end] == unit.text``, none
        overlapping another. A list item carries the line that introduces its
        list as the last of its ``headings``; a table row its head row.
    """
    # Indented text is code in Markdown but seldom in an answer: read it as prose.
    tokens = MarkdownIt("commonmark").enable("table").disable("code").parse(text)
    return tuple(_units(text, tokens))


def _units(text: str, tokens: Sequence[Token]) -> Iterator[Segment]:
    lines = [0, *(m.end() for m in _LINE_END.finditer(text)), len(text)]
    headings: list[tuple[int, str]] = []
    lead_in: str | None = None
    head_row: str | None = None
    done = 0
    for index, token in enumerate(tokens):
        if token.type == "table_open":
            head_row = None
        if token.map is None:
            continue
        start = max(done, lines[token.map[0]])
        end = lines[min(token.map[1], len(lines) - 1)]
        above = tuple(said for _, said in headings)
        if token.type in _DATA_BLOCKS:
            yield from _whole(text, start, end, index, above, Kind.DATA_FORMAT)
        elif token.type == "tr_open":
            row = Span(start, end).of(text).strip()
            rows_above = above if head_row is None else (*above, head_row)
            kind = Kind.META_STATEMENT if head_row is None else None
            head_row = head_row or row
            yield from _whole(text, start, end, index, rows_above, kind)
        elif token.type == "inline" and token.level and tokens[index - 1].type == "heading_open":
            level = int(tokens[index - 1].tag[1:])
            headings = [(n, said) for n, said in headings if n < level]
            headings.append((level, token.content))
            lead_in = None
            start = _content_start(text, token.content, start, end)
            if "\n" not in token.content:
                stop = start + len(token.content)
            else:
                # Over several lines, whose ends the parser has rewritten.
                tail = token.content.rpartition("\n")[2]
                at = text.rfind(tail, start, end)
                stop = end if at < 0 else at + len(tail)
            yield from _whole(text, start, stop, index, above, Kind.META_STATEMENT)
        elif token.type == "inline" and tokens[index - 1].type == "paragraph_open":
            in_list = token.level > 1
            start = _content_start(text, token.content, start, end)
            path = (*above, lead_in) if in_list and lead_in else above
            if run_in := _RUN_IN_HEADING.match(text, start, end):
                span = Span(start, start + len(run_in[0].rstrip()))
                yield Segment(span.of(text), span, index, path, Kind.META_STATEMENT)
                path = (*path, (run_in[1] or run_in[2]).rstrip(":. "))
                start = run_in.end()
            sentences = [_sentence(s, text, index, path) for s in sentence_spans(text, start, end)]
            yield from sentences
            # A paragraph of what only Python takes as white space has none.
            if sentences and not in_list:
                last = sentences[-1].text
                lead_in = last if last.endswith(":") else None
        else:
            continue
        done = end


def _whole(
    text: str, start: int, end: int, paragraph: int, headings: tuple[str, ...], kind: Kind | None
) -> Iterator[Segment]:
    """One unit for a stretch, without the white space around it."""
    stretch = text[start:end]
    start += len(stretch) - len(stretch.lstrip())
    span = Span(start, start + len(stretch.strip()))
    if span.start < span.end:
        yield Segment(span.of(text), span, paragraph, headings, kind)


def _sentence(span: Span, text: str, paragraph: int, headings: tuple[str, ...]) -> Segment:
    """A sentence; its form tells a question, and a line that only introduces a list."""
    said = span.of(text)
    kind = {"?": Kind.QUESTION, ":": Kind.META_STATEMENT}.get(said[-1])
    return Segment(said, span, paragraph, headings, kind)


def _content_start(text: str, content: str, start: int, end: int) -> int:
    """Where a paragraph's words begin, past a list marker or a quotation sign."""
    first_line = content.split("\n", 1)[0]
    found = text.find(first_line, start, end)
    return start if found < 0 else found
