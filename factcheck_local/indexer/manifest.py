"""What a store knows of its sources: a small SQLite file beside Chroma's.

A source is marked incomplete before its passages are touched and complete
after, so that a run that was cut off at any point is seen by the next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path, PurePosixPath
from typing import Any

from factcheck_local.indexer.database import open_database


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source in the store.

    Attributes:
        source: its name in citations, unique in the store.
        root: label of the folder it was found in, see `Manifest.roots`.
        name: its path below that folder, with forward slashes.
        sha256: hash of the file's bytes.
        size: in bytes.
        mtime_ns: modification time in nanoseconds, 0 where it cannot be trusted.
        modified: day of the last modification, in ISO format.
        prior: P(what it says is true), in (0, 1).
        prior_rule: which rule gave that prior.
        access: JSON list of the groups that may see it; None for everybody.
        stated: JSON object of what the document states of itself, so that rules can be
            tried again without reading it.
        date: the document's own date, as written there.
        superseded_by: the source that replaces it.
        note: what a reader should know, such as pages without text.
        chunks: number of its passages.
        digest: sha256 over their ids and texts, in order of id.
        complete: whether all its passages, and no others, are in the store.
    """

    source: str
    root: str
    name: str
    sha256: str
    size: int
    mtime_ns: int
    modified: str
    prior: float
    prior_rule: str
    access: str | None = None
    stated: str = "{}"
    date: str | None = None
    superseded_by: str | None = None
    note: str | None = None
    chunks: int = 0
    digest: str = ""
    complete: bool = False

    @property
    def groups(self) -> frozenset[str] | None:
        """The groups that may see it; None for everybody."""
        return None if self.access is None else frozenset(json.loads(self.access))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the document states of itself."""
        values: dict[str, Any] = json.loads(self.stated)
        return values

    @property
    def extension(self) -> str:
        """The file's extension in lower case, with its dot."""
        return PurePosixPath(self.name).suffix.lower()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file that a run came by and that is not in the store, and why.

    ``failed`` where it should be there and cannot be read.
    """

    source: str
    reason: str
    failed: bool


_COLUMNS = [field.name for field in fields(SourceRecord)]
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS roots (label TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sources ({", ".join(_COLUMNS)}, PRIMARY KEY (source));
CREATE TABLE IF NOT EXISTS left_out (
    source TEXT PRIMARY KEY, reason TEXT NOT NULL, failed INTEGER NOT NULL
);
"""


class Manifest:
    """The records of a store's sources; a change outlives the process once a call returns."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            StoreError: if it is not such a file.
        """
        self._db = open_database(path, _SCHEMA)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def sources(self) -> tuple[SourceRecord, ...]:
        """All records, by name."""
        return self._read("ORDER BY source")

    def find(self, source: str) -> SourceRecord | None:
        """A source's record; None where there is none."""
        return next(iter(self._read("WHERE source = ?", source)), None)

    def _read(self, which: str, *values: str) -> tuple[SourceRecord, ...]:
        rows = self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM sources {which}", values)
        found = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        return tuple(SourceRecord(**{**row, "complete": bool(row["complete"])}) for row in found)

    def write(self, record: SourceRecord) -> None:
        """Put a record, in place of an earlier one of the same source."""
        marks = ", ".join("?" * len(_COLUMNS))
        with self._db:
            self._db.execute(f"INSERT OR REPLACE INTO sources VALUES ({marks})", astuple(record))

    def mark_incomplete(self, source: str) -> None:
        """Say that a source's passages are about to change."""
        with self._db:
            self._db.execute("UPDATE sources SET complete = 0 WHERE source = ?", (source,))

    def delete(self, source: str) -> None:
        """Forget a source."""
        with self._db:
            self._db.execute("DELETE FROM sources WHERE source = ?", (source,))

    def roots(self) -> dict[str, str]:
        """Label of each indexed folder -> its path, relative to the store's own folder."""
        return dict(self._db.execute("SELECT label, path FROM roots ORDER BY label"))

    def add_root(self, label: str, path: str) -> None:
        """Remember an indexed folder."""
        with self._db:
            self._db.execute("INSERT INTO roots VALUES (?, ?)", (label, path))

    def left_out(self) -> tuple[LeftOut, ...]:
        """What the last runs came by and left out, by source."""
        rows = self._db.execute("SELECT source, reason, failed FROM left_out ORDER BY source")
        return tuple(LeftOut(source, reason, bool(failed)) for source, reason, failed in rows)

    def set_left_out(self, below: Sequence[str], found: Iterable[LeftOut]) -> None:
        """Replace what is known to be left out below some places.

        Args:
            below: sources, and folders of sources with a slash at their end; ``""`` is all.
            found: what is left out there now.
        """
        gone = [e.source for e in self.left_out() if lies_below(e.source, below)]
        with self._db:
            self._db.executemany("DELETE FROM left_out WHERE source = ?", [(s,) for s in gone])
            self._db.executemany(
                "INSERT OR REPLACE INTO left_out VALUES (?, ?, ?)", map(astuple, found)
            )


def lies_below(source: str, places: Iterable[str]) -> bool:
    """Whether a source is one of the places, or in one that ends in a slash or is empty."""
    return any(
        source == place or ((not place or place.endswith("/")) and source.startswith(place))
        for place in places
    )
