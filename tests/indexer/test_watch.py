"""Waiting for changes: each is reported once, the store's own are not."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from factcheck_local.indexer.watch import changes

from .helpers import write

pytestmark = pytest.mark.long


def watched(paths: list[Path], ignore: Path, act: threading.Thread) -> frozenset[Path]:
    """The first changes that are seen once the thread has begun to make some."""
    stop = threading.Event()
    timer = threading.Timer(20, stop.set)
    timer.start()
    act.start()
    try:
        found = changes(paths, ignore, stop=stop)
        return next((files for files in found if files), frozenset())
    finally:
        stop.set()
        timer.cancel()
        act.join()


def writing(*files: Path) -> threading.Thread:
    """Writes files, one after the other, until it has been seen or has tried for long."""

    def run() -> None:
        for _ in range(20):
            time.sleep(0.5)
            for file in files:
                write(file.parent, {file.name: f"text {time.time()}"})

    return threading.Thread(target=run, daemon=True)


def test_a_change_is_seen_and_those_of_the_store_are_not(tmp_path: Path) -> None:
    docs, store = tmp_path / "docs", tmp_path / "docs" / ".factcheck"
    write(docs, {"sub/a.md": "x", ".factcheck/b.md": "x"})
    found = watched([docs], store, writing(store / "b.md", docs / "sub" / "a.md"))
    assert found == {docs / "sub" / "a.md"}


def test_a_single_file_is_watched_and_not_its_neighbour(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "x", "b.md": "x"})
    found = watched(
        [tmp_path / "a.md"], tmp_path / "s", writing(tmp_path / "b.md", tmp_path / "a.md")
    )
    assert found == {tmp_path / "a.md"}


@pytest.mark.parametrize("given", ["work/../docs", "link"])
def test_a_folder_is_watched_by_whatever_name_it_is_given(tmp_path: Path, given: str) -> None:
    docs = tmp_path / "docs"
    write(docs, {"a.md": "x"})
    (tmp_path / "work").mkdir()
    (tmp_path / "link").symlink_to(docs)
    found = watched([tmp_path / given], tmp_path / "s", writing(docs / "a.md"))
    assert found == {docs / "a.md"}
