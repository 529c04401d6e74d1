"""The answers that a command is given: files, records, stdin, one or many."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from factcheck_local.cli.common import input_name, read_input
from factcheck_local.core.errors import FactcheckError, InputError, RecordError
from factcheck_local.pipeline.claims.records import Record, parse_each
from factcheck_local.report.places import answer_file
from factcheck_local.report.render import FORMATS

#: Names that a folder of reports has for itself.
TAKEN = ("index", "summary")

#: Characters of a report's name at most; each has four bytes at most, and 255 is a file's limit.
LONGEST = 50

_UNSAFE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Unusable:
    """An input, or a record in it, that cannot be verified."""

    name: str
    error: FactcheckError


def read_answers(names: Sequence[str], question: str | None) -> list[Record | Unusable]:
    """Every answer of the inputs in their order, or why it cannot be verified."""
    return [found for name in names for found in _read(name, question)]


def _read(name: str, question: str | None) -> Iterator[Record | Unusable]:
    # A file's name need not be text; a report's texts are.
    called = os.fsencode(input_name(name)).decode("utf-8", "replace")
    some = False
    try:
        data, _ = read_input(name)
        for found in parse_each(data, called, question=question):
            some = True
            yield found if isinstance(found, Record) else Unusable(called, found)
        if not some:
            raise RecordError(f"{called}: holds no answer")
    except InputError as error:
        yield Unusable(called, error)


def answer_name(record: Record) -> str:
    """What to call an answer in a message."""
    return record.answer.path or input_name("-")


def digest(record: Record) -> str:
    """Sha256, in hex, over all that a record hands in: texts, atoms, contexts, name."""
    value = json.dumps(asdict(record), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(value.encode()).hexdigest()


def report_names(records: Sequence[Record]) -> list[str]:
    """A file name for each, without an ending: its own, made safe and distinct.

    Names differ by more than case, with whatever endings two reports have, and none leads out of
    a folder or hides in it.
    """

    def files(name: str) -> set[str]:
        # One that ends in .graph, say, has a file that is another one's report as a graph.
        return {f"{name}{ending}".casefold() for ending in FORMATS.values()}

    taken = {file for name in TAKEN for file in files(name)}
    found = []
    for record in records:
        file, line, _ = answer_file({"path": record.answer.path})
        stem = Path(file).stem if file else "answer"
        stem = _UNSAFE.sub("-", stem)[:LONGEST].strip(".-") or "answer"
        base = stem if line is None else f"{stem}-{line}"
        name, number = base, 1
        while files(name) & taken:
            number += 1
            name = f"{base}-{number}"
        taken |= files(name)
        found.append(name)
    return found
