"""E-mail: subject, sender, recipients and date as text, then what the message says.

Offsets are offsets in the extracted text. Of alternatives the plain one is read, and
HTML where there is no plain one. Attachments are named and not read.
"""

from __future__ import annotations

import codecs
import email
from collections.abc import Iterator
from contextlib import suppress
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import parsedate_to_datetime
from typing import Any, cast

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import html
from factcheck_local.indexer.loaders.layout import Layout
from factcheck_local.indexer.loaders.text import one_line, printable, shortened

#: Characters of a field that are taken apart: the parser's time grows faster than these.
MAX_FIELD = 2000

#: Characters of a field whose encoded words are decoded, which takes quadratic time.
MAX_ENCODED = 100_000

#: What text is read as that is said to be this, as browsers and mail programs do.
_READ_AS = {"iso8859-1": ("cp1252", "iso8859-1"), "ascii": ("utf-8", "cp1252")}

#: A message has at least one of these.
_TELLING = ("from", "to", "subject", "date", "message-id", "received")
_SHOWN = ("From", "To", "Cc", "Date")


def load(data: bytes, source: str) -> Document:
    """Read a message; its subject is the title, its date the document's.

    Raises:
        DocumentError: if the bytes are no message.
    """
    message = parse(data)
    if not is_message(message):
        raise DocumentError(f"{source}: is not an e-mail message (no header fields)")
    layout = Layout()
    left_out = lay_out(message, layout)
    metadata = {"date": _day(message), "left_out": left_out}
    return layout.document(source, data, header(message, "Subject"), metadata)


class _Policy(EmailPolicy):
    """Takes fields that describe a part no longer than `MAX_FIELD`, and broken ones in part.

    Attributes:
        broken: names of fields that the library fails on.
    """

    broken: set[str]

    def __init__(self) -> None:
        super().__init__()  # type: ignore[call-arg]  # what it misses has a default
        object.__setattr__(self, "broken", set())  # as the library sets what is read-only

    def header_fetch_parse(self, name: str, value: str) -> str:
        """A field's value, taken apart."""
        value = value[:MAX_FIELD]
        for said in (value, value.rpartition(";")[0]):
            try:
                return cast(str, super().header_fetch_parse(name, said))
            except IndexError:  # at a parameter that breaks off: "filename*"
                self.broken.add(name.title())
        return cast(str, super().header_fetch_parse(name, value.partition(";")[0]))


def parse(data: bytes) -> EmailMessage:
    """The message in these bytes; parsing never fails, it finds less."""
    return email.message_from_bytes(data, policy=cast(Any, _Policy()))


def is_message(message: EmailMessage) -> bool:
    """Whether there are header fields that only a message has."""
    names = {name.lower() for name, _ in message.raw_items()}
    return not names.isdisjoint(_TELLING)


def lay_out(message: EmailMessage, layout: Layout) -> tuple[str, ...]:
    """Write a message under its subject; returns what of it could not be read."""
    reader = _MailReader(layout)
    layout.heading(1, header(message, "Subject") or "(no subject)")
    fields = ((name, header(message, name)) for name in _SHOWN)
    layout.block("\n".join(f"{name}: {value}" for name, value in fields if value))
    reader.part(message)
    if reader.attachments:
        layout.block("\n".join(f"Attachment, not read: {name}" for name in reader.attachments))
    broken = cast(_Policy, message.policy).broken
    problems = [*reader.problems, *(f"the field {name} is broken" for name in sorted(broken))]
    return tuple(dict.fromkeys(problems))


def header(message: EmailMessage, name: str) -> str:
    """A header field on one line, decoded; all of them where there are several.

    The library's way to take addresses apart fails on broken ones, and its time and
    memory grow with the square of their number.
    """
    values = (str(value) for key, value in message.raw_items() if key.lower() == name.lower())
    return one_line(", ".join(map(_decoded, values)))


def _decoded(value: str) -> str:
    """A field with its encoded words as text; as it stands if they are broken or too many."""
    raw = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if len(raw) > MAX_ENCODED:
        return raw
    try:
        return str(make_header(decode_header("".join(raw.splitlines()))))
    except (HeaderParseError, ValueError, LookupError):
        return raw


def _day(message: EmailMessage) -> str | None:
    """The day on which it was sent, where it was; None if that cannot be told."""
    try:
        return parsedate_to_datetime(header(message, "Date")).date().isoformat()
    except (ValueError, TypeError, OverflowError):
        return None


class _MailReader:
    """Walks through the parts of one message."""

    def __init__(self, layout: Layout) -> None:
        self.attachments: list[str] = []
        self.problems: list[str] = []
        self._layout = layout

    def part(self, part: EmailMessage) -> None:
        """Read a part, and those within it."""
        kind = part.get_content_type()
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            if any(type(defect).__name__.startswith("CloseBoundary") for defect in part.defects):
                self.problems.append("the message ends in the middle of a part")
            children = list(_children(part))
            for child in [_preferred(children)] if kind == "multipart/alternative" else children:
                self.part(child)
        elif part.is_attachment() or part.get_filename() or not kind.startswith("text/"):
            self._attachment(part, kind)
        elif kind == "text/html":
            self._layout.embed(*html.extract(self._text(part)), below=1)
        else:
            self._layout.prose(self._text(part))

    def _attachment(self, part: EmailMessage, kind: str) -> None:
        """Name what is not read; a message within this one by its subject."""
        name = part.get_filename()
        if not name and kind == "message/rfc822":
            name = next((header(child, "Subject") for child in _children(part)), "")
        said = f"{one_line(name)} ({kind})" if name else kind
        if name or part.get_payload():
            self.attachments.append(said)

    def _text(self, part: EmailMessage) -> str:
        """The text of a part; a character that its charset does not have is replaced."""
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        charset = str(part.get_content_charset("utf-8"))
        with suppress(LookupError, ValueError):  # ValueError: its name has a NUL
            name = codecs.lookup(charset).name
            for encoding in _READ_AS.get(name, (name,)):
                with suppress(UnicodeError):
                    return data.decode(encoding)
        said = shortened(printable(charset.upper()))
        self.problems.append(f"text that is not valid {said} has replacements")
        return data.decode("utf-8", "replace")


def _children(part: EmailMessage) -> Iterator[EmailMessage]:
    """The parts directly inside."""
    payload = part.get_payload()
    if isinstance(payload, list):
        yield from cast(list[EmailMessage], payload)


def _preferred(alternatives: list[EmailMessage]) -> EmailMessage:
    """The plain one, unless it is empty; else the last with HTML, else the last."""

    def rank(part: EmailMessage) -> int:
        leaves = [leaf for leaf in part.walk() if not leaf.is_multipart()]
        kinds = {leaf.get_content_type() for leaf in leaves if str(leaf.get_payload()).strip()}
        return 2 * ("text/plain" in kinds) + ("text/html" in kinds)

    return max(reversed(alternatives), key=rank)
