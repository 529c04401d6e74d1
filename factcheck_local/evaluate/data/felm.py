"""FELM (Chen et al. 2023): answers in five domains, each segment called right or wrong.

A segment is wrong when any of its claims is (section 4.1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import RecordError
from factcheck_local.core.types import Answer, Atom, Span
from factcheck_local.evaluate.collection import (
    Collection,
    Item,
    LabelledSegment,
    digest_of,
    field_of,
    json_rows,
)
from factcheck_local.pipeline.claims.records import Record

_APART = "\n\n"

#: Characters of a reference without which it is a failed download.
MIN_CHARACTERS = 200


def load(path: Path, *, oracle: bool, pipeline: bool = False) -> Collection:
    """Read ``felm.jsonl``.

    Args:
        path: the file, or the folder that it is in.
        oracle: whether only an answer's own reference may be used; else those of all answers.
        pipeline: whether atoms are split by the pipeline; else each segment is one.

    Raises:
        RecordError: if the file cannot be read or a row is not as expected.
    """
    path = path / "felm.jsonl" if path.is_dir() else path
    items, documents = [], {}
    for where, row in json_rows(path):
        name = f"answer{row.get('index', where)}"
        reference = _reference(row.get("ref_contents"))
        if reference:
            documents[f"{name}.txt"] = reference
        items.append(_item(row, name, where, oracle, pipeline))
    return Collection(
        "felm-oracle" if oracle else "felm",
        digest_of([path]),
        tuple(items),
        documents,
        notes=("answers without a reference, all of math and reasoning, have no evidence",),
    )


def _item(row: Mapping[str, Any], name: str, where: str, oracle: bool, pipeline: bool) -> Item:
    texts = [str(t) for t in field_of(row, "segmented_response", list, where)]
    labels = field_of(row, "labels", list, where)
    if len(texts) != len(labels):
        raise RecordError(f"{where}: {len(texts)} segments and {len(labels)} labels")
    errors = _errors(row.get("type"), len(texts))
    segments, atoms, at = [], [], 0
    for number, (text, right) in enumerate(zip(texts, labels, strict=True)):
        span = Span(at, at + len(text))
        segments.append(LabelledSegment(span, not right, None if right else errors[number]))
        if re.search(r"\w", text):
            atoms.append(Atom(f"a{number}", text, text, span=span, label=str(bool(right))))
        at = span.end + len(_APART)
    answer = Answer(_APART.join(texts), where, field_of(row, "prompt", str, where))
    return Item(
        name,
        Record(answer, None if pipeline else tuple(atoms)),
        {} if pipeline else {a.id: a.label == "True" for a in atoms},
        tuple(segments),
        where=(f"source={name}.txt",) if oracle else (),
        group=str(row.get("domain", "")),
    )


def _errors(found: object, segments: int) -> list[str | None]:
    """The kind of error of each segment; None for all where the data has no list of them."""
    if not isinstance(found, list) or len(found) != segments:
        return [None] * segments
    return [None if e in (None, "", "None") else str(e) for e in found]


def _reference(found: object) -> str:
    texts = found if isinstance(found, list) else [found]
    text = _APART.join(t for t in texts if isinstance(t, str))
    return text if len(text) >= MIN_CHARACTERS else ""
