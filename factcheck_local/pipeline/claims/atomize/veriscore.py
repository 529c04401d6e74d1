"""VeriScore's extraction (Song et al. 2024, §2.1.2): verifiable, self-contained claims.

A sentence is seen in its window, with the question in front of it for an answer to a
question, and otherwise with the first sentence of a long paragraph (footnote 6). Names
come from there, so that no reviser is needed. What cannot be verified gives no claim.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.text.wording import content_words, names, negations, numbers, share_within
from factcheck_local.core.types import Kind, Segment
from factcheck_local.models.contracts import TextGenerator
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.claims.atomize.each import (
    MAX_REPLY_TOKENS,
    STOP,
    Atomized,
    Split,
    each_segment,
)
from factcheck_local.pipeline.claims.atomize.parse import parse_claims, says_none
from factcheck_local.pipeline.claims.atomize.window import window

#: Share of a claim's content words that stand in its window, and of those among them that
#: are no name from around the sentence the share that stands in the sentence itself: "The
#: Team plan has no limit" has one of two from "It has no limit".
MIN_KNOWN, MIN_OWN = 0.9, 0.5


def extract_claims(
    segments: Sequence[Segment],
    model: TextGenerator,
    *,
    question: str | None = None,
    chosen: Collection[int] | None = None,
    progress: Progress = silent,
) -> Atomized:
    """Let a model write the verifiable claims of every segment.

    A segment without any is kept whole, as ``Kind.OTHER``. A claim stays only if its
    numbers are the sentence's and its words come from the window, names aside mostly from
    the sentence. The sentence is added as it stands where no claim stays, or a
    negation is lost; other clauses that the model leaves out are taken as not verifiable.
    An empty reply is a failure of its segment.

    Args:
        segments: the answer's units, in order.
        model: writes the claims.
        question: what the answer replies to, if known.
        chosen: which segments, counted from 0; None for all.
        progress: called after each segment.
    """

    def split(index: int) -> Split:
        segment = segments[index]
        seen = window(segments, index, first=not question)
        messages = load_prompt("veriscore_claims").opening(question=question, **seen)
        reply = model.generate(messages, max_tokens=MAX_REPLY_TOKENS, stop=STOP)
        if says_none(reply):
            return Split(((Kind.OTHER, segment.text),))
        parsed = [line for line in parse_claims(reply) if not says_none(line)]
        if not parsed:
            raise ScoringError("the model wrote neither a claim nor that there is none")
        kept = [text for text in parsed if _own(text, seen, question or "")]
        lost = not kept or negations(segment.text) > negations(" ".join(kept))
        texts = [*kept, segment.text] if lost else kept
        units = tuple((Kind.FACT, text) for text in texts)
        return Split(units, len(parsed) - len(kept), lost)

    return each_segment(segments, split, chosen=chosen, progress=progress)


def _own(text: str, seen: Mapping[str, str], question: str) -> bool:
    """Whether the sentence says this, be it with names from around it."""
    own = f"{seen['headings']} {seen['sentence']}"
    around = f"{question} {seen['before']} {seen['after']}"
    said = content_words(text) - (names(around) - content_words(own))
    shared = said & content_words(own)
    return (
        numbers(text) <= numbers(own)
        and share_within(text, own, around) >= MIN_KNOWN
        and bool(shared or numbers(text) & numbers(own))
        and len(shared) >= MIN_OWN * len(said)
    )
