"""Plain text: a block for each paragraph."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath

from factcheck_local.indexer.loaders.text import decode_any, paragraphs
from factcheck_local.types import Document


def load(data: bytes, source: str) -> Document:
    """Read plain text; offsets are offsets in the file, without its byte order mark.

    Raises:
        DocumentError: if the bytes are not text.
    """
    text = decode_any(data, source)
    return Document(
        source=source,
        text=text,
        title=PurePosixPath(source).name,
        blocks=tuple(paragraphs(text, 0, len(text))),
        sha256=hashlib.sha256(data).hexdigest(),
    )
