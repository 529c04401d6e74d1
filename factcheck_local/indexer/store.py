"""The store: passages with their embeddings in Chroma, their sources in a manifest.

It is in a folder, or on a Chroma server that several machines share; `folder` and
`server` say what is where, and `Store` is the same for both.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from factcheck_local.core.closing import Closing
from factcheck_local.core.errors import InputError, ModelError, StoreError
from factcheck_local.core.types import Chunk, Context
from factcheck_local.indexer import consistency, folder, server, states
from factcheck_local.indexer.address import COLLECTIONS, ServerAddress
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.lexical import LexicalEntry
from factcheck_local.indexer.manifest import LeftOut, SourceRecord, lies_below
from factcheck_local.indexer.parts import Parts
from factcheck_local.indexer.passages import (
    OWN,
    Metadata,
    inherited,
    metadata,
    passages_digest,
    text_sha256,
)
from factcheck_local.models.registry import DEFAULT_EMBEDDER, load_model

if TYPE_CHECKING:
    from factcheck_local.models.contracts import FloatArray

#: Passages whose words are fetched from a server at a time.
_FETCHED = 500


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


class Store(Closing):
    """Passages with embeddings, priors and places. A context manager; one writer at a time.

    Several threads may read from one that is open while none writes to it.

    Attributes:
        place: what its user calls it, a folder or an address.
        path: the folder of what this machine keeps: the store itself where that is a
            folder, and verdicts, calibrations and words of one on a server.
        collection: name of the passages' collection.
        fingerprint: what it was made with.
    """

    def __init__(self, parts: Parts) -> None:
        """Use `open` or `create`."""
        self.place = parts.place
        self.path = parts.path
        self.collection = parts.passages.name
        self.fingerprint = parts.fingerprint
        self._parts = parts
        self._manifest = parts.manifest
        self._passages = parts.passages
        self._lexical = parts.lexical
        self._digested: tuple[tuple[SourceRecord, ...], tuple[str, str]] | None = None

    @classmethod
    def open(cls, where: Path | ServerAddress, fingerprint: Fingerprint | None = None) -> Store:
        """Open a store that is there.

        Args:
            where: its folder, or its address.
            fingerprint: what it must have been made with; None takes it as it is.

        Raises:
            StoreError: if there is none, it is damaged, it was made otherwise, or its
                server does not answer.
        """
        if isinstance(where, ServerAddress):
            return cls(server.open_parts(where, fingerprint))
        return cls(folder.open_parts(where, fingerprint))

    @classmethod
    def create(cls, where: Path | ServerAddress, fingerprint: Fingerprint | None = None) -> Store:
        """Open a store made with this fingerprint; make it where there is none.

        Args:
            where: its folder, or its address.
            fingerprint: what it is made with; None takes the default embedder, which is
                loaded for that.

        Raises:
            StoreError: if the folder or the collection holds something else, cannot be
                made, or holds a store that was made otherwise.
            ModelError: if the default embedder is needed and not here.
        """
        if fingerprint is None:
            fingerprint = Fingerprint.of(load_model(DEFAULT_EMBEDDER, "embedder"))
        if isinstance(where, ServerAddress):
            return cls(server.create_parts(where, fingerprint))
        return cls(folder.create_parts(where, fingerprint))

    @staticmethod
    def erase(where: Path | ServerAddress) -> None:
        """Remove a store that is not open, for a rebuild; nothing where there is none.

        Verdicts and calibrations stay. If this is interrupted, no run takes what is
        left for a store.

        Raises:
            StoreError: if a run is writing to it.
        """
        if isinstance(where, ServerAddress):
            server.erase(where)
        else:
            folder.erase(where)

    def close(self) -> None:
        """Let go of files and connections."""
        self._parts.close()

    # ------------------------------------------------------------- writing

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other runs from writing meanwhile.

        The index of words is brought up to date first. If all passages were lost, no source is
        complete any more.

        Raises:
            StoreError: if another run is writing, or the disk does not take what is written.
        """
        from chromadb.errors import ChromaError  # slow to import, and done by now

        with self._parts.lock():
            try:
                if self._parts.shared:
                    self._match_words()
                elif self._lacks_words():
                    self._lexical.rebuild(self._passages.entries(self._passages.ids()))
                if not self._passages.count():
                    self._note_loss()
                yield
            except (sqlite3.Error, ChromaError) as error:
                raise StoreError(
                    f"{self.place}: cannot be written: {error}",
                    hint="free some space and run it again, it goes on from there",
                ) from error

    def _lacks_words(self) -> bool:
        """Whether the file with the words was lost."""
        return not self._lexical.count() and bool(self._passages.count())

    def _note_loss(self) -> None:
        """Of a store without passages no source is complete, whichever of them a run reaches."""
        for record in self._manifest.sources():
            self._manifest.mark_incomplete(record.source)
        states.drop(self.path)
        self._lexical.rebuild(())

    def _match_words(self) -> None:
        """Give the index of words the passages that are there now, and no others.

        Comparing ids is enough, since an id tells the text; of 20,000 passages it takes
        a server a tenth of a second.
        """
        # In this order: what a run of this machine adds in between is not taken for gone.
        known = self._lexical.ids()
        there = frozenset(self._passages.ids())
        if gone := known - there:
            self._lexical.delete(gone)
        missing = sorted(there - known)
        for start in range(0, len(missing), _FETCHED):
            entries = self._passages.entries(missing[start : start + _FETCHED])
            # All at hand before the file is written to, so that no other process waits for it.
            self._lexical.write(list(entries))

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
        self._lexical.write(LexicalEntry(c.id, c.source, c.titled_text) for c in chunks)

    def complete(self, draft: Draft, chunks: Sequence[Chunk]) -> SourceRecord:
        """Make ``chunks`` the source's only passages, and mark it as complete.

        Args:
            draft: what `begin` gave.
            chunks: all its passages; each was added, or was there at `begin`.

        Returns:
            The record as written.
        """
        wanted = {chunk.id: metadata(draft.record, chunk) for chunk in chunks}
        self._delete(draft.record.source, [id_ for id_ in draft.there if id_ not in wanted])
        self._passages.update(wanted, draft.there)
        digest = passages_digest({chunk.id: text_sha256(chunk.text) for chunk in chunks})
        record = replace(draft.record, chunks=len(chunks), digest=digest, complete=True)
        self._manifest.write(record)
        return record

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
        self._delete(source, list(self._passages.of_source(source)))
        self._manifest.delete(source)

    def _delete(self, source: str, gone: Sequence[str]) -> None:
        """Delete passages of a source, and whatever holds their words."""
        if not gone:
            return
        states.drop(self.path, states.part_of(source))
        states.drop(self.path, "*.state")  # as they were kept before each source had its part
        self._lexical.delete(gone)
        self._passages.delete(gone)
        states.drop(self.path, states.part_of(source))  # what others have written meanwhile

    def drop_gone(self, contexts: Iterable[Context]) -> set[str]:
        """Remove what a model made of sources that have lost one of these passages.

        For whoever had a model read them, since it may have been kept after they were removed.

        Returns:
            The ids of those that are gone.

        Raises:
            StoreError: if the disk refuses.
        """
        sources = {context.id: context.source for context in contexts}
        gone = sources.keys() - self._passages.present(list(sources))
        for id_ in gone:
            states.drop(self.path, states.part_of(sources[id_]))
        return gone

    def add_root(self, label: str, path: str) -> None:
        """Remember an indexed folder by its path from `path`'s parent, see `roots`."""
        if self._parts.shared:
            # There is nothing that it could move together with.
            path = Path(os.path.normpath(self.path.resolve().parent / path)).as_posix()
        self._manifest.add_root(label, path)

    # ------------------------------------------------------------- reading

    def roots(self) -> dict[str, str]:
        """Label of each indexed folder -> its path.

        It is relative to the parent of the store's folder; absolute where the store is
        on a server, and then the same folder to each machine that indexes.
        """
        return self._manifest.roots()

    def sources(self) -> tuple[SourceRecord, ...]:
        """All sources, by name; one that is not complete was interrupted."""
        return self._manifest.sources()

    def count(self) -> int:
        """Number of passages."""
        return self._passages.count()

    def ids(self) -> list[str]:
        """Id of every passage."""
        return self._passages.ids()

    def digest(self) -> str:
        """Sha256, in hex, over the passages' ids, texts, priors and access, by source.

        Stores of the same digest hold the same evidence, however they came to it.
        """
        return self._digests()[0]

    def state_digest(self) -> str:
        """Sha256, in hex, over what may decide a run: the evidence, and more than that.

        Conditions, ages, places and what supersedes a document rest on more than `digest`
        covers, and what is found on what the store was made with.
        """
        return self._digests()[1]

    def _digests(self) -> tuple[str, str]:
        sources = self.sources()
        # A server asks at each request, and thousands of sources take it a tenth of a second.
        if self._digested is None or self._digested[0] is not sources:
            evidence = hashlib.sha256()
            state = hashlib.sha256(json.dumps(self.fingerprint.flat()).encode() + b"\n")
            for s in sources:
                values = s.source, s.digest, s.prior, s.access, s.complete
                evidence.update(json.dumps(values).encode() + b"\n")
                more = s.source, s.sha256, s.stated, s.date, s.modified, s.superseded_by
                state.update(json.dumps(more).encode() + b"\n")
            state.update(evidence.digest())
            self._digested = (sources, (evidence.hexdigest(), state.hexdigest()))
        return self._digested[1]

    def faults(self) -> tuple[str, ...]:
        """Where manifest, passages and words contradict each other; see `consistency`."""
        return tuple(consistency.faults(self._parts))

    def left_out(self) -> tuple[LeftOut, ...]:
        """Files that runs came by and that are not in the store, by source."""
        return self._manifest.left_out()

    def set_left_out(self, below: Sequence[str], found: Iterable[LeftOut]) -> None:
        """Replace what is left out below some places, see `SqliteManifest.set_left_out`.

        Below ``""``, the indexed folder without a label, lies nothing that is below another one.
        """
        others = [f"{label}/" for label in self.roots() if label] if "" in below else []
        named = [place for place in below if place]
        kept = [
            entry
            for entry in self.left_out()
            if lies_below(entry.source, others) and not lies_below(entry.source, named)
        ]
        self._manifest.set_left_out(below, [*kept, *found])

    def size(self) -> int:
        """Bytes that the store takes on the disk of this machine, without its collections."""
        size = 0
        for at, folders, files in os.walk(self.path):
            if Path(at) == self.path and COLLECTIONS in folders:
                folders.remove(COLLECTIONS)  # stores of their own
            for name in files:
                with suppress(FileNotFoundError):  # a run may have removed it by now
                    size += os.stat(os.path.join(at, name)).st_size
        return size

    @property
    def states(self) -> Path | None:
        """The folder where what a model made of passages may be kept, by source (`states.part_of`).

        A source's part goes when a passage of it does, whose words it may hold. None where other
        machines write to the store, too: what one of them removes would stay on this one.
        """
        return None if self._parts.shared else self.path / states.STATES

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
    ) -> list[list[tuple[str, float]]]:
        """Ids of the k passages most similar to each query.

        Args:
            embeddings: shape (n, dimension).
            k: at least 1.
            sources: only passages of these; None for all.

        Returns:
            n lists of at most k pairs (id, cosine similarity in [-1, 1]), by falling
            similarity, ties by id: the same on every run.

        Raises:
            InputError: if ``k < 1``.
            ModelError: if the embeddings have another shape.
        """
        if k < 1:
            raise InputError(f"expected k of at least 1, got {k}")
        dimension = self.fingerprint.embedder.dimension
        if embeddings.ndim != 2 or embeddings.shape[1] != dimension:
            raise ModelError(f"expected queries of shape (n, {dimension}), got {embeddings.shape}")
        return self._passages.nearest(embeddings, k, sources)

    def query_words(
        self, texts: Sequence[str], k: int, sources: frozenset[str] | None = None
    ) -> list[list[tuple[str, float]]]:
        """Ids of the k passages that share the most telling words with each text, with BM25.

        The words of a store on a server are those of the passages there as this is called.

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
        if self._parts.shared:
            self._match_words()
        elif self._lacks_words():
            with self.writing():
                pass
        return self._lexical.query(texts, k, sources)
