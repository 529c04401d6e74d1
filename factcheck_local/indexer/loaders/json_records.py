"""JSON and JSON lines: each object a record, with a title, fields and text.

The text is extracted. A record begins in the line of the text that it begins in in the
file; line ends of its own are carriage returns, so that a line feed is always one of
the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.text import (
    MAX_TITLE,
    decode_any,
    one_line,
    paragraphs,
    stated_all,
)

TITLE_KEYS = ("title", "heading")
TEXT_KEYS = ("text", "body", "content", "snippet")

_SPACE = re.compile(r"[ \t\r\n]*")

# Objects are tuples of pairs, so that a repeated key is not lost; numbers stay as written.
_DECODER = json.JSONDecoder(
    object_pairs_hook=tuple, parse_float=str, parse_int=str, parse_constant=str
)

#: A record: the line that it begins in, from 1, and its value.
_Record = tuple[int, Any]


def load(data: bytes, source: str) -> Document:
    """Read records: an object a line, a list of objects, or one object.

    A file that is one object states metadata of its own: those of `META_KEYS` that are
    texts or lists of texts.

    Raises:
        DocumentError: if the bytes are not text or not JSON, with the line.
    """
    text = decode_any(data, source)
    cursor = _Cursor(text, source)
    records = list(_elements(cursor) if source.lower().endswith(".json") else _lines(cursor))
    layout = Layout()
    for line, value in records:
        _record(layout, line, value)
    only = records[0][1] if len(records) == 1 else None
    fields = {k: v for k, v in only if _is_text(v)} if isinstance(only, tuple) else {}
    title = None if len(records) == 1 else PurePosixPath(source).name
    return layout.document(source, data, title, stated_all(fields))


def _is_text(value: object) -> bool:
    """Whether a value is a text or a number, which is read as one, or a list of these."""
    return all(isinstance(v, str) for v in (value if isinstance(value, list) else [value]))


class _Cursor:
    """A place in a text, and the line that it is in."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.at, self.line = 0, 1

    def move(self, to: int) -> None:
        """Go on to a place further on."""
        self.line += self.text.count("\n", self.at, to)
        self.at = to

    def skip(self) -> str:
        """Go on to what is not white space; returns the character there, "" at the end."""
        space = _SPACE.match(self.text, self.at)
        self.move(space.end() if space else self.at)
        return self.text[self.at : self.at + 1]

    def value(self) -> _Record:
        """Read the value that begins here.

        Raises:
            DocumentError: if none does.
        """
        line = self.line
        try:
            value, end = _DECODER.raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            self.move(max(self.at, error.pos))
            raise self.wrong(error.msg) from error
        self.move(end)
        return line, value

    def wrong(self, what: str) -> DocumentError:
        """What to raise if the text here is not what it must be."""
        return DocumentError(f"{self.source}: is not valid JSON, line {self.line}: {what}")


def _lines(cursor: _Cursor) -> Iterator[_Record]:
    """A record for each line that is not empty.

    Raises:
        DocumentError: if one of them is not one JSON value.
    """
    last = 0
    while cursor.skip():
        if cursor.line == last:
            raise cursor.wrong("more than one value")
        yield cursor.value()
        last = cursor.line


def _elements(cursor: _Cursor) -> Iterator[_Record]:
    """The elements of a list, or the one value that the file is.

    Raises:
        DocumentError: if it is not JSON.
    """
    first = cursor.skip()
    if first != "[":
        if first:
            yield cursor.value()
    else:
        cursor.move(cursor.at + 1)
        closed = cursor.skip() == "]"
        while not closed:
            yield cursor.value()
            following = cursor.skip()
            closed = following == "]"
            if not closed:
                if following != ",":
                    raise cursor.wrong("expected a comma or the end of the list")
                cursor.move(cursor.at + 1)
                cursor.skip()
        cursor.move(cursor.at + 1)
    if cursor.skip():
        raise cursor.wrong("text after the end")


def _record(layout: Layout, line: int, value: Any) -> None:  # noqa: ANN401
    """Lay out one record: its title, its fields, its text."""
    layout.top()
    pairs = value if isinstance(value, tuple) else (("", value),)
    texts: list[str] = []
    fields: list[str] = []
    titled = False
    for key, said in pairs:
        name = key.strip().lower()
        if not titled and name in TITLE_KEYS and isinstance(said, str) and said.strip():
            layout.heading(1, said, line)
            titled = True
        elif isinstance(said, str) and (name in TEXT_KEYS or not key):
            texts.append(said)
        else:
            fields += _fields(key, said)
    layout.row("\n".join(fields), line)
    for text in texts:
        for block in paragraphs(text, 0, len(text)):
            layout.row(block.span.of(text), line)


def _fields(name: str, value: Any) -> Iterator[str]:  # noqa: ANN401
    """Lines "name: value"; what is nested has its names joined by dots.

    Of a name that is too long its end is kept.
    """
    if len(name) > MAX_TITLE:
        name = "\u2026" + name[1 - MAX_TITLE :]
    if isinstance(value, tuple):
        for key, inner in value:
            yield from _fields(f"{name}.{key}" if name else key, inner)
    elif isinstance(value, list):
        scalars = [_scalar(item) for item in value if not isinstance(item, list | tuple)]
        if said := ", ".join(filter(None, scalars)):
            yield f"{name}: {said}" if name else said
        for number, item in enumerate(value, start=1):
            if isinstance(item, list | tuple):
                yield from _fields(f"{name}.{number}" if name else str(number), item)
    elif said := _scalar(value):
        yield f"{name}: {said}" if name else said


def _scalar(value: str | bool | None) -> str:
    """A value as it is written, a text on one line; "" for null."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else one_line(value)
