"""Lays out what a loader extracts: the text and, as spans of it, its blocks.

For formats whose text is not the file. Blocks are separated by an empty line, pages as
in PDF by a form feed, rows by as many line feeds as there are rows between them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Block, Document, Span
from factcheck_local.indexer.loaders.text import (
    HeadingPath,
    clean,
    named,
    one_line,
    paragraphs,
)

PAGE_BREAK = "\n\f\n"

#: Characters of text that a file may give: a table's header stands in each of its rows.
MAX_TEXT = 100_000_000


class Layout:
    """A document being written, from its first block to its last.

    Whatever adds text raises DocumentError where it becomes longer than `MAX_TEXT`; the
    message does not name the source.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.blocks: list[Block] = []
        self.page_starts: list[int] = []
        self._parts: list[str] = []
        self._length = 0
        self._outline = HeadingPath()
        self._apart = True  # no separator is due: a page, or the document, has just begun
        self._line: int | None = None

    def page(self) -> None:
        """Begin a page; headings do not reach beyond their own."""
        if self.page_starts:
            self._write(PAGE_BREAK)
        self.page_starts.append(self._length)
        self._outline = HeadingPath()
        self._apart = True

    def section(self, level: int, heading: str) -> None:
        """Begin a section whose heading is not part of the text."""
        self._outline.enter(level, one_line(clean(heading)))
        self._line = None

    def top(self) -> None:
        """Leave all sections."""
        self._outline = HeadingPath()

    def heading(self, level: int, heading: str, line: int | None = None) -> None:
        """Begin a section with its heading as a block; an empty one is left out."""
        if said := one_line(clean(heading)):
            self._outline.enter(level, said)
            self._block(said, line=line, is_heading=True)

    def block(self, text: str) -> None:
        """Add one block: a list or a table, say."""
        self._block(text)

    def prose(self, text: str) -> None:
        """Add text of any length, a block for each paragraph."""
        for block in paragraphs(text, 0, len(text)):
            self._block(block.span.of(text))

    def row(self, text: str, line: int) -> None:
        """Add what stands in one line or row of the source, on one line of the text.

        Several blocks may share a line. ``line`` may only fall where a section began.
        """
        self._block(text, line=line)

    def embed(self, text: str, blocks: Sequence[Block], below: int) -> None:
        """Add what another loader extracted, its headings below the given level."""
        for block in blocks:
            if block.is_heading:
                self.heading(below + len(block.headings), block.headings[-1])
            else:
                self._block(block.span.of(text))

    def document(
        self,
        source: str,
        data: bytes,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Document:
        """The document; without a title it gets one as `named` says. Empty metadata is dropped."""
        title, borrowed = named(title or "", self.blocks, source)
        return Document(
            source=source,
            text="".join(self._parts),
            title=title,
            blocks=tuple(self.blocks),
            sha256=hashlib.sha256(data).hexdigest(),
            page_starts=tuple(self.page_starts),
            metadata={k: v for k, v in (metadata or {}).items() if v not in (None, "", ())},
            borrowed_title=borrowed,
        )

    def _block(self, text: str, line: int | None = None, is_heading: bool = False) -> None:
        said = clean(text).strip()
        if not said:
            return
        if line is not None and self._line is not None:
            # A carriage return is the end of a line in the text, and none of the source.
            self._write("\n" * (line - self._line) or "\r\r")
        elif not self._apart:
            self._write("\n\n")
        if line is not None:
            said = said.replace("\r\n", "\r").replace("\n", "\r")
        self._line = line
        span = Span(self._length, self._length + len(said))
        self._write(said)
        self._apart = False
        self.blocks.append(Block(span, self._outline.path, is_heading, line))

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        if self._length > MAX_TEXT:
            raise DocumentError(f"would be more than {MAX_TEXT} characters of text")
