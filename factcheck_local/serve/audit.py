"""The audit log: who did what, when, to which digests; append-only, each line chained to the last.

A line is a JSON object whose ``hash`` is the SHA-256 of the line before it and of its own other
fields, so that no line can be changed, taken out or moved without all behind it failing. Lines cut
off at the end are missed only by whoever knows the last hash: keep that elsewhere now and then
(``factcheck audit verify`` prints it, and looks for it with ``--expect``, which proves that nothing
up to that line was cut off or changed; of later lines it proves nothing). No text of an answer, a
query or a document stands here.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import InputError, StoreError
from factcheck_local.core.sqlite import connect

#: What the first line follows.
NOTHING = "0" * 64

#: Bytes from the end of the file that are read first for the last line.
_TAIL = 65536


class AuditError(InputError):
    """The log is not what was written."""


class AuditLog:
    """A log that several processes may add to.

    Args:
        path: the file; its folder has to be there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, who: str, what: str, **about: str | int | float | list[str] | None) -> None:
        """Add a line, on the disk when this returns.

        Args:
            who: name of the caller.
            what: what they did, as ``check.submitted``.
            about: ids, digests and counts; never a text.

        Raises:
            StoreError: if it cannot be written: then what was to be logged must not be done.
        """
        try:
            with self._alone():
                last, torn = self._end()
                if torn:
                    # A power cut tore a line that nobody was told of.
                    os.truncate(self._path, self._path.stat().st_size - len(torn))
                    last = self._write(
                        last, "server", "audit.torn", {"sha256": hashlib.sha256(torn).hexdigest()}
                    )
                self._write(last, who, what, about)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{self._path}: cannot be written: {error}") from error

    def _write(
        self, last: tuple[int, str], who: str, what: str, about: Mapping[str, Any]
    ) -> tuple[int, str]:
        """Add a line behind the last, of which number and hash are given; its own ones."""
        number, before = last[0] + 1, last[1]
        entry: dict[str, Any] = {
            "number": number,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "who": who,
            "what": what,
            "about": about,
            "previous": before,
        }
        entry["hash"] = _hash(entry)
        with self._path.open("ab") as file:
            file.write(_line(entry))
            file.flush()
            os.fsync(file.fileno())
        return number, entry["hash"]

    def _end(self) -> tuple[tuple[int, str], bytes]:
        """Number and hash of the last whole line, and what was torn off behind it."""
        if not self._path.exists():
            self._path.touch(mode=0o600)
        with self._path.open("rb") as file:
            size, tail = file.seek(0, os.SEEK_END), _TAIL
            while True:
                start = file.seek(max(0, size - tail))
                whole, _, torn = file.read().rpartition(b"\n")
                _, before, last = whole.rpartition(b"\n")
                # What no end of a line precedes is a part of the last line, unless it is the first.
                if before or start == 0:
                    break
                tail *= 2
        if not last:
            return (0, NOTHING), torn
        try:
            entry = json.loads(last)
            return (int(entry["number"]), str(entry["hash"])), torn
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise StoreError(f"{self._path}: its last line is damaged: {error}") from error

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from adding meanwhile."""
        with closing(connect(self._path.with_suffix(".lock"))) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield


def verified(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log, each proven to follow from the one before.

    Raises:
        AuditError: at the first that does not, naming the line.
        OSError: if the file cannot be read.
    """
    last = NOTHING
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                whole = line == _line(entry)
                follows = (entry["number"], entry["previous"]) == (number, last)
                own = entry.pop("hash") == _hash(entry)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                raise AuditError(f"{path}, line {number}: is no line of an audit log") from error
            if not (whole and follows and own):
                why = "does not follow from the line before" if not follows else "was changed"
                raise AuditError(f"{path}, line {number}: {why}")
            last = _hash(entry)
            yield entry | {"hash": last}


def _hash(entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(_line(entry)).hexdigest()


def _line(entry: Mapping[str, Any]) -> bytes:
    text = json.dumps(entry, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.encode() + b"\n"
