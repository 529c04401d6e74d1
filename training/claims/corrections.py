"""Sentences with a passage that decides them, and how they should stand, as sequences.

Several share the instructions in front of them, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from factcheck_local.models.chat_format import ChatFormat
from factcheck_local.models.prompts import Prompt
from training.adapter.packing import Tokenize
from training.claims.answers import is_held_out
from training.claims.packing import Sequenced, Tail, in_sequences

#: The reply where the source does not say what is right.
NOTHING = "-"


@dataclass(frozen=True, slots=True)
class LabelledCorrection:
    """A sentence of an answer, and as it should stand.

    Attributes:
        before: what stands in front of it; may be empty.
        quote: what decides it, a stretch of the passage.
        corrected: empty where the source denies it and gives nothing in its place.
        kind: of the error, such as ``number``; ``already-right`` where there is none.
    """

    sentence: str
    before: str
    title: str
    passage: str
    quote: str
    corrected: str
    kind: str


def corrections(place: Path, *, held_out: bool) -> list[LabelledCorrection]:
    """The rows of ``training/data/corrections`` or of a file there, held out or the others."""
    fields = LabelledCorrection.__dataclass_fields__
    return [
        LabelledCorrection(**{name: row[name] for name in fields})
        for path in (sorted(place.glob("*.jsonl")) if place.is_dir() else (place,))
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
        if is_held_out(row["question"]) == held_out
    ]


def sequences(
    items: Sequence[LabelledCorrection],
    *,
    tokenize: Tokenize,
    template: ChatFormat,
    prompt: Prompt,
    most: int,
) -> Iterator[Sequenced]:
    """The items with their replies, as many at once as ``most`` tokens hold, one at least.

    Args:
        items: in any order.
        tokenize: as of ``training.claims.packing.Packer``.
        template: the model's chat format.
        prompt: without examples.
        most: tokens of a sequence.
    """
    end = tokenize(template.close("assistant").rstrip("\n"))
    closing = tokenize(template.close("user")) + tokenize(template.open("assistant"))
    opening = tokenize(template.open("user", "system"))
    tails: list[Tail] = []
    prefix: list[int] = []
    for item in items:
        system, user = prompt.opening(
            title=item.title,
            passage=item.passage,
            quote=item.quote,
            before=item.before,
            sentence=item.sentence,
        )
        if not prefix:
            prefix = tokenize(template.open("system")) + tokenize(system.content)
            prefix += tokenize(template.close("system")) + opening
        front = tokenize(user.content) + closing
        tails.append((front + tokenize(item.corrected or NOTHING) + end, len(front)))
    return in_sequences(prefix, tails, most)
