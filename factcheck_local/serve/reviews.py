"""What people say of the claims of checks: who, when, and why; nothing is overwritten.

A reviewer may change their mind: the latest word counts, the earlier ones stay. Where reviewers
differ nothing is decided here, neither by a majority nor by the machine.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from factcheck_local.core.sqlite import connected

#: What may be said of a claim.
Word = Literal["supported", "contradicted", "conflicting", "not_found", "unclear"]

#: What may be said of a passage by itself.
Label = Literal["entailment", "contradiction", "neutral"]

#: How far the reviews of a claim are.
State = Literal["open", "agreed", "disputed"]

_TABLE = """
CREATE TABLE IF NOT EXISTS reviews (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    check_id TEXT NOT NULL,
    claim TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    at REAL NOT NULL
)
"""
_INDEX = "CREATE INDEX IF NOT EXISTS reviews_by_check ON reviews (check_id, number)"
_LABELS = "ALTER TABLE reviews ADD COLUMN evidence TEXT NOT NULL DEFAULT '{}'"


@dataclass(frozen=True, slots=True)
class Review:
    """What somebody says of a claim.

    Attributes:
        claim: its id in the assessment.
        reviewer: the name of their key.
        verdict: their word.
        reason: for people; may be empty.
        at: seconds since 1970.
        evidence: what passages say of the claim, by id of the passage; of some or of none.
    """

    claim: str
    reviewer: str
    verdict: Word
    reason: str
    at: float
    evidence: Mapping[str, Label] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often people agree, with each other and with the run.

    Attributes:
        claims: that two reviewers or more judged.
        agreed: of these, those on which all of them say the same.
        judged: words of reviewers, ``unclear`` left out.
        as_run: of these, those that say what the run says.
    """

    claims: int
    agreed: int
    judged: int
    as_run: int

    @classmethod
    def of(cls, reviews: Sequence[Review], verdicts: Mapping[str, str]) -> Self:
        """Of a check's latest reviews and the run's verdicts by claim."""
        words: dict[str, list[str]] = defaultdict(list)
        for review in reviews:
            words[review.claim].append(review.verdict)
        shared = [said for said in words.values() if len(said) > 1]
        clear = [r for r in reviews if r.verdict != "unclear"]
        return cls(
            claims=len(shared),
            agreed=sum(len(set(said)) == 1 for said in shared),
            judged=len(clear),
            as_run=sum(r.verdict == verdicts.get(r.claim) for r in clear),
        )


class Reviews:
    """The file of reviews; any thread and process may use it.

    Args:
        path: the file; its folder has to be there.

    Raises:
        StoreError: if it is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._connected() as db:
            db.execute(_TABLE)
            db.execute(_INDEX)
            if "evidence" not in [row[1] for row in db.execute("PRAGMA table_info(reviews)")]:
                db.execute(_LABELS)

    def add(
        self,
        check_id: str,
        claim: str,
        reviewer: str,
        verdict: Word,
        reason: str,
        evidence: Mapping[str, Label] = MappingProxyType({}),
    ) -> Review:
        """Keep somebody's word on a claim."""
        review = Review(claim, reviewer, verdict, reason, time.time(), dict(evidence))
        with self._connected() as db:
            db.execute(
                "INSERT INTO reviews (check_id, claim, reviewer, verdict, reason, at, evidence) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (check_id, *(asdict(review) | {"evidence": json.dumps(review.evidence)}).values()),
            )
        return review

    def all(self, check_id: str) -> list[Review]:
        """Every word on a check's claims, in the order in which they were said."""
        with self._connected() as db:
            rows = db.execute(
                "SELECT claim, reviewer, verdict, reason, at, evidence FROM reviews "
                "WHERE check_id = ? ORDER BY number",
                (check_id,),
            ).fetchall()
        return [
            Review(claim, reviewer, verdict, reason, at, json.loads(labels))
            for claim, reviewer, verdict, reason, at, labels in rows
        ]

    def delete(self, check_id: str) -> None:
        """Delete every word on a check's claims."""
        with self._connected() as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("DELETE FROM reviews WHERE check_id = ?", (check_id,))

    def latest(self, check_id: str) -> list[Review]:
        """The latest word of each reviewer on each claim."""
        found = {(r.claim, r.reviewer): r for r in self.all(check_id)}
        return list(found.values())

    def _connected(self) -> AbstractContextManager[sqlite3.Connection]:
        return connected(self._path, "reviews cannot be kept")


def state_of(reviews: Sequence[Review]) -> State:
    """How far a claim's latest reviews are: open without any, disputed where they differ."""
    words = {review.verdict for review in reviews}
    if not words:
        return "open"
    return "agreed" if len(words) == 1 else "disputed"


def rows_of(
    check_id: str, result: Mapping[str, Any], reviews: Sequence[Review]
) -> Iterator[dict[str, Any]]:
    """The checked claims of an assessment, each with what is said of it.

    ``probability``, ``certainty``, ``verdict`` and ``reviewed`` are as ``factcheck calibrate
    --risk`` reads them: ``reviewed`` is what all reviewers say, and None where they differ or
    nobody says anything.

    Args:
        check_id: of the check.
        result: its assessment.
        reviews: the latest of each reviewer.
    """
    for atom in result["atoms"]:
        if atom["verdict"] == "skipped":
            continue
        own = [review for review in reviews if review.claim == atom["id"]]
        state = state_of(own)
        yield {
            "kind": "verdict",
            "check": check_id,
            "claim": atom["id"],
            "text": atom["text"],
            "probability": atom["probability"],
            "certainty": atom.get("certainty"),
            "verdict": atom["verdict"],
            "reviewed": own[0].verdict if state == "agreed" else None,
            "state": state,
            "reviews": [asdict(review) for review in own],
        }


def pairs_of(
    check_id: str, result: Mapping[str, Any], reviews: Sequence[Review]
) -> Iterator[dict[str, Any]]:
    """The passages of which all who labelled them say the same, as ``factcheck calibrate`` reads.

    Args:
        check_id: of the check.
        result: its assessment.
        reviews: the latest of each reviewer.
    """
    contexts = {context["id"]: context for context in result["contexts"]}
    for atom in result["atoms"]:
        for row in atom["evidence"]:
            id_ = row["context"]
            labels = {
                r.evidence[id_] for r in reviews if r.claim == atom["id"] and id_ in r.evidence
            }
            if len(labels) == 1:
                yield {
                    "kind": "relation",
                    "check": check_id,
                    "claim": atom["id"],
                    "context": id_,
                    "premise": contexts[id_]["text"],
                    "title": contexts[id_]["title"],
                    "hypothesis": atom["text"],
                    "label": labels.pop(),
                    "model": row["relation"],
                }
