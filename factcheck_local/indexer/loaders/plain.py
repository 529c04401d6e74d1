"""Plain text: a block for each paragraph."""

from __future__ import annotations

from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders.text import decode_any, file_as_document, paragraphs


def load(data: bytes, source: str) -> Document:
    """Read plain text; offsets are offsets in the file, without its byte order mark.

    Raises:
        DocumentError: if the bytes are not text.
    """
    text = decode_any(data, source)
    return file_as_document(source, data, text, paragraphs(text, 0, len(text)))
