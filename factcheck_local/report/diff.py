"""What changed between two assessments: verdicts, and the evidence that changed them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from factcheck_local.pipeline.settings import as_named_now
from factcheck_local.report.pairing import Pair, Row, paired
from factcheck_local.report.view import place, quoted

#: Probabilities that are nearer than this are shown alike, and taken as the same.
SAME = 0.0005

#: How a relation bears on a claim.
_SIGNS = {"entailment": 1.0, "contradiction": -1.0}


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that the two runs were made with; None where a run has none of it."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class Witness:
    """A passage as one run had it, and what it said of a claim.

    Attributes:
        place: source with line or page.
        prior: of its source, in (0, 1).
        relation: its label; None where the run did not read the pair.
        probability: of that label.
        quote: the sentences that decide; empty where nothing relates.
        superseded_by: the source that replaces its own, if any.
    """

    place: str
    prior: float
    relation: str | None
    probability: float | None
    quote: str
    superseded_by: str | None

    @property
    def weight(self) -> float:
        """How far it speaks for (> 0) or against the claim: ±p times the prior."""
        return _SIGNS.get(self.relation or "", 0.0) * (self.probability or 0.0) * self.prior


@dataclass(frozen=True, slots=True)
class EvidenceChange:
    """A passage that says something else of a claim than it did, or says it otherwise.

    Attributes:
        source: the document.
        kinds: ``appeared``, ``disappeared``, or some of ``text``, ``prior``,
            ``superseded`` and ``relation``.
        old: None where the old run did not have the passage.
        new: likewise.
    """

    source: str
    kinds: tuple[str, ...]
    old: Witness | None
    new: Witness | None

    @property
    def shift(self) -> float:
        """By how much its weight changed; positive speaks for the claim."""
        return (self.new.weight if self.new else 0.0) - (self.old.weight if self.old else 0.0)


@dataclass(frozen=True, slots=True)
class ClaimState:
    """A claim as one run saw it."""

    id: str
    text: str
    verdict: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim of both runs; ``evidence`` has what changed, the most telling first."""

    old: ClaimState
    new: ClaimState
    evidence: tuple[EvidenceChange, ...]

    @property
    def changed(self) -> bool:
        """Whether the verdict is another."""
        return self.old.verdict != self.new.verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two runs.

    Attributes:
        made_with: settings, models and versions that differ, and the answer or question
            if it is another one.
        index: digests of the index, if they differ.
        claims: those of both runs, in the order of the new one.
        added: claims of the new run only.
        removed: claims of the old run only.
    """

    made_with: tuple[Difference, ...]
    index: Difference | None
    claims: tuple[ClaimChange, ...]
    added: tuple[ClaimState, ...]
    removed: tuple[ClaimState, ...]

    @property
    def changed(self) -> tuple[ClaimChange, ...]:
        """The claims of both runs whose verdict is another."""
        return tuple(c for c in self.claims if c.changed)

    @property
    def same(self) -> bool:
        """Whether both runs have the same claims with the same verdicts."""
        return not (self.changed or self.added or self.removed)


def compare(old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    """Compare two assessments.

    Claims belong together by their text, white space aside; then, if their sentence is
    the same, the most similar ones. Passages belong together by source and text; then,
    within a source, the most similar ones: their text has changed.

    Args:
        old: what ``to_dict`` gives.
        new: likewise.

    Raises:
        KeyError, TypeError: if one is not a complete assessment.
    """
    claims = paired(
        old["atoms"],
        new["atoms"],
        exact=lambda a: _plain(a["text"]),
        group=lambda a: _plain(a["original"]),
        text=lambda a: a["text"],
    )
    passages = paired(
        old["contexts"],
        new["contexts"],
        exact=lambda c: (c["source"], c["text"]),
        group=lambda c: c["source"],
        text=lambda c: c["text"],
    )
    said = _relations(old), _relations(new)
    places = {atom["id"]: i for i, atom in enumerate(new["atoms"])}
    both = sorted(((a, b) for a, b in claims if a and b), key=lambda pair: places[pair[1]["id"]])
    return Comparison(
        made_with=tuple(_made_with(old, new)),
        index=_index(old["run"]["index"], new["run"]["index"]),
        claims=tuple(
            ClaimChange(_state(a), _state(b), _evidence(a, b, passages, said)) for a, b in both
        ),
        added=tuple(_state(b) for a, b in claims if b and not a),
        removed=tuple(_state(a) for a, b in claims if a and not b),
    )


def diff_to_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain values."""
    return {"schema": "factcheck.diff/1", "same": comparison.same, **asdict(comparison)}


# ------------------------------------------------------------------ evidence


def _plain(text: str) -> str:
    return " ".join(text.split())


def _relations(run: Row) -> dict[tuple[str, str], tuple[str, float]]:
    """(passage, claim) -> label and its probability, as evidence has it."""
    return {
        (r["from"], r["to"]): (
            r["relation"],
            r[r["relation"]] * (r["summary"]["confidence"] if "summary" in r else 1.0),
        )
        for r in run["relations"]
    }


def _evidence(
    old: Row,
    new: Row,
    passages: Sequence[Pair],
    said: tuple[dict[tuple[str, str], tuple[str, float]], dict[tuple[str, str], tuple[str, float]]],
) -> tuple[EvidenceChange, ...]:
    """What changed of the passages that bear on a claim in either run."""
    found = []
    for a, b in passages:
        before = _witness(a, old, said[0]) if a else None
        after = _witness(b, new, said[1]) if b else None
        if not any(w and w.weight for w in (before, after)):
            continue
        if kinds := _kinds(a, b, before, after):
            source = (b or a or {})["source"]
            found.append(EvidenceChange(source, kinds, before, after))
    return tuple(sorted(found, key=lambda change: -abs(change.shift)))


def _witness(context: Row, claim: Row, said: dict[tuple[str, str], tuple[str, float]]) -> Witness:
    relation, probability = said.get((context["id"], claim["id"]), (None, None))
    evidence = next((e for e in claim["evidence"] if e["context"] == context["id"]), None)
    return Witness(
        place=place(context, evidence["quote"] if evidence else None),
        prior=context["prior"],
        relation=relation,
        probability=probability,
        quote=quoted(evidence) if evidence else "",
        superseded_by=context.get("superseded_by"),
    )


def _kinds(
    old: Row | None, new: Row | None, before: Witness | None, after: Witness | None
) -> tuple[str, ...]:
    if old is None or new is None or before is None or after is None:
        return ("appeared",) if old is None else ("disappeared",)
    far = abs((before.probability or 0.0) - (after.probability or 0.0)) >= SAME
    differs = {
        "text": old["text"] != new["text"],
        "prior": before.prior != after.prior,
        "superseded": before.superseded_by != after.superseded_by,
        "relation": before.relation != after.relation or far,
    }
    return tuple(kind for kind, there in differs.items() if there)


def _state(atom: Row) -> ClaimState:
    return ClaimState(atom["id"], atom["text"], atom["verdict"], atom["probability"])


# ------------------------------------------------------------------ the runs


def _made_with(old: Row, new: Row) -> list[Difference]:
    """What differs beside the index, by name."""
    sides = [_conditions(old), _conditions(new)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    values = [Difference(name, *(side.get(name) for side in sides)) for name in names]
    return [d for d in values if d.old != d.new]


def _conditions(run: Row) -> dict[str, Any]:
    made = run["run"]
    answer = {"answer": run["answer"]["text"], "question": run["answer"]["question"]}
    models = {f"{m['role']} model": m for m in made["models"]}
    risk = {"thresholds of verdicts": made["risk"]} if made.get("risk") else {}
    found = {
        **answer,
        "version": made["version"],
        **as_named_now(made["settings"]),
        **models,
        **risk,
    }
    # A run in memory has tuples where a stored one has lists.
    values: dict[str, Any] = json.loads(json.dumps(found))
    return values


def _index(old: Row | None, new: Row | None) -> Difference | None:
    digests = [side["digest"] if side else None for side in (old, new)]
    return Difference("index", *digests) if digests[0] != digests[1] else None
