"""WiCE (Kamoi et al. 2023): claims of Wikipedia against the web article that they cite.

A claim is supported if its label is; partially supported and not supported count as not, as
in the paper's own two-way evaluation. A claim is a long sentence: given to a method as one atom, no
single passage may say all of it; split by the pipeline, it is supported if every atom is.
"""

from __future__ import annotations

from pathlib import Path

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


def load(path: Path, *, oracle: bool, pipeline: bool = False) -> Collection:
    """Read ``dev.jsonl``.

    Args:
        path: the file, or the folder that it is in.
        oracle: whether only a claim's own article may be used; else all articles may.
        pipeline: whether claims are split into atoms by the pipeline; else each is one.

    Raises:
        RecordError: if the file cannot be read or a row is not as expected.
    """
    path = path / "dev.jsonl" if path.is_dir() else path
    names: dict[str, str] = {}
    items = []
    for number, (where, row) in enumerate(json_rows(path)):
        article = "\n".join(map(str, field_of(row, "evidence", list, where)))
        name = names.setdefault(article, f"article{len(names):04}.txt")
        claim = field_of(row, "claim", str, where)
        label = field_of(row, "label", str, where)
        supported = label == "supported"
        atom, whole = Atom("a0", claim, claim, label=label), Span(0, len(claim))
        items.append(
            Item(
                f"claim{number:04}",
                Record(Answer(claim, where), None if pipeline else (atom,)),
                {} if pipeline else {"a0": supported},
                (LabelledSegment(whole, not supported),) if pipeline else (),
                where=(f"source={name}",) if oracle else (),
            )
        )
    return Collection(
        "wice-oracle" if oracle else "wice",
        digest_of([path]),
        tuple(items),
        {name: text for text, name in names.items()},
        notes=(
            "a claim is split by the pipeline, and supported if all of its parts are"
            if pipeline
            else "a claim is taken whole, however long",
            "partially supported counts as not supported",
        ),
    )
