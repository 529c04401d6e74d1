"""Mailbox: each message under its subject, as `eml` reads it.

A message begins at a line "From ADDRESS DATE" after an empty line. The standard
library's mailbox reads files by name only, not the bytes at hand, and needs no empty
line, and no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import eml
from factcheck_local.indexer.loaders.layout import Layout

#: Kinds of problem that are named.
MAX_NOTES = 3

# After an empty line and with a date, so that a sentence beginning with the word starts no
# message: "Fri Mar  1 10:00:00 2024", or as in a header. How the file begins is plain.
_DAY = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DATE = rb"%b,?[ \t]+(?:%b[ \t]+\d{1,2}|\d{1,2}[ \t]+%b[ \t]+\d{4})[ \t]+\d{1,2}:\d\d" % (
    _DAY,
    _MONTH,
    _MONTH,
)
_FROM = re.compile(
    rb"(?:\AFrom |(?:(?<=\n\n)|(?<=\n\r\n))From [^\r\n]{0,320}?[ \t]%b)[^\r\n]*\r?\n" % _DATE
)


def load(data: bytes, source: str) -> Document:
    """Read a mailbox in the format mbox.

    Raises:
        DocumentError: if the bytes do not begin as a mailbox does, or hold no message.
    """
    starts = list(_FROM.finditer(data))
    if not starts or starts[0].start():
        raise DocumentError(f"{source}: is not a mailbox (it does not begin with 'From ')")
    layout = Layout()
    problems: dict[str, list[int]] = {}
    ends = [*(match.start() for match in starts[1:]), len(data)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), start=1):
        message = eml.parse(data[start.end() : end])
        if not eml.is_message(message):
            raise DocumentError(f"{source}: message {number} has no header fields")
        for what in eml.lay_out(message, layout):
            problems.setdefault(what, []).append(number)
    left_out = tuple(_notes(problems))
    return layout.document(source, data, PurePosixPath(source).name, {"left_out": left_out})


def _notes(problems: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """What of the messages could not be read; the first kinds of problem only."""
    for what, numbers in islice(problems.items(), MAX_NOTES):
        more = f" and {len(numbers) - 1} more" if len(numbers) > 1 else ""
        yield f"message {numbers[0]}{more}: {what}"
    if len(problems) > MAX_NOTES:
        yield f"{len(problems) - MAX_NOTES} more problems"
