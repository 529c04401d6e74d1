"""Records in FactReasoner's format whose atoms have labels: S is supported, NS is not."""

from __future__ import annotations

from pathlib import Path

from factcheck_local.core.errors import RecordError
from factcheck_local.evaluate.collection import Collection, Item, digest_of
from factcheck_local.pipeline.claims.records import parse_input

#: Labels of FActScore and of FactReasoner's records; others are no gold label.
GOLD = {"S": True, "NS": False, "supported": True, "not supported": False, "contradicted": False}


def load(path: Path) -> Collection:
    """Read a record, or one a line.

    Raises:
        RecordError: if it cannot be read, is malformed, or no atom has a label.
    """
    try:
        records = parse_input(path.read_bytes(), str(path))
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    items = tuple(
        Item(
            f"record{number:04}",
            record,
            {a.id: GOLD[a.label] for a in record.atoms or () if a.label in GOLD},
        )
        for number, record in enumerate(records)
    )
    if not any(item.gold for item in items):
        raise RecordError(f"{path}: no atom has a label: expected one of {', '.join(GOLD)}")
    return Collection("record", digest_of([path]), items)
