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
from pypdf.errors import DependencyError
from pypdf.generic import Destination

from factcheck_local.errors import DocumentError
from factcheck_local.indexer.loaders.layout import PAGE_BREAK
from factcheck_local.indexer.loaders.text import HeadingPath, clean, paragraphs
from factcheck_local.types import Block, Document, Span

#: How far from its end a file must have its end-of-file marker, in bytes.
EOF_WINDOW = 1024

#: Entry of the outline: (page index from 0, level from 1, title).
_Entry = tuple[int, int, str]


def load(data: bytes, source: str) -> Document:
    """Read the text layer of a PDF.

    Pages without any text are listed, counting from 1, under the metadata key
    ``pages_without_text``.

    Raises:
        DocumentError: if the file is empty, truncated, damaged or encrypted with
            a password, or if no page has text.
    """
    if not data:
        raise DocumentError(f"{source}: empty file")
    if not data.lstrip().startswith(b"%PDF-"):
        raise DocumentError(f"{source}: is not a PDF (it does not begin with %PDF-)")
    if b"%%EOF" not in data.rstrip(b"\x00\r\n\t ")[-EOF_WINDOW:]:
        raise DocumentError(f"{source}: is truncated (no end-of-file marker)")
    pages, outline, title = _read(data, source)
    empty = [number for number, text in enumerate(pages, start=1) if not text]
    if len(empty) == len(pages):
        raise DocumentError(
            f"{source}: no text layer on any of {len(pages)} pages: scanned? run OCR first"
        )
    starts = [0]
    for text in pages[:-1]:
        starts.append(starts[-1] + len(text) + len(PAGE_BREAK))
    full = PAGE_BREAK.join(pages)
    return Document(
        source=source,
        text=full,
        title=title or PurePosixPath(source).name,
        blocks=tuple(_blocks(full, starts, outline)),
        sha256=hashlib.sha256(data).hexdigest(),
        page_starts=tuple(starts),
        metadata={"pages_without_text": tuple(empty)} if empty else {},
    )


def _read(data: bytes, source: str) -> tuple[list[str], list[_Entry], str]:
    """The text of each page, the outline and the title, "" without one.

    Raises:
        DocumentError: if the file is damaged, or encrypted with a password.
    """
    try:
        with _quiet():
            reader = PdfReader(io.BytesIO(data))
            # Many files are encrypted with the empty password, to forbid printing.
            if reader.is_encrypted and not reader.decrypt(""):
                raise DocumentError(f"{source}: is encrypted, a password is needed")
            pages = [clean(page.extract_text()).strip() for page in reader.pages]
            outline = list(_outline(reader, reader.outline))
            title = clean(str(reader.metadata.title or "") if reader.metadata else "").strip()
    except DocumentError:
        raise
    except DependencyError as error:
        raise DocumentError(f"{source}: is encrypted, and {_first_line(error)}") from error
    except Exception as error:  # a damaged file makes the parser raise nearly anything
        raise DocumentError(f"{source}: is a damaged PDF: {_first_line(error)}") from error
    return pages, outline, "" if title.lower() == "untitled" else " ".join(title.split())


def _first_line(error: Exception) -> str:
    """The first line of an error's message, its kind where it has none."""
    return str(error).partition("\n")[0] or type(error).__name__


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the parser's warnings about what it mends by itself."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


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
