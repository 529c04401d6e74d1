"""The atomizer: one call a sentence, in a sliding window, and checks on what came.

The window is VeriScore's (§2.1.2): up to three sentences before the marked
one, one after it, the question in front, and the first sentence of a paragraph
of more than five.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from factcheck_local.atomize.parse import parse_claims
from factcheck_local.errors import ScoringError
from factcheck_local.models.contracts import ChatModel, Message
from factcheck_local.prompts import load_prompt
from factcheck_local.types import Atom, Kind, Segment, Span
from factcheck_local.wording import (
    clauses,
    content_words,
    negations,
    normalised,
    numbers,
    share_within,
)

BEFORE, AFTER = 3, 1
LONG_PARAGRAPH = 5

#: The words that the prompt uses for the kinds.
KIND_WORDS = {
    "fact": Kind.FACT,
    "claim": Kind.CLAIM,
    "instruction": Kind.INSTRUCTION,
    "data": Kind.DATA_FORMAT,
    "meta": Kind.META_STATEMENT,
    "question": Kind.QUESTION,
    "other": Kind.OTHER,
}

#: P(fact or claim) from which a sentence is verified: one too many costs
#: seconds, one too few is a claim that nobody has looked at. With the default
#: model no check-worthy sentence of a sample of factcheckbench-dev lay below.
MIN_CHECKABLE = 0.25

#: Share of an atom's content words that its own sentence, or what stands above
#: it, has to contain. A stem or two may differ; another sentence's claim may not.
MIN_SHARE = 0.7

#: Share of a clause's content words that the atoms have to take up.
MIN_CLAUSE_SHARE = 0.5

MAX_REPLY_TOKENS = 320

#: Called with the segments done and all segments.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Atomized:
    """What the atomizer made of an answer.

    Attributes:
        atoms: all units in the answer's order, those not check-worthy too.
        failures: atom id -> why the unit could not be looked at.
        dropped: atoms that their own sentence does not state.
        completed: sentences from which the split left something out, which was
            added as it stands there.
    """

    atoms: tuple[Atom, ...]
    failures: Mapping[str, str]
    dropped: int
    completed: int


def atomize(
    segments: Sequence[Segment],
    model: ChatModel,
    *,
    question: str | None = None,
    chosen: Collection[int] | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Atomized:
    """Split every segment into labelled atoms.

    The kind is read from the label probabilities, before anything is written.
    An atom stays only if its own sentence states it, and a clause that no atom
    takes up is added as it stands, so that nothing checkable is lost.

    Args:
        segments: the answer's units, in order.
        model: labels and splits.
        question: what the answer replies to, if known.
        chosen: which segments, counted from 0; None for all.
        progress: called after each segment.
    """
    atoms: list[Atom] = []
    failures: dict[str, str] = {}
    dropped = completed = 0
    for index, segment in enumerate(segments):
        if chosen is not None and index not in chosen:
            continue
        kind, texts, failure = segment.kind, [segment.text], None
        if kind is None:
            try:
                messages = _messages(segments, index, question)
                kind = _kind(messages, segment, model)
                if kind.check_worthy:
                    parsed = _split(messages, kind, model)
                    kept = [text for text in parsed if _stated(text, segment)]
                    texts = kept + _left_out(kept, segment.text)
                    dropped += len(parsed) - len(kept)
                    completed += len(texts) > len(kept)
            except ScoringError as error:
                kind, failure = Kind.CLAIM, str(error)
        for text in texts:
            atom = Atom(f"a{len(atoms) + 1}", text, segment.text, kind, segment.span)
            atoms.append(atom)
            if failure:
                failures[atom.id] = failure
        progress(index + 1, len(segments))
    return Atomized(tuple(atoms), failures, dropped, completed)


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


def _messages(segments: Sequence[Segment], index: int, question: str | None) -> list[Message]:
    """The prompt for one sentence, seen in its window."""
    segment = segments[index]
    before = list(segments[max(0, index - BEFORE) : index])
    paragraph = [s for s in segments if s.paragraph == segment.paragraph]
    if len(paragraph) > LONG_PARAGRAPH and paragraph[0] not in (segment, *before):
        before.insert(0, paragraph[0])
    after = segments[index + 1 : index + 1 + AFTER]
    return load_prompt("atomize").opening(
        question=question,
        headings=" > ".join(segment.headings),
        before=_on_one_line(s.text for s in before if s.kind is None),
        after=_on_one_line(s.text for s in after if s.kind is None),
        sentence=_on_one_line([segment.text]),
    )


def _on_one_line(texts: Iterable[str]) -> str:
    return " ".join(" ".join(texts).split())


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


def _split(messages: Sequence[Message], kind: Kind, model: ChatModel) -> list[str]:
    word = next(word for word, known in KIND_WORDS.items() if known is kind)
    reply = model.generate(
        messages, max_tokens=MAX_REPLY_TOKENS, stop=("\n\n", "\nSentence:"), start=f"{word}\n"
    )
    return parse_claims(reply)


def _stated(text: str, segment: Segment) -> bool:
    """Whether the atom says something, its numbers and most of its words the sentence's own.

    One that is far longer than the sentence repeats itself.
    """
    around = " ".join(segment.headings)
    return (
        bool(content_words(text) or numbers(text))
        and len(text) <= 3 * len(segment.text) + len(around) + 60
        and numbers(text) <= numbers(segment.text) | numbers(around)
        and share_within(text, segment.text, around) >= MIN_SHARE
        and share_within(text, segment.text) > 0
    )


def _left_out(kept: Sequence[str], sentence: str) -> list[str]:
    """What to add so that no number, negation or clause of the sentence is lost."""
    if not kept:
        return [sentence]
    said = " ".join(kept)
    if negations(sentence) > negations(said):
        return [sentence]
    return [
        clause
        for clause in clauses(sentence)
        if not numbers(clause) <= numbers(said) or share_within(clause, said) < MIN_CLAUSE_SHARE
    ]
