"""Several stores read as one: each keeps its own sources, priors and groups."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from factcheck_local.core.closing import Closing
from factcheck_local.core.errors import StoreError
from factcheck_local.core.types import Context
from factcheck_local.indexer.address import ServerAddress, StorePlace
from factcheck_local.indexer.folder import STORE_NAME
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.store import Store

if TYPE_CHECKING:
    from factcheck_local.models.contracts import FloatArray

#: Between a store's name and the id of its passage; no id has one, and no name.
_BETWEEN = ":"

_Ranking = list[list[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class JoinedPlace:
    """Where several stores are that are read as one; ``str()`` names them all.

    Attributes:
        places: of each store, under its name.
    """

    places: Mapping[str, StorePlace]

    @classmethod
    def of(cls, places: Iterable[StorePlace]) -> Self:
        """Name each store after its collection, its folder, or the folder that it lies in.

        Of several that would be called alike, the second is called NAME-2.
        """
        named: dict[str, StorePlace] = {}
        for place in places:
            name, number = _name(place), 1
            while (called := name if number == 1 else f"{name}-{number}") in named:
                number += 1
            named[called] = place
        return cls(named)

    def __str__(self) -> str:
        return ", ".join(map(str, self.places.values()))


#: Where a command reads from.
ReadPlace = StorePlace | JoinedPlace


def _name(place: StorePlace) -> str:
    if isinstance(place, ServerAddress):
        return place.name
    folder = place.resolve()
    inner = folder.name == STORE_NAME and folder.parent.name
    return (inner or folder.name).replace(_BETWEEN, "_").replace("/", "_") or "store"


def open_place(place: ReadPlace) -> ReadableStore:
    """Open a store, or several as one; see `Store.open`.

    Raises:
        StoreError: as there, or if they were made with different embedders.
    """
    if not isinstance(place, JoinedPlace):
        return Store.open(place)
    with ExitStack() as opened:
        stores = {n: opened.enter_context(Store.open(at)) for n, at in place.places.items()}
        joined = JoinedStore(stores)
        opened.pop_all()
    return joined


def below(place: ReadPlace, folder: Path) -> ReadPlace:
    """The same place as seen from a folder."""
    if isinstance(place, JoinedPlace):
        moved = {
            n: at if isinstance(at, ServerAddress) else folder / at
            for n, at in place.places.items()
        }
        return JoinedPlace(moved)
    return place if isinstance(place, ServerAddress) else folder / place


class JoinedStore(Closing):
    """Stores of one embedder, read as one; a context manager that closes them all.

    A source is called ``NAME/source`` here and a passage ``NAME:id``, by the store's name. The
    words of a query are weighed by how rare they are in each store by itself.

    Attributes:
        place: what the user calls the stores.
        path: where scores, calibrations and thresholds are looked for: of the first store.
        collection: names of the stores.
        fingerprint: of the first; the embedder is that of all.
    """

    def __init__(self, stores: Mapping[str, Store]) -> None:
        """Join open stores, by name.

        Raises:
            StoreError: if there are none, or one was made with another embedder than the first.
        """
        if not stores:
            raise StoreError("expected at least one store")
        self._stores = dict(stores)
        first = next(iter(stores.values()))
        model = first.fingerprint.embedder
        for store in stores.values():
            own = store.fingerprint.embedder
            if own != model:
                made = f"embedder {own.id}, and {first.place} with {model.id}"
                if own.id == model.id:
                    made = f"other weights of {own.id} than {first.place}"
                raise StoreError(
                    f"{store.place}: made with {made}: they cannot be searched together"
                )
        self.place = ", ".join(store.place for store in stores.values())
        self.path = first.path
        self.collection = ", ".join(stores)
        self.fingerprint = first.fingerprint

    @property
    def states(self) -> None:
        """None: what is kept of a passage has to go when its own store drops it."""

    def close(self) -> None:
        """Let go of files and connections of all stores."""
        with ExitStack() as closing:
            for store in self._stores.values():
                closing.callback(store.close)

    def sources(self) -> tuple[SourceRecord, ...]:
        """All sources, store after store, each by name."""
        found: list[SourceRecord] = []
        for name, store in self._stores.items():
            records = store.sources()
            known = {record.source for record in records}
            found += (
                replace(
                    record,
                    source=f"{name}/{record.source}",
                    superseded_by=_successor(name, record.superseded_by, known),
                )
                for record in records
            )
        return tuple(found)

    def count(self) -> int:
        """Number of passages in all."""
        return sum(store.count() for store in self._stores.values())

    def digest(self) -> str:
        """Sha256, in hex, over the stores' names and digests."""
        lines = (f"{name} {store.digest()}\n" for name, store in self._stores.items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def contexts(self, ids: Sequence[str]) -> list[Context]:
        """The passages with these ids, in this order.

        Raises:
            StoreError: if one is not there.
        """
        found: dict[str, Context] = {}
        for name, own in self._by_store(ids).items():
            contexts = self._stores[name].contexts(own)
            known: set[str] = set()
            if any(context.superseded_by for context in contexts):
                known = {record.source for record in self._stores[name].sources()}
            for context in contexts:
                id_ = f"{name}{_BETWEEN}{context.id}"
                found[id_] = replace(
                    context,
                    id=id_,
                    source=f"{name}/{context.source}",
                    superseded_by=_successor(name, context.superseded_by, known),
                )
        return [found[id_] for id_ in ids]

    def embeddings(self, ids: Sequence[str]) -> FloatArray:
        """Shape (len(ids), dimension), rows in the order of the ids.

        Raises:
            StoreError: if one is not there.
        """
        found: dict[str, FloatArray] = {}
        for name, own in self._by_store(ids).items():
            rows = self._stores[name].embeddings(own)
            found |= {f"{name}{_BETWEEN}{id_}": row for id_, row in zip(own, rows, strict=True)}
        shape = (len(ids), self.fingerprint.embedder.dimension)
        return np.array([found[id_] for id_ in ids], dtype=np.float32).reshape(shape)

    def query(
        self, embeddings: FloatArray, k: int, sources: frozenset[str] | None = None
    ) -> _Ranking:
        """Ids of the k passages most similar to each query; see `Store.query`."""
        return self._merged(
            lambda store, own: store.query(embeddings, k, own), len(embeddings), k, sources
        )

    def query_words(
        self, texts: Sequence[str], k: int, sources: frozenset[str] | None = None
    ) -> _Ranking:
        """Ids of the k passages with the most telling words; see `Store.query_words`."""
        return self._merged(
            lambda store, own: store.query_words(texts, k, own), len(texts), k, sources
        )

    def _merged(
        self,
        ask: Callable[[Store, frozenset[str] | None], _Ranking],
        queries: int,
        k: int,
        sources: frozenset[str] | None,
    ) -> _Ranking:
        merged: _Ranking = [[] for _ in range(queries)]
        for name, store in self._stores.items():
            own = None
            if sources is not None:
                here = f"{name}/"
                own = frozenset(s.removeprefix(here) for s in sources if s.startswith(here))
            for of_query, hits in zip(merged, ask(store, own), strict=True):
                of_query += [(f"{name}{_BETWEEN}{id_}", score) for id_, score in hits]
        return [sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k] for hits in merged]

    def _by_store(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """The stores' own ids of passages, by the store's name.

        Raises:
            StoreError: if there is no store of that name.
        """
        found: dict[str, list[str]] = {}
        for id_ in ids:
            name, _, own = id_.partition(_BETWEEN)
            if name not in self._stores:
                raise StoreError(f"the stores have no passage {id_!r}")
            found.setdefault(name, []).append(own)
        return found


#: What a check reads passages from.
ReadableStore = Store | JoinedStore


def _successor(name: str, successor: str | None, known: Container[str]) -> str | None:
    """A successor as it is called here; as it is stated if it is no source of its store."""
    return f"{name}/{successor}" if successor in known else successor
