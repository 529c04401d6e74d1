"""What every assessor is given, and what one that asks an LLM says of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.text.hostile import readable, readable_places
from factcheck_local.core.types import Answer, Atom, Context, Span, Verdict
from factcheck_local.models.contracts import ChatModel


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of an atom.

    Attributes:
        verdict: its label.
        probability: P(the atom is true), the label summed out: one for *supported*, a half
            for *undecided*, none for *contradicted* or *not supported*, each weighed by the
            label's probability, or by its share of the votes.
        reason: what the model wrote on the way, where it reasons.
        read: ids of the contexts that it had before it.
    """

    verdict: Verdict
    probability: float
    reason: str | None = None
    read: tuple[str, ...] = ()


#: Told what a judge says of an atom, by its id, or why it says nothing.
Reached = Callable[[str, Judgement | str], None]


@dataclass(frozen=True, slots=True)
class Case:
    """An answer's atoms with their contexts: the same for every assessor.

    Attributes:
        answer: the text, and the question where there is one.
        atoms: the check-worthy ones on which no stage has failed.
        contexts: by id; none for a judge that wants none.
        by_atom: atom id -> ids of its own contexts, best first.
        reached: a judge calls this for an atom as soon as it knows what it will return of it,
            so that a listener need not wait for the others; it changes nothing else.
    """

    answer: Answer
    atoms: tuple[Atom, ...]
    contexts: Mapping[str, Context]
    by_atom: Mapping[str, tuple[str, ...]]
    reached: Reached = field(default=silent, compare=False, repr=False)

    def read_for(self, atom: Atom) -> tuple[Context, ...]:
        """An atom's own contexts, best first."""
        return tuple(self.contexts[id_] for id_ in self.by_atom.get(atom.id, ()))

    def hardened(self) -> Case:
        """The same without text that is hidden or addressed to a model, see ``hostile``.

        An atom of which nothing is left is not in it. The places of the others are those in
        what is left of the answer; one that stands in nothing of it has no place.
        """
        kept = readable_places(self.answer.text)
        question = self.answer.question and readable(self.answer.question)
        answer = replace(self.answer, text=readable(self.answer.text), question=question)

        def moved(span: Span) -> Span | None:
            start, end = bisect_left(kept, span.start), bisect_left(kept, span.end)
            return Span(start, end) if start < end else None

        def left(atom: Atom) -> Atom:
            text = readable(atom.text)
            if atom.span is None:
                return replace(atom, text=text, original=readable(atom.original) or text)
            span = moved(atom.span)
            original = text if span is None else span.of(answer.text)
            repeats = tuple(s for s in map(moved, atom.repeats) if s is not None)
            return replace(atom, text=text, original=original, span=span, repeats=repeats)

        atoms = tuple(a for a in map(left, self.atoms) if a.text.strip())
        contexts = {
            id_: replace(c, title=readable(c.title), text=readable(c.text))
            for id_, c in self.contexts.items()
        }
        return replace(self, answer=answer, atoms=atoms, contexts=contexts)


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgements by atom id, and for atoms without one the reason.

    ``cut`` counts the atoms whose contexts did not fit the prompt whole.
    """

    by_atom: Mapping[str, Judgement] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    cut: int = 0


class Judge(Protocol):
    """An assessor that asks an LLM about each atom or segment."""

    @property
    def wants_contexts(self) -> bool:
        """Whether it reads passages; without, it judges from the model's own knowledge."""

    def judge(self, case: Case, llm: ChatModel, progress: Progress) -> Judged:
        """Judge every atom of a case; each is in one of the two mappings.

        Of an atom that it is done with it may tell ``case.reached``.
        """


#: What each verdict of a judge says of P(the atom is true).
WORTH = {
    Verdict.SUPPORTED: 1.0,
    Verdict.NOT_FOUND: 0.5,
    Verdict.CONTRADICTED: 0.0,
    Verdict.UNSUPPORTED: 0.0,
}
