"""Where the sentences of a text are, as offsets."""

from __future__ import annotations

import re

from factcheck_local.core.text.wording import MONTHS
from factcheck_local.core.types import Span

#: Abbreviations that the library takes for the end of a sentence, in front of a number or a word
#: in lower case, and initials ("p.a.", "C. canephora") in front of such a word.
_SHORT = re.compile(
    r"\b(?:approx|avg|max|mins?|incl|excl|est|acc|paras?|vol|tel|ext|pcs|temp|deg|mio|hrs?|secs?|yrs|tbsp|"
    r"tsp|mon|tues?|wed|thurs?|fri|sat|sun)\.$",
    re.IGNORECASE,
)
_INITIAL = re.compile(r"\b[A-Za-z]\.$")

#: "31. December 2024" is one date; "31.12. of each year" and "version 3.0. was" go on.
_DAY = re.compile(r"(?<![\w.,])[0-3]?\d\.$")
_MONTH = re.compile(rf"(?:{'|'.join(MONTHS)})\b")
_POINTED = re.compile(r"(?<![\w.,])[0-3]?\d\.[01]?\d\.$")

#: White space of several bytes in front of a full stop ("point I\xa0."), as in French typesetting:
#: behind an initial the library looks for its last byte, and panics amid the character.
_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f](?=\.)")


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Sentences of ``text[start:end]``, without the white space between them.

    Every other character lies in exactly one of the spans, in order.
    """
    from sentencex import get_sentence_boundaries

    stretch = _WIDE_SPACE.sub(" ", text[start:end])
    spans: list[Span] = []
    at = 0
    for boundary in get_sentence_boundaries("en", stretch):
        # The library's offsets are counted anew: they are not always characters.
        piece = boundary["text"]
        begin = stretch.index(piece, at)
        at = begin + len(piece)
        span = Span(start + begin, start + at).trimmed(text)
        if span.start == span.end:
            continue
        if spans and _goes_on(spans[-1].of(text), text[spans[-1].end : span.start], span.of(text)):
            span = Span(spans.pop().start, span.end)
        spans.append(span)
    return spans


def _goes_on(sentence: str, gap: str, behind: str) -> bool:
    """Whether a full stop was that of an abbreviation: "The fee is approx. 3 %"."""
    if not sentence.endswith(".") or "\n" in gap or "\r" in gap:
        return False
    lower = behind[0].islower()
    number = behind[0].isdigit() or behind[0] in "€$£"
    return bool(
        ((lower or number) and _SHORT.search(sentence))
        or (lower and (_INITIAL.search(sentence) or _POINTED.search(sentence)))
        or (_MONTH.match(behind) and _DAY.search(sentence))
    )
