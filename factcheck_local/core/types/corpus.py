"""What the indexer makes of documents, and what of it is evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from factcheck_local.core.types.span import Span


@dataclass(frozen=True, slots=True)
class Block:
    """A structural unit of a document: a heading, a paragraph, a list, a table.

    ``headings`` is the path of headings above it, outermost first; a heading's
    own block carries itself as the last of them. ``line`` is the line or row of the
    source that the block begins in, None where that is the line of the text; line
    feeds in the text count on from it.
    """

    span: Span
    headings: tuple[str, ...] = ()
    is_heading: bool = False
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A source file as text, with what a citation needs.

    Attributes:
        source: path below the corpus root, with forward slashes.
        text: what the file says. For Markdown, reStructuredText, plain text and
            Python this is the file itself, so that offsets are offsets in the
            (decoded) file; for the others it is the extracted text.
        title: front matter title, first heading or file name, in that order.
        blocks: the structure, in order, none overlapping another.
        page_starts: offset at which each page begins; empty without pages.
        metadata: front matter (``date``, ``superseded_by``, ``reliability`` …).
        sha256: hash of the file's bytes.
        borrowed_title: whether the title is the first heading for want of another: then
            it is none of what stands under other headings.
    """

    source: str
    text: str
    title: str
    blocks: tuple[Block, ...]
    sha256: str
    page_starts: tuple[int, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    borrowed_title: bool = False


def titled(title: str, text: str) -> str:
    """A passage's text under its title, if it has one."""
    return f"{title}\n{text}" if title else text


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of one document: ``text == document.text[span.start:span.end]``.

    ``line`` and ``page`` count from 1; ``page`` is None where there are none. ``line``
    is a row in a spreadsheet, whose sheet is in the titles, and the file's own line in
    tables and JSON, though their text is extracted. ``lead`` is the header of the Markdown
    table that the text begins within ("| Plan | Price |"), empty elsewhere; what follows
    the table is not below it.
    """

    id: str
    source: str
    text: str
    span: Span
    titles: tuple[str, ...]
    line: int
    page: int | None = None
    lead: str = ""

    @property
    def title(self) -> str:
        """The heading path on one line, and the lead at its end."""
        return " > ".join((*self.titles, self.lead) if self.lead else self.titles)

    @property
    def titled_text(self) -> str:
        """What is embedded and looked up: the heading path, a line end, the text."""
        return titled(self.title, self.text)


@dataclass(frozen=True, slots=True)
class Context:
    """A passage as evidence: the chunk, or what a record hands in.

    Attributes:
        title: the heading path, joined with " > ".
        prior: P(the passage is true), the reliability of its source, in (0, 1).
        prior_rule: which rule of the profile gave that prior.
        span: offsets in the source document; None where a record gives none.
        date: the document's own date, as written there.
        superseded_by: the source that replaces this one, where it says so.
    """

    id: str
    source: str
    title: str
    text: str
    prior: float
    prior_rule: str = "default"
    span: Span | None = None
    line: int | None = None
    page: int | None = None
    link: str | None = None
    date: str | None = None
    superseded_by: str | None = None
