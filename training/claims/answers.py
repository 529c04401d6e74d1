"""Answers whose parts have a kind and claims, as the product splits answers into parts."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from factcheck_local.core.text.wording import content_words, numbers
from factcheck_local.core.types import Answer, Segment
from factcheck_local.pipeline.claims.atomize.asking import asked_of
from factcheck_local.pipeline.claims.split import segment

#: One answer in so many is kept from training.
HELD_OUT = 6
#: Share of the answers that do without their question which are read without it; all of those
#: whose organisation is known, which few of them do.
WITHOUT_QUESTION = 0.4


@dataclass(frozen=True, slots=True)
class Part:
    """A unit of an answer as it should be taken apart.

    Attributes:
        segment: the unit as the product splits it off, with its headings.
        kind: one of the words in ``training/data/atoms``, such as ``claim``.
        claims: empty unless the kind is ``claim``.
    """

    segment: Segment
    kind: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """An answer with those of its parts that are read, not told by their form.

    Attributes:
        question: None where the claims do without it and it is left out.
        text: the whole answer.
        parts: in order.
        organisation: whose rules it tells, where that is known from elsewhere.
    """

    question: str | None
    text: str
    parts: tuple[Part, ...]
    organisation: str | None = None

    @property
    def asked(self) -> str | None:
        """The question as the product asks it: it names the organisation."""
        return asked_of(Answer(self.text, question=self.question), self.organisation).question


def is_held_out(question: str) -> bool:
    """Whether the answer to a question is kept from training."""
    digest = hashlib.sha256(question.encode()).digest()
    return int.from_bytes(digest[:8], "big") % HELD_OUT == 0


def answers(place: Path, *, held_out: bool) -> list[LabelledAnswer]:
    """The answers of ``training/data/atoms`` or of a file there, those held out or the others."""
    return [
        LabelledAnswer(row["question"], row["answer"], tuple(_parts(row)), row.get("organisation"))
        for path in (sorted(place.glob("*.jsonl")) if place.is_dir() else (place,))
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
        if is_held_out(row["question"]) == held_out
    ]


def needs_question(answer: LabelledAnswer) -> bool:
    """Whether a claim has a word or a number that only the question has.

    The organisation's name is known without it.
    """
    said = content_words(answer.text) | numbers(answer.text)
    said |= content_words(answer.organisation or "")
    asked = content_words(answer.question or "") | numbers(answer.question or "")
    claims = [claim for part in answer.parts for claim in part.claims]
    return any((content_words(c) | numbers(c)) & asked - said for c in claims)


def drawn(answer: LabelledAnswer, rng: random.Random) -> LabelledAnswer:
    """An answer as a run reads it: some without their question, if they do without it."""
    share = 1.0 if answer.organisation else WITHOUT_QUESTION
    leave_out = not needs_question(answer) and rng.random() < share
    return replace(answer, question=None) if leave_out else answer


def _parts(row: dict[str, Any]) -> Iterator[Part]:
    """The labelled units that are units to the product, too.

    A unit that the product parts from its run-in heading keeps its claims. The others, which it
    cuts in two or takes together, are left out.
    """
    units: Sequence[dict[str, Any]] = row["units"]
    texts = [_plain(unit["text"]) for unit in units]
    at = 0
    for found in segment(row["answer"]):
        if found.kind is not None:
            continue
        text = _plain(found.text)
        place = next(
            (i for i in range(at, len(units)) if texts[i] == text or _headed(texts[i], text)), None
        )
        if place is None:
            continue
        at = place + 1
        unit = units[place]
        if unit["kind"] != "heading":
            yield Part(found, unit["kind"], tuple(unit["claims"]))


def _headed(unit: str, text: str) -> bool:
    """Whether a unit is a run-in heading and the text."""
    return unit.startswith(("*", "_")) and unit.endswith(text) and len(unit) - len(text) < 60


def _plain(text: str) -> str:
    """A unit as it is compared: one line, and a row of a table without the pipes around it."""
    return " ".join(text.split()).strip("| ")
