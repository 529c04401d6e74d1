"""What is verified: an answer, its units, and the information in them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from factcheck_local.core.types.span import Span


class Kind(StrEnum):
    """Check-worthiness labels; only the first two go on.

    They are those of VERIFY (FactBench), and behind these what an adapter tells apart, too.
    """

    FACT = "fact"
    CLAIM = "claim"
    INSTRUCTION = "instruction"
    DATA_FORMAT = "data format"
    META_STATEMENT = "meta statement"
    QUESTION = "question"
    OTHER = "other"
    OPINION = "opinion"
    GREETING = "greeting"
    HYPOTHETICAL = "hypothetical"

    @property
    def check_worthy(self) -> bool:
        """Whether a unit of this kind is verified."""
        return self in (Kind.FACT, Kind.CLAIM)


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence (or table row, heading, code block) of the answer.

    ``paragraph`` numbers the block it stands in; ``headings`` is the path of
    what stands above it: headings, the line that introduces a list, the head
    row of a table. ``kind`` is given where the structure alone decides it.
    """

    text: str
    span: Span
    paragraph: int
    headings: tuple[str, ...] = ()
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class Atom:
    """One piece of information that the answer states.

    Attributes:
        text: the atom as verified, self-contained after revision.
        original: the unit of the answer it came from, verbatim.
        span: where ``original`` stands in the answer; None for a record
            whose units are not verbatim in its output.
        repeats: further places in the answer that say the same.
        context_ids: contexts that a record already retrieved for it.
        label: the gold label of a record, as written there.
    """

    id: str
    text: str
    original: str
    kind: Kind = Kind.FACT
    span: Span | None = None
    repeats: tuple[Span, ...] = ()
    context_ids: tuple[str, ...] = ()
    label: str | None = None

    def stands_in(self, span: Span) -> bool:
        """Whether the answer says it within a stretch, there or again."""
        return any(s is not None and s.overlaps(span) for s in (self.span, *self.repeats))


@dataclass(frozen=True, slots=True)
class Answer:
    """A text to verify, and the question it answers where there is one."""

    text: str
    path: str | None = None
    question: str | None = None
