"""Cut an answer into the units that are looked at one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it.token import Token

from factcheck_local.core.text.markdown import MAX_NESTING, markdown_parser
from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.core.text.wording import content_words, has_a_verb, numbers
from factcheck_local.core.types import Kind, Segment, Span

_LINE_END = re.compile(r"\r\n?|\n")

_WORDS = r"[^*\s][^*\n]*"

#: Most words of a heading with a full stop; more are a sentence that somebody wanted to stand out.
_MOST_RUN_IN = 4

#: Words of a line with a colon and a verb from which on it may state more than that something
#: follows. Of the lines without a number in the training data two are so long and claim something,
#: one is and does not, which the model sees; the others are shorter or have no verb.
_LEAST_STATING = 10

#: Bold words at the start of a paragraph, followed by what they are the heading of.
_RUN_IN_HEADING = re.compile(
    rf"\*\*(?:({_WORDS}[:?])\*\*\s+"
    rf"|((?:[^*\s]+[ \t]+){{0,{_MOST_RUN_IN - 1}}}[^*\s]+\.)\*\*\s+"
    rf"|({_WORDS})\*\*(?::\s+|[ \t]*(?:\r\n?|\n)\s*))(?=\S)"
)

#: What counts headings in front of them, and numbers that are names: "KI-204".
_NUMBERED = re.compile(r"^\W*\d{1,2}[.):]\s|\b[A-Z]+-\d+")

#: A paragraph of nothing else is a heading, too.
_BOLD = re.compile(rf"\*\*({_WORDS})\*\*:?")

#: The first line of several, where it is short and no sentence, is the heading of the others.
_TITLE_LINE = re.compile(r"([A-Z][^\n\r*|.:;,!?]{0,39}?)[ \t]*(?:\r\n?|\n)\s*(?=[*_]*[A-Z0-9])")

#: Where emphasis ends behind the stop of a sentence.
_EMPHASIS_END = re.compile(r"[*_]{1,3}(?=\s|$)")

#: "Tool: a hammer", "**Hours:** 8 to 18": several such lines are no running text.
_LABELLED_LINE = re.compile(
    r"[ \t]*(?:\*\*[^*:\n]{1,40}(?::\*\*|\*\*:)|[A-Z0-9][^:*|\n]{0,40}:)[ \t]+\S", re.MULTILINE
)

#: "What is not covered" states nothing, though it has a verb.
_CLAUSE = re.compile(r"(?:what|which|who|whose|when|where|why|how|whether)\b[^,]*", re.IGNORECASE)

#: Below the headings of Markdown, of which there are six levels.
_BOLD_LEVEL = 7

#: What a heading that is none is taken for.
_NO_HEADING = "ruled_paragraph_open"

_TAG = re.compile(r"<[^<>]*>")

#: Where a block of HTML is cut: what nobody sees, and tags that begin or end a line.
_HTML_BLOCK = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<unseen>script|style)\b.*?(?:</(?P=unseen)\s*>|\Z)"
    r"|</?(?:p|div|[uod]l|li|d[td]|table|t[rb]|thead|tbody|caption|h[1-6]|br|hr|section|article|details|"
    r"summary|blockquote)\b[^<>]*>",
    re.IGNORECASE | re.DOTALL,
)

#: Blocks that show something instead of saying it.
_DATA_BLOCKS = {"fence", "code_block", "html_block"}

#: Blocks that hold others.
_CONTAINERS = {"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"}

#: The signs of quotations and list items that a line begins with.
_SIGNS = re.compile(r"\A(?:\s|>|(?:[-*+]|\d{1,9}[.)])(?=\s|\Z))*+")

#: Where a link leads to: an address, a file, or nowhere, as the comments that are written so do.
_ADDRESS = re.compile(
    r"\Z|#|\.{0,2}/|(?:[A-Za-z][\w+.-]*:/|mailto:|tel:)|[^\s@]*\.[A-Za-z]{2,}(?:[/?#:]|\Z)"
)


def segment(text: str) -> tuple[Segment, ...]:
    """Sentences, table rows, headings and code blocks of an answer, in order.

    Args:
        text: Markdown, or plain text, which is Markdown without markup.

    Returns:
        Units with ``text[unit.span.start : unit.span.end] == unit.text``, none
        overlapping another. A list item carries the lines that introduce its
        list and those it is in as the last of its ``headings``; a table row its head row.
    """
    # Indented text is code in Markdown but seldom in an answer: read it as prose.
    parser = markdown_parser("code", "inline", inline_definitions=True)
    lines = [0, *(m.end() for m in _LINE_END.finditer(text)), len(text)]
    return tuple(_units(text, lines, list(_all_blocks(text, lines, parser.parse(text)))))


def _all_blocks(text: str, lines: Sequence[int], tokens: Sequence[Token]) -> Iterator[Token]:
    """The blocks of a text, with the lines that the parser passes over as paragraphs.

    These are nested too deep, or define a link that leads nowhere: "[Fee]: 9€" in plain text.
    """
    done = 0
    for token in tokens:
        nowhere = token.type == "definition" and not _ADDRESS.match(token.meta["url"])
        if token.map is not None and token.type not in _CONTAINERS and not nowhere:
            yield from _passed_over(text, lines[done : token.map[0] + 1], done)
            done = max(done, token.map[1])
        if token.type != "definition":
            yield token
    yield from _passed_over(text, lines[done:], done)


def _passed_over(text: str, lines: Sequence[int], first: int) -> Iterator[Token]:
    """A paragraph for each line with words, behind the signs that it begins with."""
    for at, (start, end) in enumerate(pairwise(lines), start=first):
        said = _SIGNS.sub("", text[start:end]).strip()
        if re.search(r"\w", said):
            yield Token("paragraph_open", "p", 1)
            yield Token("inline", "", 0, map=[at, at + 1], level=MAX_NESTING, content=said)
            yield Token("paragraph_close", "p", -1)


def _units(text: str, lines: Sequence[int], tokens: Sequence[Token]) -> Iterator[Segment]:
    headings: list[tuple[int, str]] = []
    lead_ins: list[tuple[int, str]] = []
    head_row: str | None = None
    done = 0
    for index, token in enumerate(tokens):
        if token.type == "table_open":
            head_row = None
        if token.type == "heading_open" and _is_ruled_off(token, tokens[index + 1].content):
            token.type = _NO_HEADING
        if token.map is None:
            continue
        start = max(done, lines[token.map[0]])
        end = lines[min(token.map[1], len(lines) - 1)]
        above = tuple(said for _, said in headings)
        if token.type == "html_block" and (shown := list(_shown(text, start, end))):
            for begin, stop in shown:
                for span in _sentences(text, begin, stop):
                    yield _sentence(span, text, index, above)
        elif token.type in _DATA_BLOCKS:
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
            lead_ins = []
            start = _content_start(text, token.content, start, end)
            stop = start + len(token.content)
            kind = None if _is_sentence(token.content) else Kind.META_STATEMENT
            yield from _whole(text, start, stop, index, above, kind)
        elif token.type == "inline" and tokens[index - 1].type in ("paragraph_open", _NO_HEADING):
            start = _content_start(text, token.content, start, end)
            lead_ins = [(n, said) for n, said in lead_ins if n < token.level]
            stop = start + len(text[start:end].rstrip())
            bold = _BOLD.fullmatch(text, start, stop)
            heading = bold[1].rstrip(":. ") if bold and not _is_sentence(bold[1]) else None
            if heading is not None and token.level == 1:
                headings = [(n, said) for n, said in headings if n < _BOLD_LEVEL]
            path = tuple(said for _, said in (*headings, *lead_ins))
            below = tokens[index + 2].type if index + 2 < len(tokens) else ""
            if heading is not None:
                # With nothing below it is no heading, but perhaps an item or the answer itself.
                ends = not below or below.endswith("_close")
                kind = None if ends else _heading_kind(heading)
                yield from _whole(text, start, end, index, path, kind)
                if token.level > 1:
                    lead_ins.append((token.level, heading))
                else:
                    headings.append((_BOLD_LEVEL, heading))
            else:
                found = list(_paragraph(text, start, end, index, path))
                yield from found
                # A paragraph of what only Python takes as white space has none.
                said = bold[1] if bold else found[-1].text if found else "."
                listed = below.endswith("list_open") and not said.endswith((".", "!", "?"))
                if listed or said.endswith(":"):
                    lead_ins.append((token.level, said))
        else:
            continue
        done = end


def _paragraph(
    text: str, start: int, end: int, paragraph: int, headings: tuple[str, ...]
) -> Iterator[Segment]:
    """The sentences of a paragraph, below the heading that runs into it, if there is one."""
    title = _TITLE_LINE.match(text, start, end)
    if title and not has_a_verb(title[1]) and content_words(title[1].split()[-1]):
        span = Span(start, title.end(1))
        yield Segment(span.of(text), span, paragraph, headings, _heading_kind(title[1]))
        headings, start = (*headings, title[1]), title.end()
    for begin, stop in _pieces(text, start, end):
        path = headings
        if run_in := _RUN_IN_HEADING.match(text, begin, stop):
            span = Span(begin, begin + len(run_in[0].rstrip()))
            kind = _run_in_kind(run_in)
            yield Segment(span.of(text), span, paragraph, path, kind)
            path = (*path, (run_in[1] or run_in[2] or run_in[3]).rstrip(":. "))
            begin = run_in.end()
        for span in _sentences(text, begin, stop):
            yield _sentence(span, text, paragraph, path)


def _is_ruled_off(heading: Token, said: str) -> bool:
    """Whether a heading is a paragraph with a rule right below it, which Markdown takes for one."""
    return "\n" in said or (heading.markup == "-" and said.endswith((".", "!")))


def _shown(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What a block of HTML shows, cut at the tags of its blocks and of its table's rows."""
    at = start
    for tag in [*_HTML_BLOCK.finditer(text, start, end), None]:
        stop = tag.start() if tag else end
        if re.search(r"\w", _TAG.sub("", text[at:stop])):
            yield at, stop
        at = tag.end() if tag else end


def _is_sentence(said: str) -> bool:
    """Whether words that stand out, in bold or as a heading, state something."""
    stops = said.endswith(".") and len(said.split()) > _MOST_RUN_IN
    states = has_a_verb(said) and not _CLAUSE.fullmatch(said)
    return not said.endswith("?") and (stops or states)


def _heading_kind(said: str) -> Kind | None:
    """A heading claims nothing; one with a number may ("**30 days**"), which a model decides."""
    return None if numbers(_NUMBERED.sub("", said)) else Kind.META_STATEMENT


def _run_in_kind(found: re.Match[str]) -> Kind | None:
    """Bold words that run into a paragraph may be its answer: "**Refunds are not possible.**"."""
    said = found[1] or found[2] or found[3]
    if found[1] and (said.endswith("?") or not has_a_verb(said)):
        # "**1828:**" is the heading of what happened then.
        return Kind.META_STATEMENT
    return None if has_a_verb(said) else _heading_kind(said)


def _sentences(text: str, start: int, end: int) -> list[Span]:
    """Sentences, each with the mark that ends its emphasis."""
    found: list[Span] = []
    for span in sentence_spans(text, start, end):
        if found and (mark := _EMPHASIS_END.match(text, span.start, span.end)):
            found[-1] = Span(found[-1].start, mark.end())
            rest = text[mark.end() : span.end].lstrip()
            span = Span(span.end - len(rest), span.end)
        if span.start < span.end:
            found.append(span)
    return found


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A paragraph, cut in front of each labelled line where it is made of such lines."""
    begins = [start, *(m.end() for m in _LINE_END.finditer(text, start, end))]
    begins = [at for at in begins if text[at:end].strip()]
    labelled = [at for at in begins if _LABELLED_LINE.match(text, at, end)]
    if len(labelled) < 2 or 2 * len(labelled) <= len(begins):
        return [(start, end)]
    cuts = sorted({start, *labelled})
    return list(zip(cuts, [*cuts[1:], end], strict=True))


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
    """A sentence; its form tells a question, and a line that only introduces a list.

    One that introduces it with a number ("You get 25 days on these conditions:"), or says more
    than that something follows, may claim it.
    """
    said = span.of(text)
    long = len(said.split()) >= _LEAST_STATING and has_a_verb(said)
    introduces = None if long else _heading_kind(said)
    kind = {"?": Kind.QUESTION, ":": introduces}.get((said.rstrip("*_") or said)[-1])
    return Segment(said, span, paragraph, headings, kind)


def _content_start(text: str, content: str, start: int, end: int) -> int:
    """Where a paragraph's words begin, past a list marker or a quotation sign."""
    first_line = content.split("\n", 1)[0]
    found = text.find(first_line, start, end)
    return start if found < 0 else found
