"""What is said of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from factcheck_local.core.types.answer import Answer, Atom
from factcheck_local.core.types.corpus import Context
from factcheck_local.core.types.relations import EvidenceLink, RelationLabel, ScoredPair
from factcheck_local.core.types.span import Span


class Verdict(StrEnum):
    """What is said of an atom; ``unscored`` and ``skipped`` are not judgements.

    ``unsupported`` is what assessors of two labels say: contradicted or not found;
    ``undecided`` what is too uncertain for one, see ``Thresholds``.
    """

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    CONFLICTING = "conflicting"
    UNDECIDED = "undecided"
    NOT_FOUND = "not_found"
    UNSCORED = "unscored"
    SKIPPED = "skipped"

    @property
    def supports(self) -> bool:
        """Whether the claim counts as supported, in what is said of an answer and of many.

        Benchmarks compare methods by P, see ``evaluate.scores``.
        """
        return self is Verdict.SUPPORTED

    @property
    def denies(self) -> bool:
        """Whether the claim counts as wrong."""
        return self in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED)

    @property
    def decides(self) -> bool:
        """Whether the claim counts as decided, for or against."""
        return self.supports or self.denies


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which certainty on a claim is called supported or contradicted; below, undecided.

    A side at 0 has no threshold of its own, and nothing is promised of it.

    Attributes:
        supported: the least certainty of a supported claim, in [0, 1].
        contradicted: the least certainty of a contradicted claim, in [0, 1].
        alpha: of the claims that are called so at most this share is not, see
            ``metrics.called_threshold``; None where nothing is promised.
        claims: labelled claims that the thresholds were fitted on.
        data: what claims these are.
        assessor: whose P the certainty is of.
    """

    supported: float = 0.0
    contradicted: float = 0.0
    alpha: float | None = None
    claims: int = 0
    data: str = ""
    assessor: str = ""


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

    ``certainty``, in [0, 1], is how sure P and the passages together are of its side of ½, see
    ``verdicts.decide.certainty``; None where there is no P, and of a judge's verdict.
    ``sensitivity`` is None, too, where nothing relates to the atom. ``read`` are the ids of
    the contexts that a judge had before it, best first; ``reason`` is then what it wrote.
    """

    atom: Atom
    verdict: Verdict
    probability: float | None = None
    certainty: float | None = None
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
