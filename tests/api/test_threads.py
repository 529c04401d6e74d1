"""One FactChecker, or one store, in several threads: as one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from factcheck_local import Answer, FactChecker, Settings, Store, sync
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.report import to_dict

PAGES = {
    "leave.md": "# Leave\n\nEmployees receive 27 days of annual leave.\n",
    "canteen.md": "# Canteen\n\nLunch is served from noon. Guests pay 9 euros.\n",
}
ANSWERS = [
    "Employees receive 27 days of annual leave.",
    "Guests pay 12 euros for lunch.",
]


@pytest.fixture
def store(tmp_path: Path, minilm: SentenceTransformerEmbedder) -> Iterator[Store]:
    for name, text in PAGES.items():
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    with Store.create(tmp_path / "store", Fingerprint.of(minilm)) as made:
        sync([tmp_path / "docs"], made, minilm)
        yield made


def found(checker: FactChecker, text: str) -> dict[str, Any]:
    """What is said of an answer, without when."""
    value = to_dict(checker.verify(Answer(text)))
    del value["run"]["started"], value["run"]["seconds"]
    return value


def test_threads_find_what_one_after_the_other_finds(
    store: Store, minilm: SentenceTransformerEmbedder, smollm: LlamaCppModel
) -> None:
    def checker() -> FactChecker:
        smollm.forget()
        settings = Settings(
            llm="smollm2-135m",
            relation="encoder",
            k=1,
            retrieval="fused",
            where=("source=*.md",),
        )
        return FactChecker(settings, store, llm=smollm, embedder=minilm, cache=False)

    alone = checker()
    expected = [found(alone, text) for text in ANSWERS]
    shared = checker()
    # Two threads that begin together, and one that made neither store nor checker.
    gate = threading.Barrier(2)

    def both(order: list[int]) -> dict[int, dict[str, Any]]:
        gate.wait(timeout=60)
        return {i: found(shared, ANSWERS[i]) for i in order}

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(both, [[0, 1], [1, 0]]))
    for result in results:
        assert [result[i] for i in range(len(ANSWERS))] == expected


def test_a_run_is_not_entered_by_another(store: Store, minilm: SentenceTransformerEmbedder) -> None:
    """The model sees the prompts of one run, then those of the other."""
    inside: list[str] = []

    def progress(stage: str, done: int, _all: int) -> None:
        if stage == "atomize":
            inside.append(f"{threading.current_thread().name} {done}")

    checker = FactChecker(
        Settings(relation="encoder", llm="smollm2-135m"), store, embedder=minilm, progress=progress
    )
    with checker:
        threads = [
            threading.Thread(target=checker.atoms, args=(Answer(" ".join(ANSWERS)),), name=name)
            for name in ("a", "b")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    names = [line.split()[0] for line in inside]
    assert set(names) == {"a", "b"}
    assert names == sorted(names, key=names.index), inside


def test_a_store_is_read_from_several_threads(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    """With other scopes at once: each finds what is in its own."""
    names = [source.source for source in store.sources()]

    def words(name: str) -> set[str]:
        hits = store.query_words(["lunch leave employees guests"], 5, frozenset([name]))
        return {c.source for c in store.contexts([id_ for id_, _ in hits[0]])}

    def meaning(name: str) -> set[str]:
        hits = store.query(minilm.embed(["lunch"]), 5, frozenset([name]))
        return {c.source for c in store.contexts([id_ for id_, _ in hits[0]])}

    def again(job: tuple[Callable[[str], set[str]], str]) -> None:
        look, name = job
        for _ in range(8):
            assert look(name) == {name}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(again, [(look, name) for look in (words, meaning) for name in names]))
