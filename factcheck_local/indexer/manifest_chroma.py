"""The sources of a store on a server: a collection beside that of the passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from factcheck_local.core.errors import StoreError
from factcheck_local.indexer.chroma import all_rows
from factcheck_local.indexer.manifest import LeftOut, SourceRecord, lies_below

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api.collection_configuration import CreateHNSWConfiguration

#: Nothing is searched for by its vector, which Chroma asks for all the same.
_VECTOR = np.zeros((1, 1), dtype=np.float32)
HNSW: CreateHNSWConfiguration = {"space": "l2"}

#: Begins the ids of roots. A source is a relative path, so none begins with it.
_ROOT = "/"

#: Items that a request is for, at most.
_SENT = 500

#: Begins the ids of what was left out. A label of a root does not begin with a slash.
_LEFT_OUT = "//"


class ChromaManifest:
    """The records in a collection: an item for each source, root and file that was left out."""

    def __init__(self, collection: Collection) -> None:
        """Use a collection of this store alone."""
        self._collection = collection

    def sources(self) -> tuple[SourceRecord, ...]:
        """See `SqliteManifest.sources`.

        Raises:
            StoreError: if one is not as it was written.
        """
        items = self._items()
        names = sorted(id_ for id_ in items if not id_.startswith(_ROOT))
        return tuple(_record(self._collection.name, items[name]) for name in names)

    def find(self, source: str) -> SourceRecord | None:
        """See `SqliteManifest.find`."""
        rows = self._collection.get(ids=[source], include=["metadatas"])
        metadatas: Sequence[Any] = rows["metadatas"] or ()
        return next((_record(self._collection.name, values) for values in metadatas), None)

    def write(self, record: SourceRecord) -> None:
        """See `SqliteManifest.write`."""
        self._put(record.source, asdict(record))

    def mark_incomplete(self, source: str) -> None:
        """See `SqliteManifest.mark_incomplete`."""
        self._collection.update(ids=[source], metadatas=[{"complete": False}])

    def delete(self, source: str) -> None:
        """See `SqliteManifest.delete`."""
        self._collection.delete(ids=[source])

    def roots(self) -> dict[str, str]:
        """See `SqliteManifest.roots`."""
        items = self._items()
        ids = (i for i in sorted(items) if i.startswith(_ROOT) and not i.startswith(_LEFT_OUT))
        return {id_.removeprefix(_ROOT): str(items[id_]["path"]) for id_ in ids}

    def add_root(self, label: str, path: str) -> None:
        """See `SqliteManifest.add_root`."""
        self._put(_ROOT + label, {"path": path})

    def left_out(self) -> tuple[LeftOut, ...]:
        """See `SqliteManifest.left_out`."""
        items = self._items()
        ids = (id_ for id_ in sorted(items) if id_.startswith(_LEFT_OUT))
        return tuple(LeftOut(id_.removeprefix(_LEFT_OUT), **items[id_]) for id_ in ids)

    def set_left_out(self, below: Sequence[str], found: Iterable[LeftOut]) -> None:
        """See `SqliteManifest.set_left_out`."""
        known = {e.source: e for e in self.left_out() if lies_below(e.source, below)}
        wanted = {entry.source: entry for entry in found}
        gone = [_LEFT_OUT + source for source in known if source not in wanted]
        new = [entry for source, entry in wanted.items() if known.get(source) != entry]
        # Of a folder of pictures these are thousands: a request for each would take minutes.
        for start in range(0, len(gone), _SENT):
            self._collection.delete(ids=gone[start : start + _SENT])
        for start in range(0, len(new), _SENT):
            part = new[start : start + _SENT]
            self._collection.upsert(
                ids=[_LEFT_OUT + e.source for e in part],
                embeddings=_VECTOR.repeat(len(part), axis=0),
                metadatas=[{"reason": e.reason, "failed": e.failed} for e in part],
            )

    def _items(self) -> dict[str, dict[str, Any]]:
        found: dict[str, Any] = {}
        for rows in all_rows(self._collection, ["metadatas"]):
            found.update(zip(rows["ids"], rows["metadatas"] or (), strict=True))
        return found

    def _put(self, id_: str, values: dict[str, Any]) -> None:
        # A None takes the place of what was there, and does not come back.
        self._collection.upsert(ids=[id_], embeddings=_VECTOR, metadatas=[values])


def _record(collection: str, values: Mapping[str, Any]) -> SourceRecord:
    """A record as it was written.

    Raises:
        StoreError: if it is another.
    """
    try:
        return SourceRecord(**values)
    except TypeError as error:
        raise StoreError(f"{collection}: is damaged: {error}") from error
