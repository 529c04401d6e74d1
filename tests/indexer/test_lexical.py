"""The index of words: ranking, syntax in texts, changes, and stores that lack it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.core.errors import InputError, StoreError
from factcheck_local.indexer.lexical import LexicalEntry, LexicalIndex
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync

from .helpers import HashingEmbedder, both_kinds, write

TEXTS = {
    "leave": "Leave policy\nStaff get 25 days of annual leave.",
    "part": "Parts\nThe pump is part QX-4471 and costs 12 euros.",
    "pump": "Parts\nPumps are kept in the cellar, and another pump in the attic.",
}


def entries(texts: dict[str, str]) -> list[LexicalEntry]:
    """Each passage from a source of its own name."""
    return [LexicalEntry(id_, f"{id_}.md", text) for id_, text in texts.items()]


@pytest.fixture
def index(tmp_path: Path) -> LexicalIndex:
    found = LexicalIndex(tmp_path / "words.sqlite3")
    found.write(entries(TEXTS))
    return found


def ids(index: LexicalIndex, text: str, k: int = 10) -> list[str]:
    return [id_ for id_, _ in index.query([text], k)[0]]


def test_names_numbers_titles_and_inflected_words_are_found(index: LexicalIndex) -> None:
    assert ids(index, "What does QX-4471 cost?") == ["part"]
    assert ids(index, "pumping") == ["pump", "part"]
    assert ids(index, "the POLICY")[0] == "leave"
    assert ids(index, "submarines") == []
    assert ids(index, "pump", k=1) == ["pump"]
    scores = [score for _, score in index.query(["pump"], 5)[0]]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_nothing_in_a_text_is_syntax(text: str) -> None:
    index = LexicalIndex(Path(":memory:"))
    index.write(entries(TEXTS))
    index.query([text], 3)
    index.query([f'{text} AND "pump* NEAR( OR -'], 3)
    index.close()


@pytest.mark.parametrize("asked", ["M\u00fcller", "Mu\u0308ller", "MU\u0308LLER", "\u0130zmir"])
def test_a_letter_and_its_mark_are_one_word(index: LexicalIndex, asked: str) -> None:
    index.write(entries({"one": "By M\u00fcller of \u0130zmir", "two": "By Mu\u0308ller of Izmir"}))
    assert ids(index, asked) == ["one", "two"]


def test_two_processes_that_fetch_the_same_words(tmp_path: Path) -> None:
    """The second has looked for the passage before the first has written it to the end."""
    (passage,) = entries({"pump": "A pump."})
    begun, waited = Event(), Event()

    def slowly() -> Iterator[LexicalEntry]:
        yield passage
        begun.set()
        waited.wait(0.5)

    one, two = LexicalIndex(tmp_path / "w"), LexicalIndex(tmp_path / "w")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(one.write, slowly())
        begun.wait()
        two.write([passage])
        waited.set()
        first.result()
    assert (ids(one, "pump"), one.count()) == (["pump"], 1)
    one.close()
    two.close()


def test_passages_are_replaced_and_removed(index: LexicalIndex) -> None:
    index.write(entries({"part": "The valve is part ZZ-1."}))
    assert ids(index, "QX-4471") == []
    assert ids(index, "valve") == ["part"]
    index.delete(["part", "never there"])
    assert ids(index, "valve") == []
    assert index.count() == 2
    assert index.present(["part", "pump"]) == {"pump"}


def test_words_of_nearly_every_passage_do_not_rank(tmp_path: Path) -> None:
    index = LexicalIndex(tmp_path / "w")
    index.write(entries({f"p{i:03}": f"the text of the number{i}" for i in range(100)}))
    assert ids(index, "the number7 of the text") == ["p007"]
    # With nothing else in the query they have to do.
    assert len(ids(index, "the text")) == 10


def test_only_some_sources(index: LexicalIndex) -> None:
    texts = ["pump", "leave"]
    found = index.query(texts, 9, frozenset({"pump.md"}))
    assert [[id_ for id_, _ in hits] for hits in found] == [["pump"], []]
    assert index.query(texts, 9, frozenset({"none.md"})) == [[], []]
    assert index.query(texts, 9, frozenset()) == [[], []]
    assert [len(hits) for hits in index.query(texts, 9)] == [2, 1]  # the scope is forgotten


def test_ties_are_settled_by_id(tmp_path: Path) -> None:
    index = LexicalIndex(tmp_path / "w")
    index.write(entries(dict.fromkeys(("c", "a", "b"), "same words")))
    assert ids(index, "words") == ["a", "b", "c"]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match="w: cannot be opened"):
        LexicalIndex(tmp_path / "w")


# ------------------------------------------------------------------ the store


@both_kinds
def two_pages(tmp_path: Path, store: Store, embedder: HashingEmbedder) -> Path:
    """A folder with a page on pumps and one on valves, indexed."""
    corpus = tmp_path / "corpus"
    write(corpus, {"a.md": "# Pumps\n\nPart QX-4471.", "b.md": "# Valves\n\nPart ZZ-1."})
    sync([corpus], store, embedder)
    return corpus


def test_the_store_keeps_it_up_to_date(
    tmp_path: Path, store: Store, embedder: HashingEmbedder
) -> None:
    corpus = two_pages(tmp_path, store, embedder)
    ((found,),) = store.query_words(["QX 4471"], k=5)
    assert store.contexts([found[0]])[0].source == "a.md"
    write(corpus, {"a.md": "# Pumps\n\nPart QX-9."}, age=1800)
    (corpus / "b.md").unlink()
    sync([corpus], store, embedder)
    assert store.query_words(["4471", "valves"], k=5) == [[], []]
    assert len(store.query_words(["pumps"], k=5)[0]) == 1
    with pytest.raises(InputError, match="k of at least 1"):
        store.query_words(["x"], k=0)


def without_words(store: Store) -> Path:
    """A store as an earlier version made it; closed."""
    path = store.path
    store.close()
    for name in path.glob("lexical.sqlite3*"):
        name.unlink()
    return path


def test_a_store_without_it_gets_one(
    tmp_path: Path, store: Store, embedder: HashingEmbedder
) -> None:
    two_pages(tmp_path, store, embedder)
    with Store.open(without_words(store)) as again:
        assert len(again.query_words(["pumps"], k=5)[0]) == 1
        assert len(again.query_words(["valves"], k=5)[0]) == 1


def test_a_run_over_a_store_without_it_makes_all_of_it(
    tmp_path: Path, store: Store, embedder: HashingEmbedder
) -> None:
    corpus = two_pages(tmp_path, store, embedder)
    with Store.open(without_words(store)) as again:
        write(corpus, {"a.md": "# Pumps\n\nPart QX-9."}, age=1800)
        sync([corpus], again, embedder)
        assert [len(found) for found in again.query_words(["pumps", "valves"], k=5)] == [1, 1]


def test_it_is_not_made_while_another_run_writes(
    tmp_path: Path, store: Store, embedder: HashingEmbedder
) -> None:
    corpus = tmp_path / "corpus"
    write(corpus, {"a.md": "# Pumps\n\nPart QX-4471."})
    sync([corpus], store, embedder)
    path = without_words(store)
    lock = sqlite3.connect(path / "writer.lock", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    with (
        Store.open(path) as again,
        pytest.raises(StoreError, match="another run is writing"),
    ):
        again.query_words(["pumps"], k=5)
    lock.close()


@both_kinds
def test_what_was_cut_off_between_the_two_is_written_again(
    tmp_path: Path, store: Store, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus"
    write(corpus, {"a.md": "# Pumps\n\nPart QX-4471."})
    with monkeypatch.context() as patched:
        patched.setattr(LexicalIndex, "write", _cut_off)
        with pytest.raises(KeyboardInterrupt):
            sync([corpus], store, embedder)
    assert store.count() == 1
    sync([corpus], store, embedder)
    assert len(store.query_words(["pumps"], k=5)[0]) == 1
    np.testing.assert_allclose(
        store.embeddings([store.query_words(["pumps"], k=5)[0][0][0]]),
        embedder.embed(["Pumps\n# Pumps\n\nPart QX-4471."]),
    )


def _cut_off(_index: LexicalIndex, _passages: object) -> None:
    raise KeyboardInterrupt


def test_erasing_a_store_erases_it(store: Store) -> None:
    path = store.path
    store.close()
    Store.erase(path)
    assert not list(path.glob("lexical*"))
