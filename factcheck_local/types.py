"""The values that pass between the stages: frozen, without behaviour of their own.

Offsets are in characters, half open: ``text[start:end]``. Probabilities are
linear, in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

#: How far a relation's three probabilities may be from adding up to 1.
SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text: characters ``start`` up to, not including, ``end``."""

    start: int
    end: int

    def __post_init__(self) -> None:
        """Refuse a span that runs backwards or starts before the text.

        Raises:
            ValueError: if not ``0 <= start <= end``.
        """
        if not 0 <= self.start <= self.end:
            raise ValueError(f"expected 0 <= start <= end, got {self.start}, {self.end}")

    def of(self, text: str) -> str:
        """The stretch itself."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Whether the two have a character in common."""
        return self.start < other.end and other.start < self.end


# ---------------------------------------------------------------- the corpus


@dataclass(frozen=True, slots=True)
class Block:
    """A structural unit of a document: a heading, a paragraph, a list, a table.

    ``headings`` is the path of headings above it, outermost first; a heading's
    own block carries itself as the last of them. ``line`` is the line or row of the
    source that the block begins in, None where that is the line of the text; line
    feeds in the text count on from it.
    """

    span: Span
    headings: tuple[str, ...] = ()
    is_heading: bool = False
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A source file as text, with what a citation needs.

    Attributes:
        source: path below the corpus root, with forward slashes.
        text: what the file says. For Markdown, reStructuredText, plain text and
            Python this is the file itself, so that offsets are offsets in the
            (decoded) file; for the others it is the extracted text.
        title: front matter title, first heading or file name, in that order.
        blocks: the structure, in order, none overlapping another.
        page_starts: offset at which each page begins; empty without pages.
        metadata: front matter (``date``, ``superseded_by``, ``reliability`` …).
        sha256: hash of the file's bytes.
    """

    source: str
    text: str
    title: str
    blocks: tuple[Block, ...]
    sha256: str
    page_starts: tuple[int, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


def titled(title: str, text: str) -> str:
    """A passage's text under its title, if it has one."""
    return f"{title}\n{text}" if title else text


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of one document: ``text == document.text[span.start:span.end]``.

    ``line`` and ``page`` count from 1; ``page`` is None where there are none. ``line``
    is a row in a spreadsheet, whose sheet is in the titles, and the file's own line in
    tables and JSON, though their text is extracted.
    """

    id: str
    source: str
    text: str
    span: Span
    titles: tuple[str, ...]
    line: int
    page: int | None = None

    @property
    def title(self) -> str:
        """The heading path on one line."""
        return " > ".join(self.titles)

    @property
    def titled_text(self) -> str:
        """What is embedded and looked up: the heading path, a line end, the text."""
        return titled(self.title, self.text)


@dataclass(frozen=True, slots=True)
class Context:
    """A passage as evidence: the chunk, or what a record hands in.

    Attributes:
        title: the heading path, joined with " > ".
        prior: P(the passage is true), the reliability of its source, in (0, 1).
        prior_rule: which rule of the profile gave that prior.
        span: offsets in the source document; None where a record gives none.
        date: the document's own date, as written there.
        superseded_by: the source that replaces this one, where it says so.
    """

    id: str
    source: str
    title: str
    text: str
    prior: float
    prior_rule: str = "default"
    span: Span | None = None
    line: int | None = None
    page: int | None = None
    link: str | None = None
    date: str | None = None
    superseded_by: str | None = None


# ---------------------------------------------------------------- the answer


class Kind(StrEnum):
    """Check-worthiness labels of VERIFY (FactBench); only the first two go on."""

    FACT = "fact"
    CLAIM = "claim"
    INSTRUCTION = "instruction"
    DATA_FORMAT = "data format"
    META_STATEMENT = "meta statement"
    QUESTION = "question"
    OTHER = "other"

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


@dataclass(frozen=True, slots=True)
class Answer:
    """A text to verify, and the question it answers where there is one."""

    text: str
    path: str | None = None
    question: str | None = None


# ------------------------------------------------------------- the relations


class RelationLabel(StrEnum):
    """How a premise bears on a hypothesis; the order is that of ``Relation``."""

    ENTAILMENT = "entailment"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"
    EQUIVALENCE = "equivalence"


@dataclass(frozen=True, slots=True)
class Relation:
    """p(r | premise, hypothesis) over the three labels, adding up to 1."""

    entailment: float
    contradiction: float
    neutral: float

    def __post_init__(self) -> None:
        """Refuse what is not a distribution.

        Raises:
            ValueError: if a value is outside [0, 1] or the sum is not 1.
        """
        values = (self.entailment, self.contradiction, self.neutral)
        if not all(0.0 <= v <= 1.0 for v in values) or not math.isclose(
            sum(values), 1.0, abs_tol=SUM_TOLERANCE
        ):
            raise ValueError(f"expected three probabilities adding up to 1, got {values}")

    @property
    def label(self) -> RelationLabel:
        """The most probable label; neutral wins a tie, contradiction comes next."""
        return max(
            (RelationLabel.NEUTRAL, RelationLabel.CONTRADICTION, RelationLabel.ENTAILMENT),
            key=lambda label: getattr(self, label.value),
        )

    @property
    def probability(self) -> float:
        """Probability of the most probable label."""
        return max(self.entailment, self.contradiction, self.neutral)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a passage says of a claim; ``confidence`` is P(it says something of it)."""

    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class EvidenceLink:
    """A relation that became an edge: ``premise`` bears on ``hypothesis``.

    Attributes:
        premise: id of a context.
        hypothesis: id of an atom or a context.
        label: the most probable relation of the two.
        probability: p* of that label, times the confidence of a summary.
        strength: what the edge's factor carries, see ``graph.links_from``.
    """

    premise: str
    hypothesis: str
    label: RelationLabel
    probability: float
    strength: float


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair that the relation model read, edge or not.

    ``summary`` is what it read of the premise, None where it read all of it.
    """

    premise: str
    hypothesis: str
    relation: Relation
    summary: Summary | None = None

    @property
    def confidence(self) -> float:
        """That of the summary, 1 without one."""
        return 1.0 if self.summary is None else self.summary.confidence


# ------------------------------------------------------------ the assessment


class Verdict(StrEnum):
    """What is said of an atom; ``unscored`` and ``skipped`` are not judgements.

    ``unsupported`` is what assessors of two labels say: contradicted or not found.
    """

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    CONFLICTING = "conflicting"
    NOT_FOUND = "not_found"
    UNSCORED = "unscored"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Quote:
    """The sentence of a passage that decides, verbatim in the source document."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Evidence:
    """A context that bears on an atom, strongest first in ``AtomAssessment``.

    ``quotes`` are the sentences that decide, the one that says most first.
    """

    context_id: str
    label: RelationLabel
    probability: float
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What an atom's posterior rests on.

    Attributes:
        without: source -> P(atom is true) if it were not there.
        low: the lowest P as the prior of one source at a time goes over a range.
        high: the highest.
        pivotal: the relation without which P is no longer on its side of ½, the one
            that moves it farthest if there are several; None if there is none.
        alone: source -> P(atom is true) if there were nothing but it; for the sources
            that bear on the atom themselves.
    """

    without: Mapping[str, float]
    low: float
    high: float
    pivotal: EvidenceLink | None = None
    alone: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AtomAssessment:
    """An atom with its verdict; ``probability`` is None where none was computed.

    ``sensitivity`` is None, too, where nothing relates to the atom. ``read`` are the ids of
    the contexts that a judge had before it, best first; ``reason`` is then what it wrote.
    """

    atom: Atom
    verdict: Verdict
    probability: float | None = None
    reason: str | None = None
    evidence: tuple[Evidence, ...] = ()
    sensitivity: Sensitivity | None = None
    read: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InferenceInfo:
    """How the posteriors were computed; ``log_z`` is a natural logarithm.

    ``error`` estimates the largest error of a posterior: 0 if exact, None if unknown.
    """

    method: str
    exact: bool
    converged: bool
    log_z: float | None
    multimodal: bool = False
    error: float | None = None


@dataclass(frozen=True, slots=True)
class SourceReliability:
    """What FR4 says of a document: P(it is reliable), before and after the evidence."""

    source: str
    prior: float
    posterior: float


@dataclass(frozen=True, slots=True)
class Assessment:
    """Everything an assessor says of one answer."""

    answer: Answer
    atoms: tuple[AtomAssessment, ...]
    contexts: tuple[Context, ...]
    links: tuple[EvidenceLink, ...]
    pairs: tuple[ScoredPair, ...]
    inference: InferenceInfo
    notes: tuple[str, ...] = ()
    sources: tuple[SourceReliability, ...] = ()
