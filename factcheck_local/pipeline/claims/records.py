"""Read what is to be verified: Markdown, plain text, or records in JSON or Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import RecordError
from factcheck_local.core.types import Answer, Atom, Context, Span
from factcheck_local.indexer.reliability import DEFAULT_PRIOR

#: Extensions read as records; everything else is Markdown, or plain text.
RECORD_SUFFIXES = (".json", ".jsonl", ".parquet")

#: Fields of a record that are read, each with those of its rows; see ``parse_record``.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "input": (),
    "output": (),
    "atoms": ("id", "text", "original", "label", "contexts"),
    "contexts": ("id", "title", "text", "snippet", "link"),
}


@dataclass(frozen=True, slots=True)
class Record:
    """An answer, with what earlier stages already made of it.

    ``atoms`` and ``contexts`` are None where the stage is still to be done.

    Raises:
        RecordError: if an id stands for two texts, or an atom names a context that is not among
            those that there are, naming the id.
    """

    answer: Answer
    atoms: tuple[Atom, ...] | None = None
    contexts: tuple[Context, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse ids that stand for two texts, one would be judged as the other; or for none."""
        where = self.answer.path or "record"
        contexts = _unique([c.id for c in self.contexts or ()], f"{where}, contexts")
        atoms = _unique([a.id for a in self.atoms or ()], f"{where}, atoms")
        if both := atoms & contexts:
            raise RecordError(f"{where}: {min(both)!r} is the id of an atom and of a context")
        if self.contexts is not None:
            for i, atom in enumerate(self.atoms or ()):
                _known(atom.context_ids, contexts, f"{where}, atom {i}")


def decode_answer(data: bytes, name: str) -> str:
    """An answer's bytes as text.

    Raises:
        RecordError: if they are not UTF-8, look binary, or hold no text.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordError(
            f"{name}: not valid UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from error
    if "\0" in text:
        raise RecordError(f"{name}: looks binary: a NUL byte at offset {data.index(0)}")
    if not text.strip():
        raise RecordError(f"{name}: the answer is empty")
    return text


def parse_input(data: bytes, path: str, *, question: str | None = None) -> list[Record]:
    """The records of one input; an answer in Markdown or plain text is one.

    Args:
        data: the input's bytes.
        path: its name, for messages, and its extension.
        question: what the answer replies to; wins over a record's own.

    Raises:
        RecordError: if something is malformed, saying what and where.
    """
    found = list(parse_each(data, path, question=question))
    for record in found:
        if isinstance(record, RecordError):
            raise record
    return [record for record in found if isinstance(record, Record)]


def parse_each(
    data: bytes, path: str, *, question: str | None = None
) -> Iterator[Record | RecordError]:
    """As ``parse_input``, but of records one a line, an error in the place of a malformed one.

    Raises:
        RecordError: if the input as a whole is malformed.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        yield from _parse_table(data, path, question)
        return
    text = decode_answer(data, path)
    if suffix not in RECORD_SUFFIXES:
        yield Record(Answer(text, path, question))
        return
    if suffix != ".jsonl":
        yield parse_record(load_json(text, path), path, question=question)
        return
    # Not splitlines: JSON allows other line separators inside its texts.
    for number, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            value = load_json(row, path, number)
            yield parse_record(value, f"{path}, line {number}", question=question)
        except RecordError as error:
            yield error


def _parse_table(data: bytes, path: str, question: str | None) -> Iterator[Record | RecordError]:
    """A record a row, with the fields of ``parse_record`` as columns."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise RecordError(
            f"{path}: Parquet needs pyarrow", hint="pip install 'factcheck-local[scale]'"
        ) from error
    try:
        table = pq.ParquetFile(pa.BufferReader(data))
        known = [name for name in FIELDS if name in table.schema_arrow.names]
        rows = (row for batch in table.iter_batches(columns=known) for row in batch.to_pylist())
        for number, row in enumerate(rows, start=1):
            try:
                yield parse_record(row, f"{path}, row {number}", question=question)
            except RecordError as error:
                yield error
    except (pa.ArrowException, ValueError, OSError) as error:
        raise RecordError(f"{path}: not a Parquet file that can be read: {error}") from error


def load_json(text: str, name: str, line: int | None = None) -> Any:  # noqa: ANN401
    """One JSON value.

    Args:
        text: the JSON.
        name: what it comes from, for messages.
        line: where it stands in there, if it is one line of many.

    Raises:
        RecordError: if it is not JSON, or holds what is not text, naming the line.
    """
    where = name if line is None else f"{name}, line {line}"
    try:
        value = json.loads(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise RecordError(
            f"{name}, line {line or error.lineno}: not JSON: {error.msg} at column {error.colno}"
        ) from error
    except UnicodeEncodeError as error:
        raise RecordError(
            f"{where}: \\u{ord(error.object[error.start]):04x} is half a character, not a text"
        ) from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{where}: JSON that cannot be read: {error}") from error
    return value


def parse_record(value: object, where: str, *, question: str | None = None) -> Record:
    """One record in FactReasoner's format.

    Args:
        value: the parsed JSON: ``output``, and optionally the others of ``FIELDS``.
        where: the place, for messages.
        question: wins over the record's ``input``.

    Raises:
        RecordError: if something is missing, of the wrong type, or unknown.
    """
    if not isinstance(value, Mapping):
        raise RecordError(f"{where}: expected a JSON object, got {type(value).__name__}")
    output = _text(value, "output", where)
    if not output.strip():
        raise RecordError(f"{where}: the answer ('output') is empty")
    answer = Answer(output, where, question or _optional(value, "input", where))
    contexts = None
    if value.get("contexts"):
        rows = _rows(value, "contexts", where)
        contexts = tuple(_context(row, f"{where}, context {i}") for i, row in enumerate(rows))
    atoms = None
    if value.get("atoms"):
        known = {c.id for c in contexts or ()}
        rows = _rows(value, "atoms", where)
        atoms = tuple(_atom(r, output, known, f"{where}, atom {i}") for i, r in enumerate(rows))
    return Record(answer, atoms, contexts)


def _atom(row: Mapping[str, Any], output: str, known: set[str], where: str) -> Atom:
    text = _text(row, "text", where)
    original = _optional(row, "original", where) or text
    ids = row.get("contexts") or []
    if not isinstance(ids, list) or not all(isinstance(i, str) for i in ids):
        raise RecordError(f"{where}: expected 'contexts' to be a list of ids")
    _known(ids, known, where)
    at = output.find(original)
    return Atom(
        id=_text(row, "id", where),
        text=text,
        original=original,
        span=Span(at, at + len(original)) if at >= 0 else None,
        context_ids=tuple(dict.fromkeys(ids)),
        label=_optional(row, "label", where),
    )


def _context(row: Mapping[str, Any], where: str) -> Context:
    text = _optional(row, "text", where) or _optional(row, "snippet", where)
    if not text or not text.strip():
        raise RecordError(f"{where}: expected a 'text' or a 'snippet'")
    title = _optional(row, "title", where) or ""
    link = _optional(row, "link", where)
    return Context(
        id=_text(row, "id", where),
        source=link or title or where,
        title=title,
        text=text,
        prior=DEFAULT_PRIOR,
        link=link,
    )


def _rows(value: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    rows = value[key]
    if not isinstance(rows, list) or not all(isinstance(r, Mapping) for r in rows):
        raise RecordError(f"{where}: expected {key!r} to be a list of objects")
    return [{name: row[name] for name in FIELDS[key] if name in row} for row in rows]


def _text(row: Mapping[str, Any], key: str, where: str) -> str:
    found = _optional(row, key, where)
    if not found:
        raise RecordError(f"{where}: expected {key!r} to be a non-empty text")
    return found


def _optional(row: Mapping[str, Any], key: str, where: str) -> str | None:
    found = row.get(key)
    if found is not None and not isinstance(found, str):
        raise RecordError(f"{where}: expected {key!r} to be a text, got {type(found).__name__}")
    return found


def _unique(ids: Sequence[str], where: str) -> set[str]:
    if len(set(ids)) != len(ids):
        twice = next(i for i in ids if ids.count(i) > 1)
        raise RecordError(f"{where}: the id {twice!r} stands twice")
    return set(ids)


def _known(ids: Sequence[str], known: set[str], where: str) -> None:
    if unknown := [i for i in ids if i not in known]:
        raise RecordError(f"{where}: unknown context {unknown[0]!r}")
