"""What the loaders share: strict decoding, paragraphs, the path of headings."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from factcheck_local.errors import DocumentError
from factcheck_local.types import Block, Span

#: More control characters than this share, in [0, 1], is no text.
MAX_CONTROL_SHARE = 0.01

_CONTROL = re.compile(r"[\x01-\x06\x0e-\x1a\x1c-\x1f]")  # not \a\b\t\n\v\f\r and escape
_LINE = r"\S(?:[^\r\n]*\S)?"
_PARAGRAPH = re.compile(rf"{_LINE}(?:(?:\r\n?|\n)[^\S\r\n]*{_LINE})*")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(data: bytes, source: str, encoding: str = "utf-8") -> str:
    """The bytes as text, strictly: nothing is replaced or dropped but a byte order mark.

    Raises:
        DocumentError: naming the first byte that is not in the encoding, or
            saying that the bytes look binary.
    """
    if data.startswith(_UTF16):
        raise DocumentError(f"{source}: is UTF-16, expected UTF-8: convert it first")
    if b"\x00" in data:
        raise DocumentError(f"{source}: looks binary (NUL byte at offset {data.index(0)})")
    try:
        text = data.decode(encoding)
    except UnicodeError as error:
        place = ""
        if isinstance(error, UnicodeDecodeError):
            place = f" (byte 0x{data[error.start]:02x} at offset {error.start})"
        raise DocumentError(f"{source}: is not valid {encoding.upper()}{place}") from error
    controls = len(_CONTROL.findall(text))
    if controls > MAX_CONTROL_SHARE * len(text):
        raise DocumentError(
            f"{source}: looks binary ({controls} control characters among {len(text)})"
        )
    return text.removeprefix("\ufeff")


def paragraphs(text: str, start: int, end: int, headings: tuple[str, ...] = ()) -> Iterator[Block]:
    """Blocks for the runs of lines between blank lines in ``text[start:end]``."""
    for match in _PARAGRAPH.finditer(text, start, end):
        yield Block(Span(*match.span()), headings)


class HeadingPath:
    """The headings above the current place, by level: ``path``, outermost first."""

    def __init__(self) -> None:
        """Begin outside of any section."""
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, heading: str) -> None:
        """Begin a section; it ends those of the same and of deeper levels."""
        self._open = [entry for entry in self._open if entry[0] < level]
        self._open.append((level, heading))

    @property
    def path(self) -> tuple[str, ...]:
        """The headings, outermost first; empty before the first of them."""
        return tuple(heading for _, heading in self._open)


def first_heading(blocks: tuple[Block, ...]) -> str | None:
    """What the first heading says, None in a document without any."""
    return next((block.headings[-1] for block in blocks if block.is_heading), None)
