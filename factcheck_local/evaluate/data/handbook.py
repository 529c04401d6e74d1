"""A corpus with labelled answers, as ``corpora/handbook``: ``answers/*.labels.json`` in it."""

from __future__ import annotations

import json
from pathlib import Path

from factcheck_local.core.errors import RecordError
from factcheck_local.core.types import Answer, Atom, Span, Verdict
from factcheck_local.evaluate.collection import Collection, Item, digest_of
from factcheck_local.pipeline.claims.records import Record

ANSWERS = "answers"


def load(path: Path) -> Collection:
    """Read the labels of every answer; the corpus is indexed without them.

    Raises:
        RecordError: if there are none, or one is not as expected.
    """
    files = sorted((path / ANSWERS).glob("*.labels.json"))
    if not files:
        raise RecordError(f"{path}: no labelled answers: expected {ANSWERS}/*.labels.json")
    return Collection(
        "handbook",
        digest_of(files),
        tuple(map(_item, files)),
        corpus=path,
        notes=("gold: supported; contradicted, conflicting and not found count as not",),
        verdicts=True,
    )


def _item(file: Path) -> Item:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        text = (file.parent / data["answer"]).read_text(encoding="utf-8")
        atoms = tuple(
            Atom(
                c["id"],
                c["text"],
                c["original"],
                span=Span(c["start"], c["end"]),
                label=Verdict(c["label"]).value,
            )
            for c in data["claims"]
        )
        answer = Answer(text, data["answer"], data["question"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{file}: not a file of labels: {error}") from error
    gold = {a.id: a.label == Verdict.SUPPORTED for a in atoms}
    return Item(file.name.removesuffix(".labels.json"), Record(answer, atoms), gold)
