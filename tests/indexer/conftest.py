"""Stores and folders for the tests of the indexer."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factcheck_local.indexer.address import ServerAddress
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store

from .helpers import HashingEmbedder


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def address(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], ServerAddress]:
    """The address of a store on a server, by name; this machine's files are in ``machine``."""
    url = request.getfixturevalue("chroma").url
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "machine"))
    own = uuid.uuid4().hex[:12]
    return lambda name: ServerAddress.parse(f"{url}/{own}{re.sub('[^a-z]', '', name)}")


@pytest.fixture
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """Opens (or makes) a store by name; all are closed at the end.

    It is in a folder below ``tmp_path``; where a test asks for it (`both_kinds`), on a
    server, too.
    """
    opened: list[Store] = []
    kind = getattr(request, "param", "folder")
    place = tmp_path.joinpath if kind == "folder" else request.getfixturevalue("address")

    def open_one(name: str = ".factcheck", embedder: HashingEmbedder | None = None) -> Store:
        fingerprint = Fingerprint.of(embedder or HashingEmbedder())
        opened.append(Store.create(place(name), fingerprint))
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
