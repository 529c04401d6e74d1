"""The store: passages with their embeddings in Chroma, their sources in a manifest.

A store is a folder::

    store.json        what it was made with, see `fingerprint`
    sources.sqlite3   its sources, see `manifest`
    chroma/           its passages, see `passages`
    lexical.sqlite3   their words, see `lexical`
    writer.lock       held while a run writes
    verdicts.sqlite   scores of pairs, see `relate.cache`
    calibration.json  fitted on the user's own labels, see `relate.calibrations`

The last two do not depend on the passages: they outlive a rebuild.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from factcheck_local.errors import InputError, ModelError, StoreError
from factcheck_local.indexer import fingerprint as fingerprints
from factcheck_local.indexer.fingerprint import REBUILD, Fingerprint
from factcheck_local.indexer.lexical import Entry, LexicalIndex
from factcheck_local.indexer.manifest import LeftOut, Manifest, SourceRecord
from factcheck_local.indexer.passages import (
    OWN,
    Metadata,
    Passages,
    inherited,
    metadata,
    text_sha256,
)
from factcheck_local.types import Chunk, Context

if TYPE_CHECKING:
    from factcheck_local.models.contracts import FloatArray

#: Name of the store's folder where none is given.
STORE_NAME = ".factcheck"

_META, _SOURCES, _CHROMA, _LOCK = "store.json", "sources.sqlite3", "chroma", "writer.lock"
_LEXICAL = "lexical.sqlite3"
_HINT = "factcheck index PATH..."

#: What the relation model keeps in a store's folder.
VERDICTS, CALIBRATION = "verdicts.sqlite", "calibration.json"
_KEPT = frozenset({VERDICTS, f"{VERDICTS}-wal", f"{VERDICTS}-shm", CALIBRATION})


def find_store(start: Path) -> Path:
    """The nearest `STORE_NAME` in a folder or above it, as git finds ``.git``.

    Raises:
        StoreError: if there is none.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / STORE_NAME / _META).is_file():
            return folder / STORE_NAME
    raise StoreError(f"no store ({STORE_NAME}) in {start} or above it", hint=_HINT)


@dataclass(frozen=True, slots=True)
class Draft:
    """A source whose passages are being written.

    Attributes:
        record: the source.
        there: metadata of the passages that it had, by id.
        present: ids of those that are there with embedding and words.
    """

    record: SourceRecord
    there: Mapping[str, Metadata]
    present: frozenset[str]


class Store:
    """Passages with embeddings, priors and places. A context manager; one writer at a time."""

    def __init__(self, path: Path, fingerprint: Fingerprint) -> None:
        """Use `open` or `create`."""
        self.path = path
        self.fingerprint = fingerprint
        self._manifest = Manifest(path / _SOURCES)
        try:
            self._passages = Passages(path / _CHROMA)
        except Exception as error:  # Chroma raises errors of any kind on a damaged folder
            self._manifest.close()
            raise StoreError(f"{path}: is damaged: {error}", hint=REBUILD) from error
        try:
            self._lexical = LexicalIndex(path / _LEXICAL)
        except StoreError:
            self._passages.close()
            self._manifest.close()
            raise

    @classmethod
    def open(cls, path: Path, fingerprint: Fingerprint | None = None) -> Store:
        """Open a store that is there.

        Args:
            path: its folder.
            fingerprint: what it must have been made with; None takes it as it is.

        Raises:
            StoreError: if there is none, it is damaged, or it was made otherwise.
        """
        if not (path / _META).is_file():
            raise StoreError(f"no store at {path}", hint=_HINT)
        found = fingerprints.read(path / _META)
        if fingerprint is not None:
            found.check(fingerprint, path)
        return cls(path, found)

    @classmethod
    def create(cls, path: Path, fingerprint: Fingerprint) -> Store:
        """Open a store made with this fingerprint; make it where there is none.

        Raises:
            StoreError: if the folder holds something else, cannot be made, or
                holds a store that was made otherwise.
        """
        if not (path / _META).exists():
            try:
                path.mkdir(parents=True, exist_ok=True)
                if any(found.name not in _KEPT for found in path.iterdir()):
                    raise StoreError(f"{path}: is not a store, and not empty")
                fingerprints.write(path / _META, fingerprint)
            except OSError as error:
                raise StoreError(f"{path}: cannot be made: {error.strerror}") from error
        return cls.open(path, fingerprint)

    @staticmethod
    def erase(path: Path) -> None:
        """Remove a store that is not open, for a rebuild; nothing where there is none.

        Other files of the folder stay. If this is interrupted, no run takes
        what is left for a store.
        """
        if not (path / _META).exists():
            return
        fingerprints.write(path / _META, None)
        for database in (_SOURCES, _LEXICAL):
            for name in (database, f"{database}-wal", f"{database}-shm"):
                (path / name).unlink(missing_ok=True)
        (path / _LOCK).unlink(missing_ok=True)
        shutil.rmtree(path / _CHROMA, ignore_errors=True)
        (path / _META).unlink()

    def close(self) -> None:
        """Let go of the files."""
        self._lexical.close()
        self._passages.close()
        self._manifest.close()

    def __enter__(self) -> Store:
        """The store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    # ------------------------------------------------------------- writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other runs from writing meanwhile; the system lets go of it if this one dies.

        Raises:
            StoreError: if another run is writing.
        """
        lock = sqlite3.connect(self.path / _LOCK, timeout=0, isolation_level=None)
        try:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                raise StoreError(f"{self.path}: another run is writing to it") from error
            if self._lacks_words():
                self._lexical.rebuild(self._passages.entries())
            yield
        finally:
            lock.close()

    def _lacks_words(self) -> bool:
        """Whether the file with the words was lost."""
        return not self._lexical.count() and bool(self._passages.count())

    def begin(self, record: SourceRecord) -> Draft:
        """Say that a source's passages are about to change."""
        # What the manifest has never heard of has no passages.
        known = self._manifest.find(record.source) is not None
        self._manifest.write(replace(record, complete=False))
        there = self._passages.of_source(record.source) if known else {}
        # One that only Chroma has was cut off between the two.
        return Draft(record, there, self._lexical.present(there))

    def add(self, passages: Sequence[tuple[SourceRecord, Chunk]], embeddings: FloatArray) -> None:
        """Write passages, each between `begin` and `complete` of its source.

        Args:
            passages: n passages, each with its source's record.
            embeddings: shape (n, dimension), rows of Euclidean length 1.

        Raises:
            ModelError: if the embeddings have another shape or are not finite.
        """
        expected = (len(passages), self.fingerprint.embedder.dimension)
        if embeddings.shape != expected or not np.isfinite(embeddings).all():
            received = f"got shape {embeddings.shape}"
            raise ModelError(f"expected finite embeddings of shape {expected}, {received}")
        chunks = [chunk for _, chunk in passages]
        self._passages.write(chunks, [metadata(*passage) for passage in passages], embeddings)
        self._lexical.write(Entry(c.id, c.source, c.titled_text) for c in chunks)

    def complete(self, draft: Draft, chunks: Sequence[Chunk]) -> SourceRecord:
        """Make ``chunks`` the source's only passages, and mark it as complete.

        Args:
            draft: what `begin` gave.
            chunks: all its passages; each was added, or was there at `begin`.

        Returns:
            The record as written.
        """
        wanted = {chunk.id: metadata(draft.record, chunk) for chunk in chunks}
        gone = [id_ for id_ in draft.there if id_ not in wanted]
        self._lexical.delete(gone)
        self._passages.delete(gone)
        self._passages.update(wanted, draft.there)
        digest = hashlib.sha256()
        for line in sorted(f"{chunk.id} {text_sha256(chunk)}\n" for chunk in chunks):
            digest.update(line.encode())
        record = replace(draft.record, chunks=len(chunks), digest=digest.hexdigest(), complete=True)
        self._manifest.write(record)
        return record

    def put(
        self, record: SourceRecord, chunks: Sequence[Chunk], embeddings: FloatArray
    ) -> SourceRecord:
        """Write a source with all its passages, in place of what it had.

        Arguments and errors are those of `add`; what it returns, of `complete`.
        """
        draft = self.begin(record)
        self.add([(record, chunk) for chunk in chunks], embeddings)
        return self.complete(draft, chunks)

    def revise(self, record: SourceRecord) -> None:
        """Write what is newly known of a source whose bytes have not changed.

        A new prior, rule or access reaches its passages; nothing is embedded again.
        """
        there = self._passages.of_source(record.source)
        new = inherited(record)
        own = {id_: {k: v for k, v in old.items() if k in OWN} for id_, old in there.items()}
        self._manifest.mark_incomplete(record.source)
        self._passages.update({id_: {**old, **new} for id_, old in own.items()}, there)
        self._manifest.write(record)

    def vectors_of(self, source: str) -> dict[str, FloatArray]:
        """The vectors of a source's passages, by `Chunk.titled_text`; empty without any."""
        return self._passages.vectors_of(source)

    def remove(self, source: str) -> None:
        """Remove a source and its passages; nothing where it is not there."""
        self._manifest.mark_incomplete(source)
        gone = list(self._passages.of_source(source))
        self._lexical.delete(gone)
        self._passages.delete(gone)
        self._manifest.delete(source)

    def add_root(self, label: str, path: str) -> None:
        """Remember an indexed folder, see `roots`."""
        self._manifest.add_root(label, path)

    # ------------------------------------------------------------- reading

    def roots(self) -> dict[str, str]:
        """Label of each indexed folder -> its path, relative to the store's parent."""
        return self._manifest.roots()

    def sources(self) -> tuple[SourceRecord, ...]:
        """All sources, by name; one that is not complete was interrupted."""
        return self._manifest.sources()

    def count(self) -> int:
        """Number of passages."""
        return self._passages.count()

    def digest(self) -> str:
        """Sha256, in hex, over the passages' ids, texts, priors and access, by source.

        Stores of the same digest hold the same evidence, however they came to it.
        """
        digest = hashlib.sha256()
        for s in self.sources():
            values = s.source, s.digest, s.prior, s.access, s.complete
            digest.update(json.dumps(values).encode() + b"\n")
        return digest.hexdigest()

    def left_out(self) -> tuple[LeftOut, ...]:
        """Files that runs came by and that are not in the store, by source."""
        return self._manifest.left_out()

    def set_left_out(self, below: Sequence[str], found: Iterable[LeftOut]) -> None:
        """Replace what is left out below some places, see `Manifest.set_left_out`."""
        self._manifest.set_left_out(below, found)

    def size(self) -> int:
        """Bytes that the store takes on the disk."""
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())

    def contexts(self, ids: Sequence[str]) -> list[Context]:
        """The passages with these ids, in this order.

        Raises:
            StoreError: if one is not there.
        """
        return self._passages.contexts(ids)

    def embeddings(self, ids: Sequence[str]) -> FloatArray:
        """Shape (len(ids), dimension), rows in the order of the ids.

        Raises:
            StoreError: if one is not there.
        """
        shape = (len(ids), self.fingerprint.embedder.dimension)
        return np.asarray(self._passages.embeddings(ids), dtype=np.float32).reshape(shape)

    def query(
        self, embeddings: FloatArray, k: int, sources: frozenset[str] | None = None
    ) -> list[list[tuple[Context, float]]]:
        """The k passages most similar to each query.

        Args:
            embeddings: shape (n, dimension).
            k: at least 1.
            sources: only passages of these; None for all.

        Returns:
            n lists of at most k pairs (passage, cosine similarity in [-1, 1]), by
            falling similarity, ties by id: the same on every run.

        Raises:
            InputError: if ``k < 1``.
            ModelError: if the embeddings have another shape.
        """
        if k < 1:
            raise InputError(f"expected k of at least 1, got {k}")
        dimension = self.fingerprint.embedder.dimension
        if embeddings.ndim != 2 or embeddings.shape[1] != dimension:
            raise ModelError(f"expected queries of shape (n, {dimension}), got {embeddings.shape}")
        return self._passages.query(embeddings, k, sources)

    def query_words(
        self, texts: Sequence[str], k: int, sources: frozenset[str] | None = None
    ) -> list[list[tuple[str, float]]]:
        """Ids of the k passages that share the most telling words with each text, with BM25.

        Args:
            texts: n queries.
            k: at least 1.
            sources: only passages of these; None for all.

        Raises:
            InputError: if ``k < 1``.
            StoreError: if the file with the words was lost, so that it is still to be
                made, and another run is writing.
        """
        if k < 1:
            raise InputError(f"expected k of at least 1, got {k}")
        if self._lacks_words():
            with self.writing():
                pass
        return [self._lexical.query(text, k, sources) for text in texts]
