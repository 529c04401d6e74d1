"""What the loaders share: decoding, paragraphs, the path of headings, stated metadata."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Block, Document, Span
from factcheck_local.indexer.reliability.statements import key_of

#: More control characters than one and than this share, in [0, 1], is no text.
MAX_CONTROL_SHARE = 0.01

#: Metadata that a document states of itself in fields of its own.
META_KEYS = (
    *("date", "updated", "reliability", "access", "owner", "author", "status"),
    *("document_id", "version", "superseded_by", "supersedes"),
)

#: An encoding is guessed from at least this many bytes outside ASCII, ...
MIN_EVIDENCE = 8

#: ... if the text reads as a language to this degree, in [0, 1], as charset-normalizer says.
MIN_COHERENCE = 0.45

#: Readings whose scores differ by less are rivals.
MARGIN = 0.05

#: Bytes from which an encoding is guessed.
SAMPLE = 100_000

#: Characters of a title or a heading that stand above each passage below it.
MAX_TITLE = 300

_CONTROL = re.compile(r"[\x01-\x06\x0e-\x1a\x1c-\x1f]")  # not \a\b\t\n\v\f\r and escape
_LINE = r"\S(?:[^\r\n]*\S)?"
_PARAGRAPH = re.compile(rf"{_LINE}(?:[^\S\r\n]*(?:\r\n?|\n)[^\S\r\n]*{_LINE})*")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_MARK = re.compile(r"[-+\u2212]?\d[-+\u2212\u2013\d\s.,;*)]{0,40}")
_RAISED = str.maketrans(
    "0123456789+-\u2212", "\u2070¹²³\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207b"
)
_HIDING = re.compile(r"\bdisplay\s*:\s*none\b", re.IGNORECASE)
_SUM = re.compile(r"[^\w.,]")  # in a part of a fraction, which then needs brackets
_JOINING = re.compile(r"(?![^\W\d_]{2,}$)\w\S{0,40}")  # but not the letters of "1st"
_MARKS = (  # UTF-32 before UTF-16, whose mark begins alike
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes, source: str, encoding: str = "utf-8") -> str:
    """The bytes as text, strictly: nothing is replaced or dropped but a byte order mark.

    A mark of UTF-16 or UTF-32 is believed before ``encoding``. Offsets are offsets in
    what this returns.

    Raises:
        DocumentError: naming the first byte that is not in the encoding, or
            saying that the bytes look binary.
    """
    marked = _marked(data)
    if marked is None and b"\x00" in data:
        raise DocumentError(f"{source}: looks binary (NUL byte at offset {data.index(0)})")
    try:
        text = data.decode(marked or encoding)
    except (UnicodeError, LookupError) as error:  # LookupError: a codec, but of no text
        place = ""
        if isinstance(error, UnicodeDecodeError):
            place = f" (byte 0x{data[error.start]:02x} at offset {error.start})"
        name = (marked or encoding).upper()
        raise DocumentError(f"{source}: is not valid {name}{place}") from error
    return _no_binary(text, source)


def decode_any(data: bytes, source: str) -> str:
    """The bytes as text: by their byte order mark, as UTF-8, or as what they surely are.

    Where detection is not sure, the bytes count as broken UTF-8.

    Raises:
        DocumentError: as `decode` does.
    """
    try:
        return decode(data, source)
    except DocumentError:
        detected = None if b"\x00" in data or _marked(data) else _detected(data)
        if detected is None:
            raise
    return _no_binary(data.decode(detected), source)


def _marked(data: bytes) -> str | None:
    """The encoding that a byte order mark names, None without one or with that of UTF-8."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), None)


def _detected(data: bytes) -> str | None:
    """The encoding, if there is enough to tell it by; None in doubt."""
    first = _BEYOND_ASCII.search(data)
    ascii_only = data.translate(None, bytes(range(0x80, 0x100)))
    evidence = len(data) - len(ascii_only)
    if first is None or evidence < MIN_EVIDENCE:
        return None
    if 2 * (len(data.decode("utf-8", "ignore").encode()) - len(ascii_only)) > evidence:
        return None  # broken UTF-8, which reads as something in any encoding
    from charset_normalizer import from_bytes  # slow to import, seldom needed

    matches = from_bytes(_sample(data, first.start()))
    best = matches.best()
    if best is None or best.coherence < MIN_COHERENCE:
        return None
    rivals = [
        match
        for match in matches
        if match.chaos < best.chaos + MARGIN and match.coherence > best.coherence - MARGIN
    ]
    # Short Western text reads as well in a dozen encodings; only one of them is in use.
    if any("cp1252" in match.could_be_from_charset for match in rivals):
        encoding = "cp1252"
    elif all(str(match) == str(best) for match in rivals):
        encoding = best.encoding
    else:
        return None
    try:
        data.decode(encoding)
    except UnicodeError:  # it was judged by a sample
        return None
    return encoding


def _sample(data: bytes, first: int) -> bytes:
    """About `SAMPLE` bytes, whole lines where they are short, around the first beyond ASCII."""
    start = max(data.rfind(b"\n", 0, first) + 1, first - SAMPLE // 2)
    if len(data) - start <= SAMPLE:
        return data[start:]
    end = data.rfind(b"\n", first, start + SAMPLE)
    return data[start : end if end > 0 else start + SAMPLE]


def _no_binary(text: str, source: str) -> str:
    """The text without its byte order mark.

    Raises:
        DocumentError: if it has too many control characters.
    """
    controls = len(_CONTROL.findall(text)) + text.count("\x00")
    if controls > max(1, MAX_CONTROL_SHARE * len(text)):
        raise DocumentError(
            f"{source}: looks binary ({controls} control characters among {len(text)})"
        )
    return text.removeprefix("\ufeff")


@contextmanager
def reading(source: str, kind: str) -> Iterator[None]:
    """Whatever a library makes of a broken file, as one clear line.

    Raises:
        DocumentError: naming the file, if anything but a lack of memory or of stack is
            raised inside.
    """
    try:
        yield
    except (DocumentError, MemoryError, RecursionError):
        raise
    except Exception as error:  # a damaged file makes the parsers raise nearly anything
        what = one_line(str(error))[:200] or type(error).__name__
        raise DocumentError(f"{source}: is a damaged {kind}: {what}") from error


def clean(text: str) -> str:
    """Text that can be stored: no NUL, no half of a surrogate pair; the length stays."""
    return _UNSTORABLE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """The text with single spaces for all its white space."""
    return " ".join(text.split())


def superscript(text: str) -> str:
    """A superscript as plain text that does not join the number or word in front of it.

    Digits and signs have raised characters of their own ("10⁶", "m²", a footnote's "1998¹"),
    which are no part of a number to its readers; with "10^6" they would find a 6. Of
    the rest, what would join gets a "^" ("25^a"); an ordinal's letters and "[1]" stay.
    """
    core = text.strip()
    if _MARK.fullmatch(core):
        return text.translate(_RAISED)
    return text.replace(core, f"^{core}", 1) if _JOINING.fullmatch(core) else text


def fraction(*parts: str) -> str:
    """A fraction's parts as plain text, apart from what is in front: 2½ is no 21/2."""
    said = (part.strip() for part in parts)
    return " " + "/".join(f"({part})" if _SUM.search(part) else part for part in said)


def listing(items: Sequence[tuple[str, int, int | None]]) -> str:
    """A list as Markdown has it, its outermost items at the margin.

    Args:
        items: of each what it says, how deep it stands, and its number; None for a bullet.
    """
    margin = min((level for _, level, _ in items), default=0)
    return "\n".join(
        "  " * (level - margin) + ("-" if number is None else f"{number}.") + f" {text}"
        for text, level, number in items
    )


def first_of(numbers: Sequence[object]) -> str:
    """The first ten of some numbers, and whether there are more."""
    return ", ".join(map(str, numbers[:10])) + (" \u2026" if len(numbers) > 10 else "")


def hidden(style: str | None) -> bool:
    """Whether what has this style attribute is not shown at all."""
    return _HIDING.search(style or "") is not None


def struck(style: str | None) -> bool:
    """Whether what has this style attribute is shown struck out."""
    return "line-through" in (style or "").lower()


def printable(text: str) -> str:
    """What a file says, fit to stand in a message of one line."""
    return one_line("".join(c if c.isprintable() else " " for c in text))


def shortened(title: str) -> str:
    """A title, at most `MAX_TITLE` characters of it."""
    return title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1].rstrip() + "\u2026"


def stated_all(values: dict[str, Any]) -> dict[str, Any]:
    """Those of `META_KEYS` that the fields of a document state, case ignored.

    Args:
        values: texts, and lists of texts, which stay as they are.
    """
    found = {
        key.strip().lower(): value.strip() if isinstance(value, str) else value
        for key, value in values.items()
    }
    return {
        key: _stated(key, value) if isinstance(value, str) else value
        for key in META_KEYS
        if (value := found.get(key))
    }


def _stated(key: str, value: str) -> str | float:
    """A value of `META_KEYS`; a number where a prior reads as one, so that it is checked."""
    try:
        return float(value) if key == "reliability" else value
    except ValueError:
        return value


def paragraphs(text: str, start: int, end: int, headings: tuple[str, ...] = ()) -> Iterator[Block]:
    """Blocks for the runs of lines between blank lines in ``text[start:end]``."""
    for match in _PARAGRAPH.finditer(text, start, end):
        yield Block(Span(*match.span()), headings)


def file_as_document(
    source: str,
    data: bytes,
    text: str,
    blocks: Iterable[Block],
    metadata: Mapping[str, Any] | None = None,
) -> Document:
    """The document of a format whose text is the file itself.

    Its title is the one that its metadata states, or else as `named` has it.
    """
    own = tuple(blocks)
    stated = [value for key, value in (metadata or {}).items() if key_of(key) == "title"]
    title, borrowed = named(str(stated[0] or "") if stated else "", own, source)
    return Document(
        source=source,
        text=text,
        title=title,
        blocks=own,
        sha256=hashlib.sha256(data).hexdigest(),
        metadata=metadata or {},
        borrowed_title=borrowed,
    )


class HeadingPath:
    """The headings above the current place, by level: ``path``, outermost first."""

    def __init__(self) -> None:
        """Begin outside of any section."""
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, heading: str) -> None:
        """Begin a section; it ends those of the same and of deeper levels."""
        self.leave(level)
        self._open.append((level, shortened(heading)))

    def leave(self, level: int) -> None:
        """End the sections of this and of deeper levels."""
        self._open = [entry for entry in self._open if entry[0] < level]

    @property
    def path(self) -> tuple[str, ...]:
        """The headings, outermost first; empty before the first of them."""
        return tuple(heading for _, heading in self._open)


def named(title: str, blocks: Iterable[Block], source: str) -> tuple[str, bool]:
    """A document's title, and whether it is borrowed from a heading.

    Args:
        title: the one that the document states; where it is empty, the first heading is the
            title, or else the file's name.
        blocks: the document's.
        source: its path.
    """
    if own := shortened(one_line(clean(title))):
        return own, False
    first = next((block.headings[-1] for block in blocks if block.is_heading), "")
    return first or shortened(PurePosixPath(source).name), bool(first)
