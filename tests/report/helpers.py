"""An assessment with every verdict in it."""

from __future__ import annotations

from typing import Any

from factcheck_local.core.types import (
    Answer,
    Assessment,
    Atom,
    AtomAssessment,
    Context,
    Evidence,
    InferenceInfo,
    Kind,
    Quote,
    Relation,
    RelationLabel,
    ScoredPair,
    Span,
    Verdict,
)
from factcheck_local.pipeline.run import Run
from factcheck_local.pipeline.settings import Settings

ENTAILMENT, CONTRADICTION = RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION

TEXT = "Leave is 25 days.\nLeave is 30 days.\nPay is monthly.\nLunch is free.\nPets may come.\nHi!"
SENTENCES = TEXT.split("\n")

#: Starts at offset 100 of its document, on line 7.
PASSAGE = "# Leave\n\nStaff get 25 days.\nLeave is 25 days a year."


def quote(text: str) -> Quote:
    start = 100 + PASSAGE.index(text)
    return Quote(text, Span(start, start + len(text)))


CONTEXTS = (
    Context("c1", "leave.md", "Leave", PASSAGE, 0.98, "policies/**", Span(100, 152), line=7),
    Context("c2", "old.pdf", "Old", "Leave is 30 days.", 0.6, span=Span(0, 17), line=1, page=3),
    Context("c3", "http://x", "Web", "Pay is weekly.", 0.9, link="http://x"),
)


def atom(number: int, **fields: Any) -> Atom:  # noqa: ANN401
    text = SENTENCES[number]
    start = TEXT.index(text)
    return Atom(f"a{number}", text, text, span=Span(start, start + len(text)), **fields)


def assessment(*atoms: AtomAssessment, text: str = TEXT) -> Assessment:
    return Assessment(
        answer=Answer(text, "answer.md", "How much leave?"),
        atoms=atoms,
        contexts=CONTEXTS,
        links=(),
        pairs=(ScoredPair("c1", "a0", Relation(0.9, 0.02, 0.08)),),
        inference=InferenceInfo("exact (leaf elimination)", True, True, -1.5),
        notes=("rewordings not trusted: 2",),
    )


ALL = (
    AtomAssessment(
        atom(0, repeats=(Span(18, 20),)),
        Verdict.SUPPORTED,
        0.97,
        evidence=(
            Evidence("c2", CONTRADICTION, 0.7),
            Evidence("c1", ENTAILMENT, 0.95, (quote("Leave is 25 days a year."),)),
        ),
    ),
    AtomAssessment(
        atom(1),
        Verdict.CONFLICTING,
        0.25,
        evidence=(
            Evidence("c1", CONTRADICTION, 0.95, (quote("Staff get 25 days."),)),
            Evidence("c1", CONTRADICTION, 0.9, (quote("Leave is 25 days a year."),)),
            Evidence("c2", ENTAILMENT, 0.99, (Quote("Leave is 30 days.", Span(0, 17)),)),
        ),
    ),
    AtomAssessment(
        atom(2, label="NS"),
        Verdict.CONTRADICTED,
        0.04,
        evidence=(Evidence("c3", CONTRADICTION, 0.97, (Quote("Pay is weekly.", Span(0, 14)),)),),
    ),
    AtomAssessment(atom(3), Verdict.NOT_FOUND, 0.5),
    AtomAssessment(atom(4), Verdict.UNSCORED, reason="the passage does not fit"),
    AtomAssessment(atom(5, kind=Kind.OTHER), Verdict.SKIPPED),
)


def run(found: Assessment) -> Run:
    return Run(
        assessment=found,
        settings=Settings(),
        models=({"role": "llm", "id": "tiny", "sha256": "a" * 64},),
        index={"store": "/s", "collection": "passages", "chunks": 3, "digest": "d" * 64},
        started="2026-01-01T00:00:00+00:00",
        seconds={"atomize": 1.234, "relate": 0.5},
    )
