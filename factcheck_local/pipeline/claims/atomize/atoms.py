"""The atomizer: one call a sentence, in a sliding window, and checks on what came."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.text.wording import normalised, numbers
from factcheck_local.core.types import Atom, Kind, Segment, Span
from factcheck_local.models.contracts import ChatModel, Message
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.claims.atomize.checks import left_out, stated
from factcheck_local.pipeline.claims.atomize.each import (
    MAX_REPLY_TOKENS,
    STOP,
    Atomized,
    Split,
    each_segment,
)
from factcheck_local.pipeline.claims.atomize.lists import taken_apart
from factcheck_local.pipeline.claims.atomize.parse import KIND_WORDS, parse_claims
from factcheck_local.pipeline.claims.atomize.window import window

#: P(fact or claim) from which a sentence is verified: one too many costs
#: seconds, one too few is a claim that nobody has looked at. With the default
#: model no check-worthy sentence of a sample of factcheckbench-dev lay below.
MIN_CHECKABLE = 0.25


def atomize(
    segments: Sequence[Segment],
    model: ChatModel,
    *,
    question: str | None = None,
    chosen: Collection[int] | None = None,
    progress: Progress = silent,
) -> Atomized:
    """Split every segment into labelled atoms.

    The kind is read from the label probabilities, before anything is written.
    An atom stays only if its own sentence states it, and a clause that no atom
    takes up is added as it stands, or with its whole sentence, so that nothing checkable is
    lost. An enumeration of names is taken apart.

    Args:
        segments: the answer's units, in order.
        model: labels and splits.
        question: what the answer replies to, if known.
        chosen: which segments, counted from 0; None for all.
        progress: called after each segment.
    """

    def split(index: int) -> Split:
        segment = segments[index]
        seen = window(segments, index)
        messages = load_prompt("atomize").opening(question=question, **seen)
        kind = _kind(messages, segment, model)
        if not kind.check_worthy:
            return Split(((kind, segment.text),))
        parsed = _parts(messages, kind, model)
        kept = [text for text in parsed if stated(text, segment)]
        added = left_out(kept, segment.text)
        whole = [one for text in (*kept, *added) for one in taken_apart(text)]
        units = tuple((kind, text) for text in whole)
        return Split(units, len(parsed) - len(kept), bool(added))

    return each_segment(segments, split, chosen=chosen, progress=progress)


def merge_repeats(atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """One atom for what an answer says more than once; the first keeps its place."""
    first: dict[str, Atom] = {}
    for atom in atoms:
        key = f"{atom.kind.check_worthy} {normalised(atom.text)}"
        if key not in first:
            first[key] = atom
        elif atom.span is not None and atom.span != first[key].span:
            repeats: tuple[Span, ...] = (*first[key].repeats, atom.span)
            first[key] = replace(first[key], repeats=repeats)
    return tuple(first.values())


def _kind(messages: Sequence[Message], segment: Segment, model: ChatModel) -> Kind:
    """The kind the model finds most probable, in doubt one that is verified.

    A figure can be looked up, whatever the sentence around it is.
    """
    scores = np.exp(model.score_labels(messages, [""], list(KIND_WORDS))[0])
    probability: dict[Kind, float] = dict(zip(KIND_WORDS.values(), scores.tolist(), strict=True))
    checkable = sum(p for kind, p in probability.items() if kind.check_worthy)
    verified = checkable >= MIN_CHECKABLE or bool(numbers(segment.text))
    choices = [kind for kind in probability if kind.check_worthy == verified]
    return max(choices, key=lambda kind: probability[kind])


def _parts(messages: Sequence[Message], kind: Kind, model: ChatModel) -> list[str]:
    word = next(word for word, known in KIND_WORDS.items() if known is kind)
    reply = model.generate(messages, max_tokens=MAX_REPLY_TOKENS, stop=STOP, start=f"{word}\n")
    return parse_claims(reply)
