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
from pathlib import PurePosixPath
from typing import Any

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

#: Entry of the outline: (page index from 0, level from 1, title).
_Entry = tuple[int, int, str]


def load(data: bytes, source: str, *, ocr: bool = False) -> Document:
    """Read the text layer of a PDF; with ``ocr``, pages that have none by OCR.

    Metadata lists pages, counting from 1: those without any text under the key
    ``pages_without_text``, those read by OCR under ``ocr_pages``.

    Raises:
        DocumentError: if the file is empty, truncated, damaged or encrypted with
            a password, or if no page has text; if OCR fails or is not installed.
    """
    if not data:
        raise DocumentError(f"{source}: empty file")
    if not data.lstrip().startswith(b"%PDF-"):
        raise DocumentError(f"{source}: is not a PDF (it does not begin with %PDF-)")
    if b"%%EOF" not in data.rstrip(b"\x00\r\n\t ")[-EOF_WINDOW:]:
        raise DocumentError(f"{source}: is truncated (no end-of-file marker)")
    with _parsing(source):
        reader = _reader(data, source)
        pages = _texts(reader)
        outline = list(_outline(reader, reader.outline))
        title = _title(reader)
    read = _recognised(reader, pages, source) if ocr else {}
    pages = [read.get(number, text) for number, text in enumerate(pages, start=1)]
    empty = [number for number, text in enumerate(pages, start=1) if not text]
    if len(empty) == len(pages):
        none = f"{source}: no text layer on any of {len(pages)} pages"
        raise DocumentError(
            f"{none}, and OCR found none" if ocr else f"{none}: scanned? run OCR first"
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


def _recognised(reader: PdfReader, pages: Sequence[str], source: str) -> dict[int, str]:
    """What OCR reads on pages without text, by their number; only where there is something.

    Raises:
        DocumentError: as `ocr.with_text_layer` does.
    """
    from factcheck_local.indexer.loaders import ocr

    empty = [number for number, text in enumerate(pages, start=1) if not text]
    if not empty:
        return {}
    with _parsing(source):
        layered = ocr.with_text_layer(reader, empty, source)
        texts = _texts(_reader(layered, source))
        return {number: text for number, text in zip(empty, texts, strict=True) if text}


def _outline(reader: PdfReader, items: Sequence[Any], level: int = 1) -> Iterator[_Entry]:
    """The outline in reading order; an entry that leads nowhere is left out."""
    for item in items:
        if isinstance(item, list):
            yield from _outline(reader, item, level + 1)
        elif isinstance(item, Destination) and item.title:
            page = reader.get_destination_page_number(item)
            if page is not None and page >= 0:
                yield page, level, str(item.title)


def _blocks(text: str, starts: Sequence[int], outline: Sequence[_Entry]) -> Iterator[Block]:
    """Paragraphs of each page; an outline entry found there as a line is a heading."""
    headings = HeadingPath()
    ends = [*(start - len(PAGE_BREAK) for start in starts[1:]), len(text)]
    for page, (start, end) in enumerate(zip(starts, ends, strict=True)):
        position = start
        for level, title in ((level, title) for at, level, title in outline if at == page):
            if found := _own_line(title).search(text, position, end):
                yield from paragraphs(text, position, found.start(), headings.path)
                headings.enter(level, " ".join(title.split()))
                yield Block(Span(*found.span()), headings.path, is_heading=True)
                position = found.end()
        yield from paragraphs(text, position, end, headings.path)


def _own_line(title: str) -> re.Pattern[str]:
    """The title as a line, or lines, of its own, whatever the white space between words."""
    words = r"\s+".join(re.escape(word) for word in title.split())
    return re.compile(rf"(?<![^\n]){words}(?=[^\S\n]*(?:\n|\Z))")
