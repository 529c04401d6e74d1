"""A small embedder, folders of files, and PDFs made on the spot."""

from __future__ import annotations

import hashlib
import io
import os
import re
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from reportlab.pdfgen.canvas import Canvas

from factcheck_local.core.types import Chunk, Context, Document, titled
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.reliability import ReliabilityProfile, check_statements, storable
from factcheck_local.indexer.reliability.profile import Reliability
from factcheck_local.indexer.store import Store

#: For a test of what a store does wherever it is.
both_kinds = pytest.mark.parametrize("new_store", ["folder", "server"], indirect=True)


def of_source(profile: ReliabilityProfile, *names: str) -> Reliability:
    """The prior of a source by the rules on names alone, whatever its age."""
    return profile.reliability(names, {}, today=date.min)


def of_document(profile: ReliabilityProfile, document: Document, *names: str) -> Reliability:
    """The prior that a document states itself, or else a rule; whatever its age."""
    check_statements(document)
    stated = storable(document.metadata)
    return profile.reliability(names or (document.source,), stated, today=date.min)


class HashingEmbedder:
    """Bags of hashed words: deterministic, no model. Counts the texts it embeds."""

    def __init__(self, dimension: int = 64) -> None:
        self.id = "hashing"
        self.sha256 = "0" * 64
        self.dimension = dimension
        self.texts: list[str] = []
        self.interrupt_at: int | None = None

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            if self.interrupt_at == len(self.texts):
                raise KeyboardInterrupt
            self.texts.append(text)
            for word in re.findall(r"\w+", text.lower()):
                digest = hashlib.sha256(word.encode()).digest()
                row[digest[0] % self.dimension] += 1 if digest[1] % 2 else -1
            row[0] += 0.001  # no zero vector
            row /= np.linalg.norm(row)
        return vectors


def write(folder: Path, files: Mapping[str, str | bytes], *, age: float = 3600) -> None:
    """Write files, with a time stamp ``age`` seconds ago so that it is trusted."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        then = time.time() - age
        os.utime(path, (then, then))


def long_text(seed: str, paragraphs: int = 4) -> str:
    """Paragraphs of some 120 words each, a passage each."""
    sentence = f"The {seed} of part {{}} is described in this sentence of some twelve words."
    return "\n\n".join(" ".join([sentence.format(n)] * 10) for n in range(paragraphs))


def put(
    store: Store,
    record: SourceRecord,
    chunks: Sequence[Chunk],
    embeddings: npt.NDArray[np.float32],
) -> SourceRecord:
    """Write a source with all its passages, in place of what it had."""
    draft = store.begin(record)
    store.add([(record, chunk) for chunk in chunks], embeddings)
    return store.complete(draft, chunks)


Contents = dict[str, tuple[object, ...]]


def contents(store: Store) -> Contents:
    """All that the store's two indexes hold of each passage, by id; checks that they agree."""
    collection = store._passages._collection
    # Rounded: Chroma normalises a vector again when it moves, which changes the last bits.
    rows = collection.get(include=["documents", "metadatas", "embeddings"])
    columns = rows["documents"], rows["metadatas"], rows["embeddings"]
    assert all(column is not None for column in columns)
    passages: Contents = {
        id_: (
            text,
            sorted(values.items()),
            tuple(np.round(vector, 4) + 0.0),
        )
        for id_, text, values, vector in zip(rows["ids"], *columns, strict=True)  # type: ignore[arg-type]
    }
    words = store._lexical._db.execute(
        "SELECT p.id, w.id, source, body FROM places AS p JOIN passages AS w ON w.rowid = row"
    ).fetchall()
    assert len(words) == store._lexical.count() == store.count() == len(passages)
    for id_, same_id, source, body in words:
        text, values, _ = passages[id_]
        own: dict[str, str] = dict(cast(list[tuple[str, str]], values))
        assert (same_id, source, body) == (id_, own["source"], titled(own["title"], str(text)))
    return passages


def found_contexts(store: Store, embedder: HashingEmbedder, text: str, k: int) -> list[Context]:
    """The k passages that a store finds for a text by meaning."""
    (found,) = store.query(embedder.embed([text]), k)
    return store.contexts([id_ for id_, _ in found])


def pdf(*pages: str, outline: Sequence[tuple[int, int, str]] = ()) -> bytes:
    """A PDF; each page is lines of text, "" a page with nothing but a drawing.

    ``outline`` holds entries (page index, level from 0, title).
    """
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=True)
    for index, page in enumerate(pages):
        for number, (at, level, title) in enumerate(outline):
            if at == index:
                canvas.bookmarkPage(str(number))
                canvas.addOutlineEntry(title, str(number), level)
        canvas.rect(50, 50, 100, 100)
        text = canvas.beginText(72, 700)
        for line in page.splitlines():
            text.textLine(line)
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()
