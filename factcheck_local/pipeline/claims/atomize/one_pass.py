"""The atomizer of a model with an adapter for it: the answer is read once, with all it says.

Each unit is asked for behind the whole answer. Its kind comes first; behind the kind that is
verified stand its claims, complete with what the question, headings and earlier sentences
contribute, so nothing is reworded afterwards. What the model writes is checked word by word, as
with every atomizer; words may come from the text around the unit, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from factcheck_local.core.errors import ScoringError, TooLongError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.text.wording import (
    content_words,
    counted_in,
    negations,
    numbers,
    share_within,
    words_and_numbers,
    written_otherwise,
)
from factcheck_local.core.types import Answer, Kind, Segment
from factcheck_local.models.contracts import Adapted, Labelled
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.claims.atomize.checks import left_out
from factcheck_local.pipeline.claims.atomize.each import Atomized, Split, each_segment
from factcheck_local.pipeline.claims.atomize.lists import taken_apart
from factcheck_local.pipeline.claims.atomize.parse import parse_claims
from factcheck_local.pipeline.claims.atomize.rows import NO_SIGNS, cells_left_out, is_row
from factcheck_local.pipeline.claims.atomize.strangers import section, without_strangers
from factcheck_local.pipeline.claims.markers import unmarked

PROMPT = "claims"

#: Id of the prompt, by which a card names the adapter for it.
ADAPTED_PROMPT = "claims-v1"

#: The kinds that the adapter was trained with, the one with claims first. A question, a heading
#: and a block of code are known by their form.
KINDS = {
    "claim": Kind.FACT,
    "opinion": Kind.OPINION,
    "instruction": Kind.INSTRUCTION,
    "meta": Kind.META_STATEMENT,
    "greeting": Kind.GREETING,
    "hypothetical": Kind.HYPOTHETICAL,
    "code": Kind.DATA_FORMAT,
}

#: P(claim) from which a unit is verified. Of 349 parts of held-out answers 0.35 takes 18 % of
#: those that claim nothing and misses 1.4 % of the others; this 15 and 2.4, 0.8 3 and 3.8 %. One
#: too many costs seconds, one too few is a claim that nobody has looked at.
MIN_CHECKABLE = 0.5

#: Share of a claim's content words that stand in the answer or the question, whatever unit it
#: is of. Of the claims that people wrote for the training data 1 in 200 has fewer.
MIN_KNOWN = 0.6

#: Characters of an answer that are read at once. Where they do not fit, as of a table of figures,
#: of which each digit is a token, half as many are tried, down to the last number.
WINDOW, LEAST_WINDOW = 5000, 500

#: What stands in front of a window is shown, too, up to this share of its size.
BEFORE = 0.3

#: A number in brackets names a source, a page or an article of it behind it, as does a file or
#: a page; no claim takes it up.
_CITATION = re.compile(
    r"\s*\[?\[(?:\^?\d+(?:[,–-]\s*[^\[\]]{1,40})?|(?i:source|doc|ref)\s?\d+"
    r"|[^\[\]\s]{1,80}\.[a-z]{2,5}(?:,[^\[\]]{1,40})?|pp?\.\s*\d[^\[\]]{0,20})\]\]?(?!\()"
    r"|\s*\((?i:source|doc|ref)\s?\d+\)|\s*【[^】]{1,80}】|\s*<sup>\[?\d+\]?</sup>"
)

#: Where a link leads to.
_TARGET = re.compile(r"(?<=\])\([^()\s]{1,500}\)")

#: Words of numbers, which are looked at as numbers.
_SCALES = "thousand million billion"

#: A cell of a table with nothing in it, or a sign for that, which a claim says with a negation.
_EMPTY_CELL = re.compile(rf"\|\s*(?:[-–—x\u00d7{NO_SIGNS}0]\ufe0f?|n/?a)?\s*(?=\|)", re.IGNORECASE)

#: What denies like "not" does, in a heading above all: a claim may put it into other words.
_DENIAL = re.compile(
    rf"[{NO_SIGNS}🚫⛔]|\b(?:exclu(?:d|sion)\w*|except(?:ions?)?|forbid\w*|prohibit\w*|bans?|banned|ineligible|unable"
    r"|impossible|unavailable|lack(?:s|ing)?|non-\w+|out of scope)\b",
    re.IGNORECASE,
)

#: Words of an answer to what stands in front of it, "Yes, both.", which are about nothing alone.
_ANSWERS = content_words("yes both correct right exactly indeed sure true")

#: Longest claims of a unit, twice those of the training data: what is longer repeats itself.
MAX_TOKENS = 192

#: Units that are asked for together.
TOGETHER = 16


def take_apart(
    answer: Answer,
    segments: Sequence[Segment],
    model: Adapted,
    *,
    chosen: Collection[int] | None = None,
    progress: Progress = silent,
) -> Atomized:
    """Split every segment into atoms that are understandable on their own.

    Args:
        answer: the text, and what it replies to.
        segments: its units, in order.
        model: with the adapter for ``ADAPTED_PROMPT``.
        chosen: which segments, counted from 0; None for all.
        progress: called as the units are done.
    """
    said = {i: uncited(s.text) for i, s in enumerate(segments) if s.kind is None}
    asked = [
        i
        for i, text in said.items()
        if (chosen is None or i in chosen) and (words_and_numbers(text) or negations(text))
    ]
    replies: dict[int, Labelled | ScoringError] = {}

    def told(done: int, _: int) -> None:
        progress(len(replies) + done, len(asked))

    def ask(places: Sequence[int], size: int) -> None:
        for shown, group in _windows(answer.text, segments, places, size):
            for at in range(0, len(group), TOGETHER):
                together = group[at : at + TOGETHER]
                parts = [(segments[i].headings, said[i]) for i in together]
                found = _replies(shown, parts, together, answer, model, told)
                too_long = any(isinstance(reply, TooLongError) for reply in found.values())
                if too_long and size > LEAST_WINDOW:
                    ask(together, size // 2)
                else:
                    replies.update(found)
                    told(0, 0)

    ask(asked, WINDOW)

    def first_said() -> str:
        """The first of the units that state something."""
        stating = (i for i, r in replies.items() if isinstance(r, Labelled) and r.text is not None)
        return segments[min(stating)].text

    def split(index: int) -> Split:
        segment, text = segments[index], said[index]
        reply = replies.get(index)
        if reply is None:
            return Split(((Kind.META_STATEMENT, segment.text),))
        if isinstance(reply, ScoringError):
            raise reply
        if reply.text is None:
            # The kind without claims that is most probable.
            label = 1 + int(np.argmax(reply.scores[1:]))
            return Split(((list(KINDS.values())[label], segment.text),))
        earlier = unmarked(answer.text[: segment.span.start])
        above = (answer.question or "", *segment.headings)
        around = " ".join((*above, earlier))
        near = " ".join((*above, first_said(), section(segments, index)))
        # The last line of a text that was cut is no claim.
        parsed = parse_claims(reply.text if reply.ended else reply.text.rpartition("\n")[0])
        own = [left for one in parsed if (left := without_strangers(one, segment.text, near))]
        kept = [one for one in own if founded(one, segment, around, answer.text)]
        large = counted_in(numbers(text), " ".join(segment.headings))
        readings = written_otherwise(text)
        told = numbers(" ".join(kept))
        also = {large[n] for n in told & large.keys()}.union(
            written_otherwise(" ".join(kept)), *(readings[n] for n in told & readings.keys())
        )
        if is_row(text):
            head = next((h for h in reversed(segment.headings) if is_row(h)), "")
            added = cells_left_out(kept, text, head, also)
        else:
            added = left_out(kept, text, also)
        claims = [*(part for one in kept for part in taken_apart(one)), *added]
        units = tuple((Kind.FACT, one) for one in dict.fromkeys(claims or [text]))
        return Split(units, len(parsed) - len(kept), bool(added))

    return each_segment(segments, split, chosen=chosen, progress=silent)


def uncited(text: str) -> str:
    """A unit as it is shown: without citations, nor where its links lead to."""
    return _CITATION.sub("", _TARGET.sub("", text))


def founded(text: str, segment: Segment, around: str, answer: str) -> bool:
    """Whether a claim is of its unit, and nothing in it is made up.

    It shares a word or a number with the unit, or with what a mere "yes" is the answer to; its
    numbers stand there or around it; most of its words stand in the answer; and it denies
    nothing that neither the unit denies nor a heading, such as "What is not covered:".

    Args:
        text: the claim.
        segment: the unit.
        around: question, headings and what stands in front of the unit.
        answer: the whole text.
    """
    own = words_and_numbers(segment.text)
    if not own - _ANSWERS:
        own = content_words(around)
    words, counts = len(content_words(text)), len(numbers(text))
    share = share_within(text, segment.text, around, answer, _SCALES)
    return (
        bool(words_and_numbers(text) & own)
        and len(text) <= 3 * len(segment.text) + 160
        and numbers(text) <= _known_numbers(segment, around)
        # Numbers, which are known, count among the words.
        and share * words + counts >= MIN_KNOWN * (words + counts)
        and negations(text) <= _denials(segment)
    )


def _known_numbers(segment: Segment, around: str) -> frozenset[str]:
    """Numbers of a unit, also in what its headings say they are counted in, and around it."""
    own = numbers(segment.text)
    large = counted_in(own, " ".join(segment.headings)).keys()
    return own | large | numbers(around) | written_otherwise(f"{segment.text} {around}").keys()


def _denials(segment: Segment) -> int:
    """How often a unit and its headings deny something."""
    cells = len(_EMPTY_CELL.findall(segment.text)) if is_row(segment.text) else 0
    said = " ".join((*segment.headings, segment.text))
    return negations(said) + len(_DENIAL.findall(said)) + cells


def _replies(
    shown: str,
    parts: Sequence[tuple[tuple[str, ...], str]],
    places: Sequence[int],
    answer: Answer,
    model: Adapted,
    progress: Progress,
) -> dict[int, Labelled | ScoringError]:
    prompt = load_prompt(PROMPT)
    endings = [
        prompt.close(headings=" > ".join(headings), part=" ".join(text.split()))
        for headings, text in parts
    ]
    try:
        found = model.label_and_write(
            prompt.opening(question=answer.question, answer=shown),
            endings,
            list(KINDS),
            least=MIN_CHECKABLE,
            max_tokens=MAX_TOKENS,
            progress=progress,
        )
    except ScoringError as error:
        return dict.fromkeys(places, error)
    return dict(zip(places, found, strict=True))


def _windows(
    text: str, segments: Sequence[Segment], asked: Sequence[int], size: int
) -> Iterator[tuple[str, list[int]]]:
    """Stretches of a text of so many characters, each with the segments in it that are asked for.

    A stretch begins with a part of what stands in front of it, from a paragraph on.
    """
    group: list[int] = []
    for i in asked:
        if group and segments[i].span.end - segments[group[0]].span.start > size:
            yield _shown(text, segments, group, size), group
            group = []
        group.append(i)
    if group:
        yield _shown(text, segments, group, size), group


def _shown(text: str, segments: Sequence[Segment], group: Sequence[int], size: int) -> str:
    before = int(BEFORE * size)
    if len(text) <= size + before:
        return unmarked(text)
    first, last = segments[group[0]], segments[group[-1]]
    begin = max(0, first.span.start - before)
    # The first paragraph that begins behind that; in front of the unit in any case.
    starts = [s.span.start for i, s in enumerate(segments) if not i or _opens(segments, i)]
    begin = next((at for at in starts if at >= begin), first.span.start)
    return unmarked(text[min(begin, first.span.start) : last.span.end])


def _opens(segments: Sequence[Segment], i: int) -> bool:
    return segments[i].paragraph != segments[i - 1].paragraph
