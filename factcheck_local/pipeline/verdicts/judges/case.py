"""What every assessor is given, and what one that asks an LLM says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.text.hostile import readable
from factcheck_local.core.types import Answer, Atom, Context, Verdict
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
        contexts: by id.
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

    def seen_by(self, judge: Judge) -> Case:
        """The case as a judge sees it: without contexts, if it wants none."""
        return self if judge.wants_contexts else replace(self, contexts={}, by_atom={})

    def hardened(self) -> Case:
        """The same without text that is hidden or addressed to a model, see ``hostile``."""
        atoms = tuple(replace(a, text=readable(a.text) or a.text) for a in self.atoms)
        contexts = {
            id_: replace(c, title=readable(c.title), text=readable(c.text))
            for id_, c in self.contexts.items()
        }
        return replace(self, atoms=atoms, contexts=contexts)


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
