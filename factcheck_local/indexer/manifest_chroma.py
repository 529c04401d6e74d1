"""The sources of a store on a server: a collection beside that of the passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from factcheck_local.errors import StoreError
from factcheck_local.indexer.manifest import SourceRecord

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api.collection_configuration import CreateHNSWConfiguration

#: Nothing is searched for by its vector, which Chroma asks for all the same.
_VECTOR = np.zeros((1, 1), dtype=np.float32)
HNSW: CreateHNSWConfiguration = {"space": "l2"}

#: Begins the ids of roots. A source is a relative path, so none begins with it.
_ROOT = "/"


class ChromaManifest:
    """A `Manifest` in a collection: an item for each source, and one for each root."""

    def __init__(self, collection: Collection) -> None:
        """Use a collection of this store alone."""
        self._collection = collection

    def sources(self) -> tuple[SourceRecord, ...]:
        """See `Manifest.sources`.

        Raises:
            StoreError: if one is not as it was written.
        """
        rows = sorted(
            (id_, values) for id_, values in self._items().items() if not id_.startswith(_ROOT)
        )
        try:
            return tuple(SourceRecord(**values) for _, values in rows)
        except TypeError as error:
            raise StoreError(f"{self._collection.name}: is damaged: {error}") from error

    def write(self, record: SourceRecord) -> None:
        """See `Manifest.write`."""
        self._put(record.source, asdict(record))

    def mark_incomplete(self, source: str) -> None:
        """See `Manifest.mark_incomplete`."""
        self._collection.update(ids=[source], metadatas=[{"complete": False}])

    def delete(self, source: str) -> None:
        """See `Manifest.delete`."""
        self._collection.delete(ids=[source])

    def roots(self) -> dict[str, str]:
        """See `Manifest.roots`."""
        roots = {id_: values for id_, values in self._items().items() if id_.startswith(_ROOT)}
        return {id_.removeprefix(_ROOT): str(roots[id_]["path"]) for id_ in sorted(roots)}

    def add_root(self, label: str, path: str) -> None:
        """See `Manifest.add_root`."""
        self._put(_ROOT + label, {"path": path})

    def _items(self) -> dict[str, dict[str, Any]]:
        rows = self._collection.get(include=["metadatas"])
        metadatas: Sequence[Any] = rows["metadatas"] or ()
        return dict(zip(rows["ids"], metadatas, strict=True))

    def _put(self, id_: str, values: dict[str, Any]) -> None:
        # A None takes the place of what was there, and does not come back.
        self._collection.upsert(ids=[id_], embeddings=_VECTOR, metadatas=[values])
