"""The claims as the page shows them; numbers stay in the assessment and are looked up there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from factcheck_local.report.view import DECIDES, SIGNS, place, quoted, turns_on, uncertain, uncited

#: What a reader has to look at first; the first of a stretch's verdicts colours it.
URGENCY = (
    "contradicted",
    "unsupported",
    "conflicting",
    "unscored",
    "undecided",
    "not_found",
    "supported",
)

VERBS = {"entailment": "supports", "contradiction": "contradicts"}

#: A source that does not bear on a claim itself is listed if P moves by so much without it.
INDIRECT = 0.005


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """A passage that bears on a claim.

    Attributes:
        position: among the claim's evidence in the assessment.
        context: position of the passage in the assessment.
        passage: the passage.
        relation: ``entailment`` or ``contradiction``.
        place: source, and page or line.
        quote: the sentences that decide, on one line.
        spans: their offsets in the passage.
    """

    position: int
    context: int
    passage: dict[str, Any]
    relation: str
    place: str
    quote: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """What one source means for a claim.

    Attributes:
        name: of the source.
        evidence: what it says of the claim itself; empty if it only bears on that.
        alone: whether P with nothing but it is known.
        without: whether P without it is known.
    """

    name: str
    evidence: tuple[ShownEvidence, ...]
    alone: bool
    without: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """An atom that was verified.

    Attributes:
        number: from 1, in the order of the answer.
        position: among the assessment's atoms.
        atom: as in the assessment.
        sign: of the verdict.
        words: the verdict.
        strength: 1 to 3, how far P is from ½; 0 without one.
        evidence: what decides first.
        sources: those of the evidence, and those that matter without bearing on it.
        uncertain: what an undecided claim lacks of a verdict, or empty.
        turns_on: the relation without which P crosses ½, as a sentence, or empty.
        uncited: what there is to say where there is no evidence.
    """

    number: int
    position: int
    atom: dict[str, Any]
    sign: str
    words: str
    strength: int
    evidence: tuple[ShownEvidence, ...]
    sources: tuple[Source, ...]
    uncertain: str
    turns_on: str
    uncited: str

    @property
    def verdict(self) -> str:
        """As in the assessment."""
        return str(self.atom["verdict"])

    @property
    def disputed(self) -> bool:
        """Whether some passage speaks for it and some against."""
        return len({e.relation for e in self.evidence}) > 1

    @property
    def places(self) -> list[dict[str, int]]:
        """Its spans in the answer."""
        own = self.atom["span"]
        return ([own] if own else []) + list(self.atom.get("repeats", ()))


def claims_of(assessment: dict[str, Any]) -> list[Claim]:
    """The atoms that were not skipped."""
    where = {c["id"]: i for i, c in enumerate(assessment["contexts"])}
    found: list[Claim] = []
    for position, atom in enumerate(assessment["atoms"]):
        if atom["verdict"] == "skipped":
            continue
        evidence = _evidence(assessment, atom, where)
        found.append(
            Claim(
                number=len(found) + 1,
                position=position,
                atom=atom,
                sign=SIGNS[atom["verdict"]],
                words=atom["verdict"].replace("_", " "),
                strength=_strength(atom["probability"]),
                evidence=evidence,
                sources=_sources(atom, evidence),
                uncertain=uncertain(assessment, atom),
                turns_on=turns_on(assessment, atom),
                uncited=uncited(assessment, atom),
            )
        )
    return found


def _evidence(
    assessment: dict[str, Any], atom: dict[str, Any], where: dict[str, int]
) -> tuple[ShownEvidence, ...]:
    found = []
    for position, e in enumerate(atom["evidence"]):
        context = where[e["context"]]
        passage = assessment["contexts"][context]
        quotes = [e["quote"], *e.get("more_quotes", ())] if e["quote"] else []
        found.append(
            ShownEvidence(
                position,
                context,
                passage,
                e["relation"],
                place(passage, e["quote"]),
                quoted(e),
                _spans(passage, quotes),
            )
        )
    return tuple(sorted(found, key=lambda e: e.relation != DECIDES.get(atom["verdict"])))


def _spans(passage: dict[str, Any], quotes: list[dict[str, Any]]) -> tuple[tuple[int, int], ...]:
    """Where the quotes stand in the passage; those that do not stand there are left out."""
    text, offset = passage["text"], passage.get("start", 0)
    spans = ((q["start"] - offset, q["end"] - offset, q["text"]) for q in quotes)
    return tuple(
        sorted((start, end) for start, end, said in spans if start >= 0 and text[start:end] == said)
    )


def _sources(atom: dict[str, Any], evidence: tuple[ShownEvidence, ...]) -> tuple[Source, ...]:
    known = atom.get("sensitivity") or {}
    alone, without = known.get("alone", {}), known.get("without", {})
    names = [e.passage["source"] for e in evidence]
    names += [s for s, p in without.items() if abs(p - atom["probability"]) >= INDIRECT]
    return tuple(
        Source(
            name,
            tuple(e for e in evidence if e.passage["source"] == name),
            name in alone,
            name in without,
        )
        for name in dict.fromkeys(names)
    )


def _strength(probability: float | None) -> int:
    if probability is None:
        return 0
    distance = abs(probability - 0.5)
    return 1 if distance < 0.15 else 2 if distance < 0.35 else 3
