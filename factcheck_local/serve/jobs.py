"""The checks of a server in a SQLite file: what waits, what runs, what came of it.

A check is *queued*, *running*, then *done*, *failed* or *cancelled*. Each change is one
transaction, so after a crash each check is in one of these, with the events that were told. Who
claims a check gets a token; what comes back with another one is too late and is not taken, so
nothing is done twice.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, get_args

from factcheck_local.core.errors import StoreError
from factcheck_local.core.progress import silent
from factcheck_local.core.sqlite import connected
from factcheck_local.serve.check import (
    COLUMNS,
    ENDED,
    Check,
    Claimed,
    Event,
    Problem,
    State,
)

#: How often a check is begun: one that ends its process each time is not tried for ever.
ATTEMPTS = 3

#: States in which a check stands for the same one that comes again.
SAME: tuple[State, ...] = ("queued", "running", "done")

#: Those of them in which it is yet to be done.
UNDONE = SAME[:2]

#: When to come again where too many wait.
RETRY = {"Retry-After": "30"}

_VERSION = 2
_TABLES = """
CREATE TABLE checks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    request TEXT NOT NULL,
    digest TEXT NOT NULL,
    state TEXT NOT NULL,
    token TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    created REAL NOT NULL,
    started REAL,
    finished REAL,
    result TEXT,
    problem TEXT
);
CREATE INDEX checks_by_state ON checks (state, number);
CREATE INDEX checks_by_owner ON checks (owner, number);
CREATE INDEX checks_by_digest ON checks (digest, state);
CREATE TABLE keys_used (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    check_id TEXT NOT NULL,
    PRIMARY KEY (owner, key)
);
CREATE TABLE events (
    check_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (check_id, number)
) WITHOUT ROWID;
CREATE TABLE hooks (url TEXT PRIMARY KEY);
CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    check_id TEXT NOT NULL,
    url TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due REAL NOT NULL
);
"""

#: What a check says, and whether a text is in it.
_SAID = " || ' ' || ".join(
    f"coalesce(json_extract(request, '$.body.{name}'), '')"
    for name in ("name", "question", "answer", "record.output")
)
_SAYS = f"instr(fold({_SAID}), fold(?))"


class Jobs:
    """The file; any thread and process may use it.

    Args:
        path: the file; its folder has to be there.
        what: one of them is called in messages.

    Raises:
        StoreError: if it is damaged, or of another version.
    """

    def __init__(self, path: Path, what: str = "check") -> None:
        self.path = path
        self._what = what
        with self.writing() as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _VERSION):
                raise StoreError(f"{path}: expected checks of version {_VERSION}, got {version}")
            if not version:
                for statement in _TABLES.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {_VERSION}")

    # --------------------------------------------------------------- asking

    def submit(
        self,
        owner: str,
        request: Mapping[str, Any],
        digest: str,
        *,
        most: int,
        most_own: int | None = None,
        key: str | None = None,
        first: Callable[[str], None] = silent,
        among: Sequence[State] = SAME,
    ) -> Check:
        """Queue a check, unless the same is there.

        The same is what came with the same idempotency key, or else a check of the owner with this
        digest that is in one of some states.

        Args:
            owner: who asks.
            request: what is to be checked.
            digest: of everything that decides the outcome.
            most: checks that may wait.
            most_own: checks of one owner that may; None for as many as may at all.
            key: an idempotency key of the owner's; None for none.
            first: called with the id of a new check before it counts; if it raises, there is none.
            among: states in which a check of this digest may stand for it.

        Returns:
            The check, new or not.

        Raises:
            Problem: if the key came with another request before; if ``most`` checks wait, or
                ``most_own`` of the owner's.
        """
        text = json.dumps(request, sort_keys=True)
        # A key stands for what was asked, and the digest changes with the index, too.
        own = hashlib.sha256(text.encode()).hexdigest()
        with self.writing() as db:
            found = self._keyed(db, owner, key, own, text) or self._same(db, owner, digest, among)
            if found is not None:
                self._use(db, owner, key, own, found.id)
                return found
            self._make_sure_of_room(db, owner, most, most if most_own is None else most_own)
            id_ = uuid.uuid4().hex
            db.execute(
                "INSERT INTO checks (id, owner, request, digest, state, created) "
                "VALUES (?, ?, ?, ?, 'queued', ?)",
                (id_, owner, text, digest, time.time()),
            )
            self._use(db, owner, key, own, id_)
            _tell(db, id_, "queued", {})
            first(id_)
            return self._find(db, id_)

    def _keyed(
        self, db: sqlite3.Connection, owner: str, key: str | None, own: str, text: str
    ) -> Check | None:
        used = db.execute(
            "SELECT digest, check_id FROM keys_used WHERE owner = ? AND key = ?", (owner, key)
        ).fetchone()
        if used is None:
            return None
        found = self._find(db, used[1])
        # Rows of earlier versions have another hash; the request that made the check is there.
        if used[0] != own and json.dumps(found.request, sort_keys=True) != text:
            raise Problem(409, "this Idempotency-Key came with another request before")
        return found

    @staticmethod
    def _same(
        db: sqlite3.Connection, owner: str, digest: str, states: Sequence[State]
    ) -> Check | None:
        row = db.execute(
            f"SELECT {COLUMNS} FROM checks WHERE digest = ? AND owner = ? "
            f"AND state IN ({', '.join('?' * len(states))}) ORDER BY number DESC LIMIT 1",
            (digest, owner, *states),
        ).fetchone()
        return None if row is None else Check.of(row)

    @staticmethod
    def _use(db: sqlite3.Connection, owner: str, key: str | None, own: str, check_id: str) -> None:
        if key is not None:
            db.execute(
                "INSERT OR IGNORE INTO keys_used VALUES (?, ?, ?, ?)",
                (owner, key, own, check_id),
            )

    def cancel(self, id_: str, kept: Mapping[str, Any] | None = None) -> Check:
        """Let go of a check; one that runs ends before its next pair.

        Args:
            id_: of the check.
            kept: what stays of the request of one that had not ended, and then nothing of what was
                told of it but its states; None for all of it.

        Raises:
            Problem: if there is none of this id.
        """
        with self.writing() as db:
            if self._state(db, id_) not in ENDED:
                self._end(db, id_, "cancelled")
                if kept is not None:
                    _empty(db, id_, kept)
            return self._find(db, id_)

    def delete(self, id_: str) -> None:
        """Delete a check with all that was told of it; its idempotency key may be used again."""
        with self.writing() as db:
            for table in ("events", "keys_used", "deliveries"):
                db.execute(f"DELETE FROM {table} WHERE check_id = ?", (id_,))
            db.execute("DELETE FROM checks WHERE id = ?", (id_,))

    # --------------------------------------------------------------- reading

    def ended_before(self, moment: float) -> list[str]:
        """Ids of the checks that ended before a moment, seconds since 1970."""
        with self.connected() as db:
            return [
                row[0] for row in db.execute("SELECT id FROM checks WHERE finished < ?", (moment,))
            ]

    def find(self, id_: str) -> Check:
        """The check of an id.

        Raises:
            Problem: if there is none.
        """
        with self.connected() as db:
            return self._find(db, id_)

    def state(self, id_: str) -> State:
        """The state of a check alone: what was asked may be long, and is not read for it.

        Raises:
            Problem: if there is none of this id.
        """
        with self.connected() as db:
            return self._state(db, id_)

    def result(self, id_: str) -> dict[str, Any] | None:
        """The assessment of a check that is done; None of another.

        Raises:
            Problem: if there is none of this id.
        """
        with self.connected() as db:
            row = db.execute("SELECT result FROM checks WHERE id = ?", (id_,)).fetchone()
        if row is None:
            raise self._none()
        return None if row[0] is None else dict(json.loads(row[0]))

    def latest(
        self,
        owner: str | None,
        *,
        state: State | None = None,
        before: int | None = None,
        text: str | None = None,
        limit: int = 50,
    ) -> list[Check]:
        """Checks, the latest first.

        Args:
            owner: whose; None for everybody's.
            state: only those in it.
            before: only those of a smaller number.
            text: only those whose answer, question or name has it, in whatever case.
            limit: how many at most.
        """
        wanted = {"owner = ?": owner, "state = ?": state, "number < ?": before, _SAYS: text}
        given = {condition: value for condition, value in wanted.items() if value is not None}
        where = " AND ".join(given) or "1"
        with self.connected() as db:
            # SQLite's own lower() knows ASCII alone.
            db.create_function("fold", 1, str.casefold, deterministic=True)
            rows = db.execute(
                f"SELECT {COLUMNS} FROM checks WHERE {where} ORDER BY number DESC LIMIT ?",
                (*given.values(), limit),
            ).fetchall()
        return [Check.of(row) for row in rows]

    def ahead(self, check: Check) -> int:
        """How many checks come before one that is queued, those that run among them."""
        with self.connected() as db:
            row = db.execute(
                "SELECT count(*) FROM checks WHERE state = 'running' "
                "OR (state = 'queued' AND number < ?)",
                (check.number,),
            ).fetchone()
        return int(row[0])

    def verdicts(self, ids: Sequence[str]) -> dict[str, dict[str, int]]:
        """How many claims of each check have which verdict, of those checks that are done."""
        with self.connected() as db:
            rows = db.execute(
                "SELECT id, json_extract(result, '$.summary.counts') FROM checks "
                f"WHERE result IS NOT NULL AND id IN ({', '.join('?' * len(ids))})",
                ids,
            ).fetchall()
        return {id_: json.loads(counts) for id_, counts in rows}

    def counts(self) -> dict[str, int]:
        """How many checks are in each state; states without any are left out."""
        with self.connected() as db:
            rows = db.execute("SELECT state, count(*) FROM checks GROUP BY state").fetchall()
        return dict(rows)

    def waits(self) -> bool:
        """Whether a check waits to be begun."""
        return bool(self.counts().get("queued"))

    def undone(self) -> set[str]:
        """The ids of the checks that are queued or running."""
        with self.connected() as db:
            rows = db.execute("SELECT id FROM checks WHERE state IN (?, ?)", UNDONE).fetchall()
        return {id_ for (id_,) in rows}

    def events(self, id_: str, after: int = 0) -> list[Event]:
        """What was told of a check behind an event's number, in order."""
        with self.connected() as db:
            rows = db.execute(
                "SELECT number, name, data FROM events WHERE check_id = ? AND number > ? "
                "ORDER BY number",
                (id_, after),
            ).fetchall()
        return [Event(number, name, json.loads(data)) for number, name, data in rows]

    # --------------------------------------------------------------- doing

    def recover(self, *, stopped: bool = False) -> list[str]:
        """Queue again what ran when its process ended; ids of the checks that ran.

        One that was begun ``ATTEMPTS`` times has failed.

        Args:
            stopped: whether the process was told to end, which says nothing against the check: the
                attempt does not count.
        """
        with self.writing() as db:
            rows = db.execute(
                "SELECT id, attempts FROM checks WHERE state = 'running' ORDER BY number"
            ).fetchall()
            for id_, attempts in rows:
                if stopped or attempts < ATTEMPTS:
                    db.execute(
                        "UPDATE checks SET state = 'queued', token = NULL, started = NULL, "
                        "attempts = ? WHERE id = ?",
                        (attempts - stopped, id_),
                    )
                    _tell(db, id_, "queued", {"again": attempts})
                else:
                    why = f"the process that checked it ended {attempts} times"
                    self._end(db, id_, "failed", problem=why)
        return [id_ for id_, _ in rows]

    def claim(self) -> Claimed | None:
        """Begin with the check that waits longest; None if none does."""
        with self.writing() as db:
            row = db.execute(
                f"SELECT {COLUMNS} FROM checks WHERE state = 'queued' ORDER BY number LIMIT 1"
            ).fetchone()
            if row is None:
                return None
            id_, token = Check.of(row).id, uuid.uuid4().hex
            db.execute(
                "UPDATE checks SET state = 'running', token = ?, started = ?, "
                "attempts = attempts + 1 WHERE id = ?",
                (token, time.time(), id_),
            )
            _tell(db, id_, "running", {})
            return Claimed(self._find(db, id_), token)

    def decided_by(self, claimed: Claimed, digest: str) -> None:
        """Keep the digest of what decides the outcome of a check that runs, as it is by now.

        The index may have changed since the check was asked for.
        """
        with self.writing() as db:
            if self._holds(db, claimed):
                db.execute("UPDATE checks SET digest = ? WHERE id = ?", (digest, claimed.check.id))

    def is_due(self, claimed: Claimed) -> bool:
        """Whether a check is still to be done by whoever claimed it: not if it was cancelled."""
        with self.connected() as db:
            return self._holds(db, claimed)

    def tell(self, claimed: Claimed, name: str, data: Mapping[str, Any]) -> bool:
        """Add an event of a check that runs; whether it is still due."""
        with self.writing() as db:
            if not self._holds(db, claimed):
                return False
            _tell(db, claimed.check.id, name, data)
            return True

    def finish(self, claimed: Claimed, result: Mapping[str, Any]) -> bool:
        """Keep what came of a check; False, and nothing is kept, if it is no longer due."""
        with self.writing() as db:
            if not self._holds(db, claimed):
                return False
            self._end(db, claimed.check.id, "done", result=json.dumps(result))
            return True

    def fail(self, claimed: Claimed, problem: str) -> bool:
        """Keep why a check failed; False if it is no longer due."""
        with self.writing() as db:
            if not self._holds(db, claimed):
                return False
            self._end(db, claimed.check.id, "failed", problem=problem)
            return True

    @staticmethod
    def _end(
        db: sqlite3.Connection,
        id_: str,
        state: State,
        *,
        result: str | None = None,
        problem: str | None = None,
    ) -> None:
        db.execute(
            "UPDATE checks SET state = ?, token = NULL, finished = ?, result = ?, problem = ? "
            "WHERE id = ?",
            (state, time.time(), result, problem, id_),
        )
        _tell(db, id_, state, {} if problem is None else {"problem": problem})
        db.execute(  # see ``outbox``
            "INSERT INTO deliveries (id, check_id, url, due) "
            "SELECT 'msg_' || lower(hex(randomblob(16))), ?, url, ? FROM hooks",
            (id_, time.time()),
        )

    @staticmethod
    def _holds(db: sqlite3.Connection, claimed: Claimed) -> bool:
        row = db.execute(
            "SELECT token FROM checks WHERE id = ? AND state = 'running'", (claimed.check.id,)
        ).fetchone()
        return row is not None and row[0] == claimed.token

    @staticmethod
    def _make_sure_of_room(db: sqlite3.Connection, owner: str, most: int, most_own: int) -> None:
        waiting, own = db.execute(
            "SELECT count(*), coalesce(sum(owner = ?), 0) FROM checks WHERE state = 'queued'",
            (owner,),
        ).fetchone()
        if waiting >= most:
            raise Problem(429, f"{most} checks wait already", RETRY)
        if own >= most_own:
            raise Problem(429, f"{most_own} of your checks wait already", RETRY)

    def _find(self, db: sqlite3.Connection, id_: str) -> Check:
        row = db.execute(f"SELECT {COLUMNS} FROM checks WHERE id = ?", (id_,)).fetchone()
        if row is None:
            raise self._none()
        return Check.of(row)

    def _state(self, db: sqlite3.Connection, id_: str) -> State:
        row = db.execute("SELECT state FROM checks WHERE id = ?", (id_,)).fetchone()
        if row is None:
            raise self._none()
        found: State = row[0]
        return found

    def _none(self) -> Problem:
        return Problem(404, f"no such {self._what}")

    # --------------------------------------------------------------- the file

    def connected(self) -> AbstractContextManager[sqlite3.Connection]:
        """The file, to read it.

        Raises:
            StoreError: if it cannot be used.
        """
        return connected(self.path, "checks cannot be kept")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of what is done within, or nothing.

        Raises:
            StoreError: if the file cannot be used.
        """
        with self.connected() as db:
            # A check is told to be queued or done before its answer goes out: to the disk first.
            db.execute("PRAGMA synchronous = FULL")
            # What is let go of is not to stay in the file, as it does where SQLite was so built.
            db.execute("PRAGMA secure_delete = ON")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")


def _empty(db: sqlite3.Connection, id_: str, kept: Mapping[str, Any]) -> None:
    text, states = json.dumps(kept, sort_keys=True), get_args(State)
    db.execute("UPDATE checks SET request = ? WHERE id = ?", (text, id_))
    marks = ", ".join("?" * len(states))
    db.execute(f"DELETE FROM events WHERE check_id = ? AND name NOT IN ({marks})", (id_, *states))


def _tell(db: sqlite3.Connection, id_: str, name: str, data: Mapping[str, Any]) -> None:
    db.execute(
        "INSERT INTO events SELECT ?, coalesce(max(number), 0) + 1, ?, ? FROM events "
        "WHERE check_id = ?",
        (id_, name, json.dumps(data), id_),
    )
