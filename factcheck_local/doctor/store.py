"""The store: whether its parts tell the same, and whether its embedder is the run's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from factcheck_local.core.errors import ModelError, StoreError
from factcheck_local.doctor.finding import Finding
from factcheck_local.indexer.address import ServerAddress
from factcheck_local.indexer.fingerprint import REBUILD
from factcheck_local.indexer.parts import INDEX
from factcheck_local.indexer.store import Store
from factcheck_local.models.cards import find_card
from factcheck_local.pipeline.settings import Settings


def check_store(place: Path | ServerAddress | None, settings: Settings) -> Iterator[Finding]:
    """Read a store, all of it; None is no store, which is no problem."""
    if place is None:
        yield Finding("store", "warning", "there is none in this folder or above it", INDEX)
        return
    try:
        with closing(Store.open(place)) as store:
            yield from _embedder(store, settings)
            yield from _consistency(store)
    except StoreError as error:
        yield Finding("store", "problem", str(error), error.hint)


def _embedder(store: Store, settings: Settings) -> Iterator[Finding]:
    made = store.fingerprint.embedder
    if made.id != settings.embedder:
        message = f"{store.place}: made with embedder {made.id}, not {settings.embedder}"
        yield Finding("store", "problem", message, f"factcheck verify --set embedder={made.id}")
        return
    try:
        now = find_card(made.id, "embedder").sha256
    except ModelError as error:
        yield Finding("store", "problem", str(error), error.hint)
        return
    if now != made.sha256:
        message = f"{store.place}: made with another {made.id} than the one that is here"
        yield Finding("store", "problem", message, REBUILD)


def _consistency(store: Store) -> Iterator[Finding]:
    faults = store.faults()
    for fault in faults:
        yield Finding("store", "problem", f"{store.place}: {fault}", REBUILD)
    sources = store.sources()
    for record in sources:
        if not record.complete:
            message = f"{store.place}: {record.source} is incomplete; its indexing was interrupted"
            yield Finding("store", "warning", message, INDEX)
    failed = sum(entry.failed for entry in store.left_out())
    if failed:
        message = f"{store.place}: {failed} files could not be read"
        yield Finding("store", "warning", message, "factcheck status")
    if not faults:
        yield Finding(
            "store",
            "ok",
            f"{store.place}: {len(sources)} sources and {store.count()} passages as indexed, "
            f"embedder {store.fingerprint.embedder.id}",
        )
