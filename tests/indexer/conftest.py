"""Stores and folders for the tests of the indexer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store

from .helpers import HashingEmbedder


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def new_store(tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """Opens (or makes) a store below ``tmp_path``; all are closed at the end."""
    opened: list[Store] = []

    def open_one(name: str = ".factcheck", embedder: HashingEmbedder | None = None) -> Store:
        fingerprint = Fingerprint.of(embedder or HashingEmbedder())
        opened.append(Store.create(tmp_path / name, fingerprint))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(new_store: Callable[..., Store]) -> Store:
    return new_store()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """An empty folder for files."""
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder
