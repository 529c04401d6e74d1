"""What a benchmark is: answers with gold labels, and where their evidence comes from."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import RecordError
from factcheck_local.core.types import Span
from factcheck_local.pipeline.claims.records import Record, load_json


@dataclass(frozen=True, slots=True)
class LabelledSegment:
    """A stretch of the answer that someone called right or wrong.

    ``error`` is the kind of error, in the data's words; None where it is not said.
    """

    span: Span
    wrong: bool
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One answer of a benchmark.

    Attributes:
        id: names it in the results.
        record: the answer; its atoms and contexts where the data has them.
        gold: atom id -> whether it is supported; atoms without a label are left out.
        segments: labels of stretches of the answer, where the data has such.
        where: conditions on the sources that retrieval may use for it.
        group: what it is counted with, as a domain; empty for none.
    """

    id: str
    record: Record
    gold: Mapping[str, bool] = field(default_factory=dict)
    segments: tuple[LabelledSegment, ...] = ()
    where: tuple[str, ...] = ()
    group: str = ""


@dataclass(frozen=True, slots=True)
class Collection:
    """A benchmark's items.

    Attributes:
        name: of the benchmark.
        digest: sha256 over the data's files, hex.
        items: in the data's order.
        documents: file name -> text, of the corpus that retrieval is open over; empty
            where the items bring their contexts.
        corpus: a folder to index instead.
        notes: what a reader of the figures has to know.
        verdicts: whether its atoms' labels are the verdicts that are expected of them.
    """

    name: str
    digest: str
    items: tuple[Item, ...]
    documents: Mapping[str, str] = field(default_factory=dict)
    corpus: Path | None = None
    notes: tuple[str, ...] = ()
    verdicts: bool = False

    def sample(self, limit: int | None, seed: int) -> Collection:
        """At most ``limit`` items, drawn by the seed, in the data's order."""
        if limit is None or limit >= len(self.items):
            return self
        chosen = sorted(random.Random(seed).sample(range(len(self.items)), limit))
        return replace(self, items=tuple(self.items[i] for i in chosen))


def digest_of(paths: Iterable[Path]) -> str:
    """Sha256 over files, in the order given."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


def json_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file of JSON lines, each with its place for messages.

    Raises:
        RecordError: if the file cannot be read, or a line is no object.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        row = load_json(line, str(path), number)
        if not isinstance(row, dict):
            raise RecordError(f"{path}, line {number}: expected an object")
        yield f"{path}, line {number}", row


def field_of(row: Mapping[str, Any], name: str, kind: type, where: str) -> Any:  # noqa: ANN401
    """A field of a row.

    Raises:
        RecordError: if it is missing or of another type, naming it, or the row is no object.
    """
    if not isinstance(row, dict):
        raise RecordError(f"{where}: expected an object with {name!r}, got {row!r:.40}")
    found = row.get(name)
    if not isinstance(found, kind):
        raise RecordError(f"{where}: expected {name!r} to be a {kind.__name__}")
    return found


def list_of(row: Mapping[str, Any], name: str, where: str) -> list[Any]:
    """A list of a row; empty where it is missing or null.

    Raises:
        RecordError: if it is something else.
    """
    return [] if row.get(name) is None else list(field_of(row, name, list, where))


def canonical(value: object) -> str:
    """One JSON text for a value, whatever the order of its keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
