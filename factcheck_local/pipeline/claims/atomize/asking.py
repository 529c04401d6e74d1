"""Parts of an answer, asked for behind the whole of it: their kinds and their claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from factcheck_local.core.errors import ScoringError, TooLongError
from factcheck_local.core.progress import Progress
from factcheck_local.core.types import Answer, Kind, Segment
from factcheck_local.indexer.whose import named_in
from factcheck_local.models.contracts import Adapted, Labelled
from factcheck_local.models.prompts import load_prompt
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

#: Characters of an answer that are read at once. Where they do not fit, as of a table of figures,
#: of which each digit is a token, half as many are tried, down to the last number.
WINDOW, LEAST_WINDOW = 5000, 500

#: What stands in front of a window is shown, too, up to this share of its size.
BEFORE = 0.3

#: Longest claims of a unit, twice those of the training data: what is longer repeats itself.
MAX_TOKENS = 192

#: Units that are asked for together.
TOGETHER = 16

#: What is asked where no question is known, of whose documents the answer is about.
UNASKED = "How does this work at {}?"

#: A unit by its index, and what is asked for of it: all of its text, or a piece.
Part = tuple[int, str]


def asked_of(answer: Answer, whose: str | None) -> Answer:
    """An answer with a question that names the organisation.

    "You have 38 days" is a rule of the organisation, which the answer need not name; where the
    question does not either, a model takes the first name that it meets, of a booking tool, for
    whose rules these are. The answers that it was trained with had questions that do.

    Args:
        answer: the text, and what it replies to.
        whose: the organisation; None where it is not known.
    """
    if whose is None or (answer.question and named_in(answer.question, whose)):
        return answer
    question = f"{whose}: {answer.question}" if answer.question else UNASKED.format(whose)
    return replace(answer, question=question)


def ask(
    parts: Sequence[Part],
    answer: Answer,
    segments: Sequence[Segment],
    model: Adapted,
    progress: Progress,
    *,
    draws: int = 0,
) -> dict[Part, Labelled | ScoringError]:
    """What a model says of parts of an answer, which it reads once for as many as fit.

    Args:
        parts: in the answer's order.
        answer: the text, and what it replies to.
        segments: its units, in order.
        model: with the adapter for ``ADAPTED_PROMPT``.
        progress: called as parts are done.
        draws: how many other replies are drawn for each part.

    Returns:
        Of each part the reply, or why there is none.
    """
    found: dict[Part, Labelled | ScoringError] = {}

    def told(done: int, _: int) -> None:
        progress(len(found) + done, len(parts))

    def within(places: Sequence[Part], size: int) -> None:
        for shown, group in _windows(answer.text, segments, places, size):
            for at in range(0, len(group), TOGETHER):
                together = group[at : at + TOGETHER]
                replies = _replies(shown, together, segments, answer, model, draws, told)
                too_long = any(isinstance(reply, TooLongError) for reply in replies.values())
                if too_long and size > LEAST_WINDOW:
                    within(together, size // 2)
                else:
                    found.update(replies)
                    told(0, 0)

    within(parts, WINDOW)
    return found


def _replies(
    shown: str,
    parts: Sequence[Part],
    segments: Sequence[Segment],
    answer: Answer,
    model: Adapted,
    draws: int,
    progress: Progress,
) -> dict[Part, Labelled | ScoringError]:
    prompt = load_prompt(PROMPT)
    endings = [
        prompt.close(headings=" > ".join(segments[i].headings), part=" ".join(text.split()))
        for i, text in parts
    ]
    try:
        found = model.label_and_write(
            prompt.opening(question=answer.question, answer=shown),
            endings,
            list(KINDS),
            least=MIN_CHECKABLE,
            max_tokens=MAX_TOKENS,
            draws=draws,
            progress=progress,
        )
    except ScoringError as error:
        return dict.fromkeys(parts, error)
    return dict(zip(parts, found, strict=True))


def _windows(
    text: str, segments: Sequence[Segment], parts: Sequence[Part], size: int
) -> Iterator[tuple[str, list[Part]]]:
    """Stretches of a text of so many characters, each with the parts in it that are asked for.

    A stretch begins with a part of what stands in front of it, from a paragraph on.
    """
    group: list[Part] = []
    for part in parts:
        if group and segments[part[0]].span.end - segments[group[0][0]].span.start > size:
            yield _shown(text, segments, group, size), group
            group = []
        group.append(part)
    if group:
        yield _shown(text, segments, group, size), group


def _shown(text: str, segments: Sequence[Segment], group: Sequence[Part], size: int) -> str:
    before = int(BEFORE * size)
    if len(text) <= size + before:
        return unmarked(text)
    first, last = segments[group[0][0]], segments[group[-1][0]]
    begin = max(0, first.span.start - before)
    # The first paragraph that begins behind that; in front of the unit in any case.
    starts = [s.span.start for i, s in enumerate(segments) if not i or _opens(segments, i)]
    begin = next((at for at in starts if at >= begin), first.span.start)
    return unmarked(text[min(begin, first.span.start) : last.span.end])


def _opens(segments: Sequence[Segment], i: int) -> bool:
    return segments[i].paragraph != segments[i - 1].paragraph
