"""What tools answer: typed, and small enough for an agent; the report has the rest.

The names are those of ``report.findings``.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from factcheck_local.report.findings import cited
from factcheck_local.report.view import Citation, citations, one_line, uncited

#: Claims of an answer, citations of a claim and characters of a text that are shown.
MOST_CLAIMS, MOST_CITATIONS, MOST_CHARACTERS = 40, 2, 600

#: Verdicts of claims that an agent need not look at first.
_LAST = ("supported", "skipped")


class _Told(BaseModel):
    """Fields without a value are left out."""

    @model_serializer(mode="wrap")
    def _there(self, fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in fields(self).items() if value is not None}


class Cited(_Told):
    """A sentence of a document that decides."""

    quote: str
    relation: str = Field(description="What it does to the claim: entailment or contradiction.")
    probability: float = Field(description="Of that relation, 0 to 1.")
    source: str = Field(description="The file.")
    line: int | None = Field(None, description="Line of the file, from 1.")
    page: int | None = Field(None, description="Page of the file, from 1.")
    prior: float = Field(description="How reliable its source is before the evidence, 0 to 1.")
    passage: str = Field(description="Id for get_passage.")

    @classmethod
    def of(cls, citation: Citation) -> Cited:
        """One of a report."""
        found = cited(citation)
        short = {"quote": _cut(found["quote"]), "probability": round(found["probability"], 4)}
        return cls(**found | short)


class Claim(_Told):
    """A claim and what became of it."""

    text: str
    verdict: str = Field(
        description="supported, contradicted, conflicting, undecided, not_found, unsupported; "
        "unscored where it could not be judged, skipped where there is nothing to check."
    )
    probability: float | None = Field(None, description="That it is true, 0 to 1.")
    citations: list[Cited] = Field(description="The deciding one first.")
    note: str | None = Field(None, description="What there is to say where nothing is quoted.")


class Checked(_Told):
    """A check that is done."""

    check: str = Field(description="Its id.")
    claims: list[Claim] = Field(description="What is not supported first.")
    left_out: int = Field(description="Claims that only the report has.")
    counts: dict[str, int] = Field(description="Claims by verdict.")
    precision: float | None = Field(None, description="Share of claims supported, 0 to 1.")
    notes: list[str] = Field(description="What to know of the whole run.")
    report: str = Field(description="The resource with the whole report.")

    @classmethod
    def of(cls, check: str, assessment: dict[str, Any], report: str) -> Checked:
        """The assessment of a check, in short."""
        atoms = sorted(assessment["atoms"], key=lambda a: a["verdict"] in _LAST)
        found = assessment["summary"]
        return cls(
            check=check,
            claims=[_claim(assessment, atom) for atom in atoms[:MOST_CLAIMS]],
            left_out=max(0, len(atoms) - MOST_CLAIMS),
            counts={verdict: n for verdict, n in found["counts"].items() if n},
            precision=found["precision"],
            notes=assessment["notes"],
            report=report,
        )


class Passage(_Told):
    """A passage of a document."""

    id: str
    text: str
    source: str = Field(description="The file.")
    title: str | None = None
    line: int | None = Field(None, description="Its first line in the file, from 1.")
    page: int | None = Field(None, description="Page of the file, from 1.")
    prior: float = Field(description="How reliable its source is, 0 to 1.")
    date: str | None = None
    superseded_by: str | None = Field(None, description="The file that took its place.")
    similarity: float | None = Field(None, description="Cosine to the query.")


class Found(_Told):
    """The passages that a query finds, the best first."""

    passages: list[Passage]


class Source(_Told):
    """A document of the corpus."""

    source: str = Field(description="The file.")
    prior: float = Field(description="How reliable it is, 0 to 1.")
    rule: str | None = Field(None, description="What the prior is from.")
    date: str | None = None
    passages: int
    superseded_by: str | None = Field(None, description="The file that took its place.")


class Sources(_Told):
    """Some of the documents, by name."""

    sources: list[Source]
    count: int = Field(description="How many there are in all.")


def _claim(assessment: dict[str, Any], atom: dict[str, Any]) -> Claim:
    shown = [Cited.of(c) for c in islice(citations(assessment, atom), MOST_CITATIONS)]
    return Claim(
        text=_cut(atom["text"]),
        verdict=atom["verdict"],
        probability=None if atom["probability"] is None else round(atom["probability"], 4),
        citations=shown,
        note=None if shown else _cut(uncited(assessment, atom)),
    )


def _cut(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
