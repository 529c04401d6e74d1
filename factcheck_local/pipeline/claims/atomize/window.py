"""The sliding window in which an atomizer sees a sentence (VeriScore, §2.1.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from factcheck_local.core.types import Segment

BEFORE, AFTER = 3, 1
LONG_PARAGRAPH = 5


def window(segments: Sequence[Segment], index: int, *, first: bool = True) -> dict[str, str]:
    """Up to three sentences before the one at ``index``, and one after it.

    Headings, code and the like are no sentences: they stand in no window.

    Args:
        segments: the answer's units, in order.
        index: of the sentence, counted from 0.
        first: whether a paragraph of more than five sentences has its first one in the
            window, too.

    Returns:
        What the atomizers' prompts name ``sentence``, ``headings``, ``before`` and ``after``,
        each on one line; empty for nothing.
    """
    segment = segments[index]
    before = list(segments[max(0, index - BEFORE) : index])
    paragraph = [s for s in segments if s.paragraph == segment.paragraph]
    if first and len(paragraph) > LONG_PARAGRAPH and paragraph[0] not in (segment, *before):
        before.insert(0, paragraph[0])
    after = segments[index + 1 : index + 1 + AFTER]
    return {
        "sentence": _on_one_line([segment.text]),
        "headings": " > ".join(segment.headings),
        "before": _on_one_line(s.text for s in before if s.kind is None),
        "after": _on_one_line(s.text for s in after if s.kind is None),
    }


def _on_one_line(texts: Iterable[str]) -> str:
    return " ".join(" ".join(texts).split())
