"""Passages in Chroma: one collection, cosine distance, embeddings given explicitly.

Chroma's own embedder is never used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import StoreError
from factcheck_local.core.types import Chunk, Context, Span, titled
from factcheck_local.indexer.chroma import AT_ONCE, all_rows
from factcheck_local.indexer.lexical import LexicalEntry
from factcheck_local.indexer.manifest import SourceRecord

if TYPE_CHECKING:
    from chromadb import Collection, Include
    from chromadb.api.collection_configuration import CreateHNSWConfiguration

    from factcheck_local.models.contracts import FloatArray

#: Neighbours that HNSW looks at while building and while searching: several times what
#: is asked for, so that the search misses next to nothing.
HNSW: CreateHNSWConfiguration = {
    "space": "cosine",
    "max_neighbors": 16,
    "ef_construction": 200,
    "ef_search": 200,
}

#: Passages fetched beyond those asked for, so that a tie at the last place is
#: settled by id rather than by the order of insertion.
TIE_MARGIN = 16

#: Digits of a similarity that are kept: below is the noise of 32-bit floats.
SIMILARITY_DIGITS = 6

#: What Chroma keeps beside a passage.
Metadata = Mapping[str, Any]

#: Keys of the metadata that are a passage's own; the others it has from its source.
OWN = frozenset({"source", "title", "start", "end", "line", "page", "text_sha256"})

_T = TypeVar("_T")


class Passages:
    """The collection of a store; see `Store` for what the methods promise."""

    def __init__(self, collection: Collection, batch: int) -> None:
        """Use a collection made with `HNSW`.

        Args:
            collection: of the client that holds it open.
            batch: passages that this client sends at a time, at most.
        """
        self._collection = collection
        self._batch = batch

    @property
    def name(self) -> str:
        """What the collection is called."""
        return self._collection.name

    def of_source(self, source: str) -> dict[str, Metadata]:
        """Id -> metadata of a source's passages."""
        found: dict[str, Metadata] = {}
        for rows in all_rows(self._collection, ["metadatas"], {"source": source}):
            found.update(zip(rows["ids"], rows["metadatas"] or (), strict=True))
        return found

    def write(
        self, chunks: Sequence[Chunk], metadatas: Sequence[Metadata], embeddings: FloatArray
    ) -> None:
        """Add or replace n passages; ``embeddings`` has shape (n, dimension)."""
        vectors = np.asarray(embeddings, dtype=np.float32)
        for part in _batches(range(len(chunks)), self._batch):
            self._collection.upsert(
                ids=[chunks[index].id for index in part],
                embeddings=vectors[part.start : part.stop],
                documents=[chunks[index].text for index in part],
                metadatas=[dict(metadatas[index]) for index in part],
            )

    def update(self, wanted: Mapping[str, Metadata], there: Mapping[str, Metadata]) -> None:
        """Give passages that are there the metadata that is wanted, id by id."""
        changes = [id_ for id_, metadata in wanted.items() if there.get(id_, metadata) != metadata]
        for ids in _batches(changes, self._batch):
            # A key stays until it is set to None.
            metadatas: list[Any] = [{**dict.fromkeys(there.get(i, ())), **wanted[i]} for i in ids]
            self._collection.update(ids=list(ids), metadatas=metadatas)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove passages."""
        for part in _batches(ids, self._batch):
            self._collection.delete(ids=list(part))

    def count(self) -> int:
        """Number of passages."""
        return int(self._collection.count())

    def ids(self) -> list[str]:
        """Id of every passage; it tells the text and the titles, see `chunker`."""
        return list(self._collection.get(include=[])["ids"])

    def present(self, ids: Sequence[str]) -> set[str]:
        """Those of these passages that are there."""
        found: set[str] = set()
        for part in _batches(ids, self._batch):
            found.update(self._collection.get(ids=list(part), include=[])["ids"])
        return found

    def entries(self, ids: Sequence[str]) -> Iterator[LexicalEntry]:
        """Those of these passages that are there, for an index of words."""
        for part in _batches(ids, self._batch):
            rows = self._collection.get(ids=list(part), include=["documents", "metadatas"])
            columns = rows["ids"], rows["documents"] or (), rows["metadatas"] or ()
            for id_, text, values in zip(*columns, strict=True):
                title, source = str(values["title"]), str(values["source"])
                yield LexicalEntry(id_, source, titled(title, text))

    def vectors_of(self, source: str) -> dict[str, npt.NDArray[Any]]:
        """A source's passages as they were embedded, title and text -> vector."""
        found: dict[str, npt.NDArray[Any]] = {}
        wanted: Include = ["documents", "metadatas", "embeddings"]
        for rows in all_rows(self._collection, wanted, {"source": source}):
            vectors = np.asarray(rows["embeddings"])
            columns = rows["documents"] or (), rows["metadatas"] or (), vectors
            for text, values, vector in zip(*columns, strict=True):
                found[titled(str(values["title"]), text)] = vector
        return found

    def contexts(self, ids: Sequence[str]) -> list[Context]:
        """The passages with these ids, in this order."""
        found: dict[str, Context] = {}
        for part in _batches(ids, self._batch):
            rows = self._collection.get(ids=list(set(part)), include=["documents", "metadatas"])
            columns = rows["ids"], rows["documents"] or (), rows["metadatas"] or ()
            found |= {row[0]: _context(*row) for row in zip(*columns, strict=True)}
        return _in_order(found, ids)

    def embeddings(self, ids: Sequence[str]) -> list[npt.NDArray[Any]]:
        """The vectors of these passages, in this order."""
        found: dict[str, npt.NDArray[Any]] = {}
        for part in _batches(ids, self._batch):
            rows = self._collection.get(ids=list(set(part)), include=["embeddings"])
            if rows["embeddings"] is not None:
                found.update(zip(rows["ids"], np.asarray(rows["embeddings"]), strict=True))
        return _in_order(found, ids)

    def nearest(
        self, embeddings: FloatArray, k: int, sources: frozenset[str] | None = None
    ) -> list[list[tuple[str, float]]]:
        """Ids of the k passages most similar to each query, with their similarities."""
        if not len(embeddings) or sources == frozenset():
            return [[] for _ in embeddings]
        wheres: list[Any] = [None]
        if sources is not None:
            parts = _batches(sorted(sources), AT_ONCE)
            wheres = [{"source": {"$in": part}} for part in parts]
        found: list[list[tuple[str, float]]] = [[] for _ in embeddings]
        for where in wheres:
            rows = self._collection.query(
                query_embeddings=np.asarray(embeddings, dtype=np.float32),
                n_results=k + TIE_MARGIN,
                where=where,
                include=["distances"],
            )
            columns = rows["ids"], rows["distances"] or ()
            for of_query, result in zip(found, zip(*columns, strict=True), strict=True):
                of_query += _similar(*result)
        return [_ranked(hits)[:k] for hits in found]


def metadata(record: SourceRecord, chunk: Chunk) -> Metadata:
    """A passage's metadata."""
    values = {
        "source": record.source,
        "title": chunk.title,
        "start": chunk.span.start,
        "end": chunk.span.end,
        "line": chunk.line,
        "page": chunk.page,
        "text_sha256": text_sha256(chunk.text),
    }
    return {**_known(values), **inherited(record)}


def inherited(record: SourceRecord) -> Metadata:
    """What every passage has from its source."""
    values = {
        "sha256": record.sha256,
        "modified": record.modified,
        "prior": record.prior,
        "prior_rule": record.prior_rule,
        "access": record.access,
        "date": record.date,
        "superseded_by": record.superseded_by,
    }
    return _known(values)


def _known(values: Metadata) -> Metadata:
    """Chroma holds no None, so what is unknown is left out."""
    return {key: value for key, value in values.items() if value is not None}


def text_sha256(text: str) -> str:
    """Hash of a passage's text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def passages_digest(texts: Mapping[str, str]) -> str:
    """Sha256 of a source's passages, in hex: over their ids, in order, and texts' hashes."""
    digest = hashlib.sha256()
    for line in sorted(f"{id_} {sha256}\n" for id_, sha256 in texts.items()):
        digest.update(line.encode())
    return digest.hexdigest()


def _context(id_: str, text: str, values: Metadata) -> Context:
    """The inverse of `metadata`."""
    return Context(
        id=id_,
        source=values["source"],
        title=values["title"],
        text=text,
        prior=values["prior"],
        prior_rule=values["prior_rule"],
        span=Span(values["start"], values["end"]),
        line=values["line"],
        page=values.get("page"),
        date=values.get("date"),
        superseded_by=values.get("superseded_by"),
    )


def _similar(ids: Sequence[str], distances: Sequence[float]) -> list[tuple[str, float]]:
    """One query's results with their similarities."""
    return [
        (id_, round(1.0 - distance, SIMILARITY_DIGITS))
        for id_, distance in zip(ids, distances, strict=True)
    ]


def _ranked(found: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """By falling similarity, ties by id."""
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _batches(items: Sequence[_T], size: int) -> Iterator[Any]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _in_order(found: Mapping[str, _T], ids: Sequence[str]) -> list[_T]:
    try:
        return [found[id_] for id_ in ids]
    except KeyError as error:
        raise StoreError(
            f"the store has no passage {error}", hint="the same again, if a run is writing to it"
        ) from error
