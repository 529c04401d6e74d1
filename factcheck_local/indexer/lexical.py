"""Passages by their words: BM25 in SQLite's full-text index, beside the embeddings.

Embeddings find what means the same; names, numbers and part numbers they blur.
The index is a file of its own and holds what is embedded of a passage, its
title path and its text. It is rebuilt from Chroma's texts where it is missing.

BM25: Robertson and Zaragoza 2009, "The probabilistic relevance framework", as
FTS5 computes it (k1 = 1.2, b = 0.75).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from factcheck_local.indexer.database import open_database

#: Words in more than this share of the passages are left out of a query that has others:
#: they rank next to nothing and cost the reading of nearly every passage.
COMMON_SHARE = 0.2

#: Passages that the words of one query may be in, all together: ranking reads each of them.
#: The rarest words say most, so what is left out would rarely change the order.
MAX_ROWS = 2_000

#: Passages fetched beyond those asked for, so that a tie at the last place is settled by id.
TIE_MARGIN = 16

#: Below this many passages no word is taken as common.
_FEW_PASSAGES = 50

_SCHEMA = """
CREATE VIRTUAL TABLE IF NOT EXISTS passages USING fts5(
    id UNINDEXED, body, tokenize = "porter unicode61 remove_diacritics 2"
);
CREATE TABLE IF NOT EXISTS places (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_source ON places (source);
"""

#: What FTS5's unicode61 takes as a word: letters, digits, and marks upon them.
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")


class LexicalEntry(NamedTuple):
    """A passage as it is looked up: its title path and text, and where it is from."""

    id: str
    source: str
    text: str


class LexicalIndex:
    """The words of a store's passages; a change outlives the process once a call returns."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            StoreError: if it is not such a file.
        """
        self._db = open_database(path, _SCHEMA)
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def count(self) -> int:
        """Number of passages."""
        return int(self._db.execute("SELECT COUNT(*) FROM places").fetchone()[0])

    def ids(self) -> frozenset[str]:
        """Ids of all passages."""
        return frozenset(row[0] for row in self._db.execute("SELECT id FROM places"))

    def present(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of the ids that are in the index."""
        found = (
            self._db.execute("SELECT id FROM places WHERE id = ?", (id_,)).fetchone() for id_ in ids
        )
        return frozenset(row[0] for row in found if row)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """All of a change or nothing, of one process and thread at a time."""
        with self._lock, self._db:
            # Before it is looked what is there: another process may be writing the same passages.
            self._db.execute("BEGIN IMMEDIATE")
            yield

    def write(self, passages: Iterable[LexicalEntry]) -> None:
        """Add or replace passages."""
        with self._changing():
            for passage in passages:
                self._delete(passage.id)
                self._insert(passage)

    def rebuild(self, passages: Iterable[LexicalEntry]) -> None:
        """Make these the only passages, all of them or none."""
        with self._changing():
            self._db.execute("DELETE FROM passages")
            self._db.execute("DELETE FROM places")
            for passage in passages:
                self._insert(passage)

    def delete(self, ids: Iterable[str]) -> None:
        """Remove passages; those that are not there are no error."""
        with self._changing():
            for id_ in ids:
                self._delete(id_)

    def _insert(self, passage: LexicalEntry) -> None:
        row = self._db.execute(
            "INSERT INTO passages (id, body) VALUES (?, ?)", (passage.id, passage.text)
        ).lastrowid
        self._db.execute("INSERT INTO places VALUES (?, ?, ?)", (row, passage.id, passage.source))

    def _delete(self, id_: str) -> None:
        # By row: looking for an unindexed column would read the whole table.
        row = self._db.execute("SELECT row FROM places WHERE id = ?", (id_,)).fetchone()
        if row:
            self._db.execute("DELETE FROM passages WHERE rowid = ?", row)
            self._db.execute("DELETE FROM places WHERE id = ?", (id_,))

    def query(
        self, texts: Sequence[str], k: int, sources: frozenset[str] | None = None
    ) -> list[list[tuple[str, float]]]:
        """The passages that share the most telling words with each text.

        Args:
            texts: any texts; nothing in them is syntax.
            k: at least 1.
            sources: only passages of these; None for all.

        Returns:
            For each text at most k pairs (id, BM25 score, higher is better), ties by id.
        """
        with self._lock:  # the table of the scope is one for all threads
            return self._ranked(texts, k, sources)

    def _ranked(
        self, texts: Sequence[str], k: int, sources: frozenset[str] | None
    ) -> list[list[tuple[str, float]]]:
        if sources is not None:
            with self._db:
                self._db.execute("CREATE TEMP TABLE IF NOT EXISTS scope (source TEXT PRIMARY KEY)")
                self._db.execute("DELETE FROM scope")
                self._db.executemany("INSERT INTO scope VALUES (?)", [(s,) for s in sources])
        asked = [list(dict.fromkeys(_WORD.findall(text.lower()))) for text in texts]
        telling = self._telling(asked)
        return [self._query(words, k, scoped=sources is not None) for words in telling]

    def _query(self, words: Sequence[str], k: int, *, scoped: bool) -> list[tuple[str, float]]:
        if not words:
            return []
        # Quoted, so that AND or NEAR in a text are words like others.
        match = " OR ".join(f'"{word}"' for word in words)
        only = "AND (SELECT source FROM places WHERE row = passages.rowid) IN scope"
        # By rank alone, which SQLite sorts by as it goes; ties at the last place need some more.
        rows = self._db.execute(
            f"SELECT id, -rank FROM (SELECT rowid, rank FROM passages WHERE passages MATCH ? "
            f"{only if scoped else ''} ORDER BY rank LIMIT ?) AS found "
            "JOIN places ON places.row = found.rowid",
            (match, k + TIE_MARGIN),
        ).fetchall()
        return sorted(rows, key=lambda row: (-row[1], row[0]))[:k]

    def _telling(self, texts: Sequence[Sequence[str]]) -> list[Sequence[str]]:
        """Of each text the rarest words, as many as together are in `MAX_ROWS` passages at most.

        Words that most passages have are left out, unless there are no others.
        """
        total = self.count()
        if total < _FEW_PASSAGES:
            return list(texts)
        limit = int(min(COMMON_SHARE * total, MAX_ROWS))
        known = {word for words in texts for word in words}
        counts = {word: self._passages_with(word, limit + 1) for word in known}
        return [_rarest(words, counts, limit) for words in texts]

    def _passages_with(self, word: str, limit: int) -> int:
        """How many passages have a word in any form; no more than the limit are counted."""
        found = self._db.execute(
            "SELECT COUNT(*) FROM (SELECT 1 FROM passages WHERE passages MATCH ? LIMIT ?)",
            (f'"{word}"', limit),
        )
        return int(found.fetchone()[0])


def _rarest(words: Sequence[str], counts: Mapping[str, int], limit: int) -> list[str]:
    """One word, and more as long as none is over the limit and all are within `MAX_ROWS`."""
    found: list[str] = []
    rows = 0
    for word in sorted(words, key=lambda word: (counts[word], word)):
        rows += counts[word]
        if found and (counts[word] > limit or rows > MAX_ROWS):
            break
        found.append(word)
    return found
