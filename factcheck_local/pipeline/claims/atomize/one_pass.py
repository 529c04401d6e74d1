"""The atomizer of a model with an adapter for it: the answer is read once, with all it says.

Each unit is asked for behind the whole answer. Its kind comes first; behind the kind that is
verified stand its claims, complete with what the question, headings and earlier sentences
contribute, so nothing is reworded afterwards. What the model writes is checked word by word, as
with every atomizer; words may come from the text around the unit, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from factcheck_local.core.errors import ScoringError
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
from factcheck_local.pipeline.claims.atomize.asking import KINDS, Part, ask, asked_of
from factcheck_local.pipeline.claims.atomize.checks import (
    is_of_itself,
    left_out,
    own_claims,
    pieces_left_out,
)
from factcheck_local.pipeline.claims.atomize.consensus import most_like_the_others
from factcheck_local.pipeline.claims.atomize.each import Atomized, Split, each_segment
from factcheck_local.pipeline.claims.atomize.lists import taken_apart
from factcheck_local.pipeline.claims.atomize.parse import parse_claims
from factcheck_local.pipeline.claims.atomize.rows import NO_SIGNS, cells_left_out, is_row
from factcheck_local.pipeline.claims.atomize.strangers import section, without_strangers
from factcheck_local.pipeline.claims.markers import unmarked

#: Share of a claim's content words that stand in the answer or the question, whatever unit it
#: is of. Of the claims that people wrote for the training data 1 in 200 has fewer.
MIN_KNOWN = 0.6

#: A number in brackets names a source, a page or an article of it behind it, as does a file or
#: a page; no claim takes it up.
_CITATION = re.compile(
    # From the first of several spaces on, so that a run of them is read once.
    r"(?<!\s)\s*+(?:\[?\[(?:\^?\d+(?:[,–-]\s*[^\[\]]{1,40})?|(?i:source|doc|ref)\s?\d+"
    r"|[^\[\]\s]{1,80}\.[a-z]{2,5}(?:,[^\[\]]{1,40})?|pp?\.\s*\d[^\[\]]{0,20})\]\]?(?!\()"
    r"|\((?i:source|doc|ref)\s?\d+\)|【[^】]{1,80}】|<sup>\[?\d+\]?</sup>)"
)

#: Where a link leads to.
_TARGET = re.compile(r"(?<=\])\([^()\s]{1,500}\)")

#: Words of numbers, which are looked at as numbers.
_SCALES = "thousand million billion"

#: A cell of a table with nothing in it, or a sign for that, which a claim says with a negation.
_EMPTY_CELL = re.compile(
    rf"\|\s*+(?:(?:[-–—x\u00d7{NO_SIGNS}0]\ufe0f?|n/?a)\s*+)?(?=\|)", re.IGNORECASE
)

#: Emphasis of Markdown: a claim that stands alone stresses nothing.
_EMPHASIS = re.compile(r"(?<![\w*`])(\*{1,3})(?=[^\s*])([^*`\n]+?)(?<=\S)\1(?![\w*`])")

#: What denies like "not" does, in a heading or above a list above all ("Leave these out:"): a claim
#: may put it into other words. "Otherwise" denies what a claim says with it, "rather than" and
#: "unlike" one of two, and "neither of them" becomes "neither one nor the other".
_DENIAL = re.compile(
    rf"[{NO_SIGNS}🚫⛔]|\b(?:exclu(?:d|sion)\w*|except(?:ions?)?|forbid\w*|prohibit\w*|bans?|banned|ineligible|unable"
    r"|impossible|unavailable|lack(?:s|ing)?|non-\w+|out of scope|off[ -]limits|omit\w*|skip\w*"
    r"|(?:leav(?:es?|ing)|left)(?: \w+){0,4}? out|refus\w*|otherwise|unlike|rather than|neither)\b",
    re.IGNORECASE,
)

#: Words of an answer to what stands in front of it, "Yes, both.", which are about nothing alone.
_ANSWERS = content_words("yes both correct right exactly indeed sure true")


def take_apart(
    answer: Answer,
    segments: Sequence[Segment],
    model: Adapted,
    *,
    whose: str | None = None,
    draws: int = 0,
    chosen: Collection[int] | None = None,
    progress: Progress = silent,
) -> Atomized:
    """Split every segment into atoms that are understandable on their own.

    Of several ways to take a unit apart the one counts that is most like the others. What its
    claims leave out is asked for once more, piece by piece.

    Args:
        answer: the text, and what it replies to.
        segments: its units, in order.
        model: with the adapter for ``ADAPTED_PROMPT``.
        whose: the organisation whose documents the answer is about; None where it is not known.
        draws: how many ways beside the likeliest the model is asked for.
        chosen: which segments, counted from 0; None for all.
        progress: called as the units are done.
    """
    answer = asked_of(answer, whose)
    said = {i: uncited(s.text) for i, s in enumerate(segments) if s.kind is None}
    asked = [
        (i, text)
        for i, text in said.items()
        if (chosen is None or i in chosen) and (words_and_numbers(text) or negations(text))
    ]
    replies = ask(asked, answer, segments, model, progress, draws=draws)
    stating = {
        i: reply
        for (i, _), reply in replies.items()
        if isinstance(reply, Labelled) and reply.text is not None
    }
    # Where it is not known whose rules these are, the first statement may say so.
    first_said = next((segments[i].text for i in stating), "") if whose is None else ""
    units = {
        i: _Unit(answer, segments, (i, said[i]), reply, first_said) for i, reply in stating.items()
    }
    again = [(i, piece) for i, unit in units.items() for piece in unit.to_ask()]
    for (i, piece), reply in ask(again, answer, segments, model, silent).items():
        units[i].take(piece, reply)

    def split(index: int) -> Split:
        reply = replies.get((index, said[index]))
        if reply is None:
            return Split(((Kind.META_STATEMENT, segments[index].text),))
        if isinstance(reply, ScoringError):
            raise reply
        if reply.text is None:
            # The kind without claims that is most probable.
            label = 1 + int(np.argmax(reply.scores[1:]))
            return Split(((list(KINDS.values())[label], segments[index].text),))
        return units[index].split()

    return each_segment(segments, split, chosen=chosen, progress=silent)


class _Unit:
    """A unit of an answer that states something, and what the model made of it.

    Args:
        answer: the text, and what it replies to.
        segments: its units.
        part: which of them, and its text as it was shown.
        reply: what the model wrote.
        first_said: the first unit of the answer that states something.
    """

    def __init__(
        self,
        answer: Answer,
        segments: Sequence[Segment],
        part: Part,
        reply: Labelled,
        first_said: str,
    ) -> None:
        index, self._text = part
        self._segment, self._answer = segments[index], answer.text
        above = (answer.question or "", *self._segment.headings)
        self._around = " ".join((*above, unmarked(answer.text[: self._segment.span.start])))
        self._near = " ".join((*above, first_said)), section(segments, index)
        self._filler: set[str] = set()
        self._below = answer.text[self._segment.span.end :]
        ways = [_claims(reply), *map(parse_claims, reply.drawn)]
        kept = [(self._own(way), len(way)) for way in ways]
        # A way of which nothing is believed says nothing of the others.
        kept = [one for one in kept if one[0]] or kept[:1]
        self._kept, written = kept[most_like_the_others([own for own, _ in kept])]
        self._dropped = written - len(self._kept)

    def to_ask(self) -> list[str]:
        """Pieces that its claims leave out, where these are less than all of it."""
        return [piece for piece in self._left_out() if piece != self._text] if self._kept else []

    def take(self, piece: str, reply: Labelled | ScoringError) -> None:
        """Take what the model wrote of a piece that was left out, if it says just that."""
        if isinstance(reply, ScoringError):
            return  # it is added as it stands
        filler = not (is_row(self._text) or numbers(piece) or negations(piece))
        if reply.text is None and filler:
            self._filler.add(piece)
        new = words_and_numbers(piece) - words_and_numbers(" ".join(self._kept))
        told = [one for one in self._believed(_claims(reply)) if words_and_numbers(one) & new]
        if not pieces_left_out([*self._kept, *told], piece):
            self._kept += told

    def split(self) -> Split:
        """The claims, and what they leave out as it stands."""
        added = self._left_out()
        if added and not is_row(self._text):
            added = left_out(self._kept, self._text, self._told_otherwise())
        claims = [*(part for one in self._kept for part in taken_apart(one)), *added]
        plain = (_EMPHASIS.sub(r"\2", one) for one in claims or [self._text])
        units = tuple((Kind.FACT, one) for one in dict.fromkeys(plain))
        return Split(units, self._dropped, bool(added))

    def _own(self, written: Sequence[str]) -> list[str]:
        """What is believed of claims, and of no unit further down."""
        found = self._believed(written)
        if is_row(self._text):  # the words of its claims are its table's
            return found
        return own_claims(found, self._text, self._around, self._below)

    def _believed(self, written: Sequence[str]) -> list[str]:
        own = (without_strangers(one, self._segment.text, *self._near) for one in written)
        return [
            one for one in own if one and founded(one, self._segment, self._around, self._answer)
        ]

    def _left_out(self) -> list[str]:
        """Pieces, or cells of a row, that the claims leave out, filler aside."""
        also = self._told_otherwise()
        if is_row(self._text):
            head = next((h for h in reversed(self._segment.headings) if is_row(h)), "")
            found = cells_left_out(self._kept, self._text, head, also)
        else:
            found = pieces_left_out(self._kept, self._text, also)
        return [piece for piece in found if piece not in self._filler]

    def _told_otherwise(self) -> frozenset[str]:
        """Numbers of the unit that its claims say in another unit or notation."""
        large = counted_in(numbers(self._text), " ".join(self._segment.headings))
        readings = written_otherwise(self._text)
        said = " ".join(self._kept)
        told = numbers(said)
        return frozenset(large[n] for n in told & large.keys()).union(
            written_otherwise(said), *(readings[n] for n in told & readings.keys())
        )


def _claims(reply: Labelled) -> list[str]:
    """What a reply claims; the last line of a text that was cut is no claim."""
    text = reply.text or ""
    return parse_claims(text if reply.ended else text.rpartition("\n")[0])


def uncited(text: str) -> str:
    """A unit as it is shown: without citations, nor where its links lead to."""
    return _CITATION.sub("", _TARGET.sub("", text))


def founded(text: str, segment: Segment, around: str, answer: str) -> bool:
    """Whether a claim is of its unit, and nothing in it is made up.

    It shares a word or a number with the unit, or with what a mere "yes" is the answer to; its
    numbers stand there or around it; most of its words stand in the answer; and it denies
    nothing that neither the unit denies nor a heading, such as "What is not covered:". One that
    says of something that it is itself is not.

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
        and not is_of_itself(text)
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
