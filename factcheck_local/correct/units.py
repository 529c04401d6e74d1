"""The sentences of an assessed answer, each with what it claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from factcheck_local.core.types import Span
from factcheck_local.pipeline.claims.markers import unmarked
from factcheck_local.report.stored import span_of

Row = dict[str, Any]

#: What evidence neither bears out nor contradicts.
OPEN = ("conflicting", "undecided", "not_found")

UNSUPPORTED = ("contradicted", *OPEN)


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence of the answer, and what it claims.

    Attributes:
        span: where it stands.
        stands: what stands there, perhaps with the markers of an earlier correction.
        claims: as the assessment has them.
    """

    span: Span
    stands: str
    claims: tuple[Row, ...]

    @property
    def text(self) -> str:
        """The sentence without markers."""
        return unmarked(self.stands)

    def of(self, *verdicts: str) -> tuple[Row, ...]:
        """The claims with one of these verdicts."""
        return tuple(c for c in self.claims if c["verdict"] in verdicts)


def said(claim: Row) -> str:
    """What a claim says, without the markers of the sentence that it was made from."""
    return unmarked(claim["text"])


def units_of(assessment: Row, text: str) -> tuple[list[Unit], tuple[Row, ...]]:
    """The sentences in order, and the unsupported claims that have none.

    What a record gives as a claim's origin may overlap that of another: these are one.

    Args:
        assessment: what ``to_dict`` gives.
        text: of its answer.
    """
    places = [
        (span, atom)
        for atom in assessment["atoms"]
        for span in map(span_of, [atom["span"], *atom.get("repeats", ())])
        if span is not None
    ]
    units: list[Unit] = []
    for span, atom in sorted(places, key=lambda place: (place[0].start, place[0].end)):
        claims: tuple[Row, ...] = (atom,)
        if units and units[-1].span.overlaps(span):
            last = units.pop()
            span = Span(last.span.start, max(last.span.end, span.end))
            claims = (*last.claims, atom)
        units.append(Unit(span, span.of(text), claims))
    lost = (a for a in assessment["atoms"] if a["span"] is None and a["verdict"] in UNSUPPORTED)
    return units, tuple(lost)
