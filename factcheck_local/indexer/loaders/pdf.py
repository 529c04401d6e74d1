"""PDF: the text layer, page by page, with the outline as headings.

Offsets are offsets in the extracted text, where a form feed stands between
pages. A block never spans two pages, so that a citation names the right one.
"""

from __future__ import annotations

import hashlib
import io
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from pypdf import PdfReader
from pypdf.generic import Destination

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Block, Document, Span
from factcheck_local.indexer.loaders.layout import PAGE_BREAK
from factcheck_local.indexer.loaders.text import (
    HeadingPath,
    clean,
    one_line,
    paragraphs,
    reading,
    shortened,
)

#: How far from its end a file must have its end-of-file marker, in bytes.
EOF_WINDOW = 1024


class _Entry(NamedTuple):
    """An entry of the outline: its page from 0, its level from 1, its title on one line."""

    page: int
    level: int
    title: str


def load(data: bytes, source: str, *, ocr_seconds: float | None = None) -> Document:
    """Read the text layer of a PDF; pages that have none by OCR, if that is given time.

    Metadata lists pages, counting from 1: those without any text under the key
    ``pages_without_text``, those read by OCR under ``ocr_pages``.

    Raises:
        DocumentError: if the file is empty, truncated, damaged or encrypted with
            a password, or if no page has text; if OCR fails or is not installed.
    """
    if not data.lstrip().startswith(b"%PDF-"):
        raise DocumentError(f"{source}: is not a PDF (it does not begin with %PDF-)")
    if b"%%EOF" not in data.rstrip(b"\x00\r\n\t ")[-EOF_WINDOW:]:
        raise DocumentError(f"{source}: is truncated (no end-of-file marker)")
    with _parsing(source):
        reader = _reader(data, source)
        pages = _texts(reader)
        outline = list(_outline(reader, reader.outline))
        title = _title(reader)
    read = _recognised(reader, pages, source, ocr_seconds) if ocr_seconds is not None else {}
    pages = [read.get(number, text) for number, text in enumerate(pages, start=1)]
    empty = [number for number, text in enumerate(pages, start=1) if not text]
    if len(empty) == len(pages):
        none = f"{source}: no text layer on any of {len(pages)} pages"
        raise DocumentError(
            f"{none}: scanned? run OCR first"
            if ocr_seconds is None
            else f"{none}, and OCR found none"
        )
    starts = [0]
    for text in pages[:-1]:
        starts.append(starts[-1] + len(text) + len(PAGE_BREAK))
    full = PAGE_BREAK.join(pages)
    listed = {"pages_without_text": tuple(empty), "ocr_pages": tuple(read)}
    return Document(
        source=source,
        text=full,
        title=title or PurePosixPath(source).name,
        blocks=tuple(_blocks(full, starts, outline)),
        sha256=hashlib.sha256(data).hexdigest(),
        page_starts=tuple(starts),
        metadata={key: numbers for key, numbers in listed.items() if numbers},
    )


@contextmanager
def _parsing(source: str) -> Iterator[None]:
    """As `reading`, and the parser does not warn about what it mends by itself."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with reading(source, "PDF"):
            yield
    finally:
        logger.setLevel(level)


def _reader(data: bytes, source: str) -> PdfReader:
    """The file, open.

    Raises:
        DocumentError: if it is encrypted with a password.
    """
    reader = PdfReader(io.BytesIO(data))
    # Many files are encrypted with the empty password, to forbid printing.
    if reader.is_encrypted and not reader.decrypt(""):
        raise DocumentError(f"{source}: is encrypted, a password is needed")
    return reader


def _texts(reader: PdfReader) -> list[str]:
    """The text layer of each page, "" where there is none."""
    return [clean(page.extract_text()).strip() for page in reader.pages]


def _title(reader: PdfReader) -> str:
    """The title that the file states, "" without one."""
    title = clean(str(reader.metadata.title or "") if reader.metadata else "").strip()
    return "" if title.lower() == "untitled" else shortened(one_line(title))


def _recognised(
    reader: PdfReader, pages: Sequence[str], source: str, seconds: float
) -> dict[int, str]:
    """What OCR reads on pages without text, by their number; only where there is something.

    Raises:
        DocumentError: as `ocr.with_text_layer` does.
    """
    from factcheck_local.indexer.loaders import ocr

    empty = [number for number, text in enumerate(pages, start=1) if not text]
    if not empty:
        return {}
    with _parsing(source):
        layered = ocr.with_text_layer(reader, empty, source, seconds)
        texts = _texts(_reader(layered, source))
        return {number: text for number, text in zip(empty, texts, strict=True) if text}


def _outline(reader: PdfReader, items: Sequence[Any], level: int = 1) -> Iterator[_Entry]:
    """The outline in reading order; an entry that leads nowhere is left out."""
    for item in items:
        if isinstance(item, list):
            yield from _outline(reader, item, level + 1)
        elif isinstance(item, Destination) and (title := one_line(str(item.title or ""))):
            page = reader.get_destination_page_number(item)
            if page is not None and page >= 0:
                yield _Entry(page, level, title)


def _blocks(text: str, starts: Sequence[int], outline: Sequence[_Entry]) -> Iterator[Block]:
    """Paragraphs of each page; an outline entry found there as a line is a heading."""
    headings = HeadingPath()
    ends = [*(start - len(PAGE_BREAK) for start in starts[1:]), len(text)]
    behind = list(zip(outline, (*outline[1:], None), strict=False))  # entries, each with the next
    for page, (start, end) in enumerate(zip(starts, ends, strict=True)):
        entries = [(entry, later) for entry, later in behind if entry.page == page]
        yield from _page(text, start, end, entries, headings)


def _page(
    text: str,
    position: int,
    end: int,
    entries: Sequence[tuple[_Entry, _Entry | None]],
    headings: HeadingPath,
) -> Iterator[Block]:
    """The blocks of a page.

    Where an entry begins that is not found cannot be told: the text that may be its own is
    under none of the headings that it ends, and the next page is under it.
    """
    missed: list[_Entry] = []
    for entry, later in entries:
        found = _heading(text, position, end, entry, later)
        if found is None:
            headings.leave(entry.level)
            missed.append(entry)
            continue
        yield from paragraphs(text, position, found.start(), headings.path)
        for section in (*missed, entry):
            headings.enter(section.level, section.title)
        missed = []
        yield Block(Span(*found.span()), headings.path, is_heading=True)
        position = found.end()
    yield from paragraphs(text, position, end, headings.path)
    for section in missed:
        headings.enter(section.level, section.title)


def _heading(
    text: str, start: int, end: int, entry: _Entry, later: _Entry | None
) -> re.Match[str] | None:
    """An entry's line in what is left of its page, but not the one in a list of contents."""
    lines = list(_own_line(entry.title).finditer(text, start, end))
    for line, again in pairwise(lines):
        if later is None or not _are_contents(text, line.end(), again.end(), end, entry, later):
            return line
    return lines[-1] if lines else None


def _are_contents(
    text: str, start: int, again: int, end: int, entry: _Entry, later: _Entry
) -> bool:
    """Whether the next entry stands directly below an entry's line, and is a heading elsewhere.

    Args:
        text: the document's.
        start: end of the line.
        again: end of the next line that says the same.
        end: where the page ends.
        entry: the entry.
        later: the next one.
    """
    line = _own_line(later.title)
    below = line.search(text, start, end)
    return (
        below is not None
        and not text[start : below.start()].strip()
        and (later.page != entry.page or line.search(text, again, end) is not None)
    )


def _own_line(title: str) -> re.Pattern[str]:
    """The title as a line, or lines, of its own, whatever the white space between words.

    A number may stand in front of it: outlines often leave it out.
    """
    words = r"\s+".join(re.escape(word) for word in title.split())
    number = r"(?:\d+(?:\.\d+)*[.)]?[^\S\n]+)?"
    return re.compile(rf"(?<![^\n]){number}{words}(?=[^\S\n]*(?:\n|\Z))")
