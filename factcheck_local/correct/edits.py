"""Edits of a text, and the text with them: what is outside their spans stays."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from factcheck_local.core.types import Span

#: What is done with a sentence that no evidence supports.
Unsupported = Literal["mark", "remove", "keep"]

#: In front of a sentence that is all there is of its line.
_ITEM = re.compile(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")

#: What ends a sentence, with the quotation marks and the markup behind it, or a row.
_END = re.compile(r"""[.!?…]+["'”’)*_`]*$|(?<=\S)\s*\|$""")

#: What is left in one piece: a code span, and the target of a link.
_WHOLE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|\]\([^()\s]*\)")

_NO_LINE_END = "\n\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True)
class Refused:
    """A new sentence that was written and is not taken.

    Attributes:
        text: what was written; empty where the model failed.
        reason: why it is not taken.
        checked: what it claims, as it was verified; empty if it was refused before that.
    """

    text: str
    reason: str
    checked: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """What becomes of one sentence.

    Attributes:
        action: ``replace``, ``mark``, ``remove``, ``unmark`` for one that is supported now and
            loses the marker of an earlier correction, or ``keep`` for one that is left as it is
            though it is not supported.
        span: of the answer's text.
        old: the text in it.
        new: the text in its place.
        claims: why, as the assessment has them.
        checked: what the new sentence claims, as it was verified; empty unless replaced.
        refused: why a contradicted sentence was not replaced; None if it was, or if
            there was no evidence to replace it by.
        drafts: the new sentences that were refused, in the order in which they were written.
    """

    action: Literal["replace", "mark", "remove", "unmark", "keep"]
    span: Span
    old: str
    new: str
    claims: tuple[dict[str, Any], ...]
    checked: tuple[dict[str, Any], ...] = ()
    refused: str | None = None
    drafts: tuple[Refused, ...] = ()


@dataclass(frozen=True, slots=True)
class Correction:
    """An edited answer.

    Attributes:
        text: with all edits.
        edits: in the order of the text, none overlapping another.
        unplaced: unsupported claims of which it is not known where they stand.
        models: those that verified the new sentences; empty where there was none.
    """

    text: str
    edits: tuple[Edit, ...]
    unplaced: tuple[dict[str, Any], ...] = ()
    models: tuple[dict[str, Any], ...] = ()


def apply(text: str, edits: Sequence[tuple[Span, str]]) -> tuple[str, list[Span]]:
    """The text with new texts in the place of spans, and where these are then.

    Raises:
        ValueError: if two spans overlap, or they are not in order.
    """
    pieces: list[str] = []
    spans: list[Span] = []
    at = length = 0
    for span, new in edits:
        if span.start < at:
            raise ValueError(f"expected spans in order, got {span.start} after {at}")
        pieces += [text[at : span.start], new]
        start = length + span.start - at
        length = start + len(new)
        spans.append(Span(start, length))
        at = span.end
    return "".join([*pieces, text[at:]]), spans


def marked(sentence: str, marker: str) -> str:
    """The sentence with a marker at its end: in front of the full stop, or in the last cell.

    Within the sentence it stays with it, when the answer is verified again. Behind it where the
    full stop is a part of code or of a link's target.
    """
    end = _END.search(sentence)
    at = end.start() if end else len(sentence)
    if any(whole.start() < at < whole.end() for whole in _WHOLE.finditer(sentence)):
        at = len(sentence)
    return f"{sentence[:at]} {marker}{sentence[at:]}"


def without(
    text: str, span: Span, sentences: Sequence[Span] = (), gone: Sequence[Span] = ()
) -> Span | None:
    """What goes with a sentence that is removed: the space at it, or its line if it is all.

    Args:
        text: all of it.
        span: of the sentence.
        sentences: the spans of all; "25. " in front of one is the end of the sentence before, and
            no item's number, if one of them says so.
        gone: the spans below that are removed, too.

    Returns:
        None for an item of a list with a list or paragraphs of its own, which would then stand
        below another item.
    """
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end
    before, after = text[start : span.start], text[span.end : end]
    if after.strip():
        return Span(span.start, span.end + len(after) - len(after.lstrip(" \t")))
    front = Span(start, span.start)
    if not _ITEM.fullmatch(before) or any(
        front.overlaps(s) and not s.overlaps(span) for s in sentences
    ):
        return Span(start + len(before.rstrip(" \t")), span.end)
    below = list(_below(text, end + 1, gone))
    if before.strip() and below and _goes_on(below[0]):
        return span
    item = _ITEM.match(text, start, span.end)
    if item and item[0].strip(" \t>"):
        line = next(filter(_has_words, below), "")
        if _indent(line) >= len(item[0].expandtabs(4)):
            return None
    return Span(start, min(end + 1, len(text)))


def _below(text: str, at: int, gone: Sequence[Span]) -> Iterator[str]:
    """The lines from an offset on, without those that are removed."""
    for line in _lines(text[at:]):
        if not any(span.start <= at and at + len(line) <= span.end for span in gone):
            yield line.rstrip("\n")
        at += len(line)


def _has_words(line: str) -> bool:
    return bool(line.strip(" \t>\r"))


def _indent(line: str) -> int:
    """Where the words of a line begin, counted with the quotation signs in front of them."""
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" >"))


def _goes_on(line: str) -> bool:
    """Whether a line belongs to the list item above it, which then keeps its bullet."""
    mark = _ITEM.match(line)
    return bool(line.strip()) and not (mark and mark[0].strip())


def unified_diff(old: str, new: str, name: str) -> str:
    """A patch from the one text to the other, empty if they are the same.

    Args:
        old: the text.
        new: the text after it.
        name: path of the file; ``a/`` and ``b/`` go in front of it, as in git's patches.
    """
    # A tab ends a name with spaces.
    tail = "\t" if " " in name else ""
    lines = difflib.unified_diff(
        list(_lines(old)), list(_lines(new)), f"a/{name}{tail}", f"b/{name}{tail}"
    )
    return "".join(line if line.endswith("\n") else line + _NO_LINE_END for line in lines)


def _lines(text: str) -> Iterator[str]:
    """Lines with their ends. Not splitlines: a patch knows no line end but \\n."""  # noqa: D301
    return (m[0] for m in re.finditer(r"[^\n]*\n|[^\n]+", text))
