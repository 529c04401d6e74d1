"""Where the sentences of a text are, as offsets."""

from __future__ import annotations

from factcheck_local.core.types import Span


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Sentences of ``text[start:end]``, without the white space between them.

    Every other character lies in exactly one of the spans, in order.
    """
    from sentencex import get_sentence_boundaries

    stretch = text[start:end]
    spans = []
    at = 0
    for boundary in get_sentence_boundaries("en", stretch):
        # The library's offsets are counted anew: they are not always characters.
        piece = boundary["text"]
        begin = stretch.index(piece, at)
        at = begin + len(piece)
        lead = len(piece) - len(piece.lstrip())
        body = piece.strip()
        if body:
            spans.append(Span(start + begin + lead, start + begin + lead + len(body)))
    return spans
