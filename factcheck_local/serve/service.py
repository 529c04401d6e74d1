"""What the routes share: the checks, the open store, who may ask."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from fastapi import Request

from factcheck_local.core.errors import StoreError
from factcheck_local.core.types import Atom
from factcheck_local.indexer.database import exclusive
from factcheck_local.indexer.fingerprint import EmbedderPrint
from factcheck_local.indexer.parts import META
from factcheck_local.indexer.scope import Condition, as_seen, in_scope
from factcheck_local.indexer.store import Store
from factcheck_local.models.contracts import Embedder
from factcheck_local.models.openai_server.options import ServerOptions
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.retrieval.search import retrieve
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report.render import View, render
from factcheck_local.report.schema import context_to_dict
from factcheck_local.serve.access import LOCAL, Caller, Keys, make_folder
from factcheck_local.serve.audit import AuditLog
from factcheck_local.serve.check import ENDED, Check, Problem
from factcheck_local.serve.gate import Rates
from factcheck_local.serve.jobs import SAME, UNDONE, Jobs
from factcheck_local.serve.requests import SearchRequest, digest_of, emptied, work_of
from factcheck_local.serve.retention import retention
from factcheck_local.serve.reviews import Reviews
from factcheck_local.serve.supervisor import Supervisor
from factcheck_local.serve.webhooks import Webhooks
from factcheck_local.serve.worker import Task

#: Where in the scope of a request its caller stands.
_CALLER = "factcheck.caller"

#: The file by which a server has its folder for itself.
LOCK = "server.lock"

#: Endings of a report -> its format and media type.
REPORTS = {
    "html": ("html", "text/html"),
    "md": ("markdown", "text/markdown"),
    "json": ("json", "application/json"),
    "sarif": ("sarif", "application/sarif+json"),
    "xml": ("junit", "application/xml"),
}


@dataclass(frozen=True, slots=True)
class Config:
    """How a server is set up.

    Attributes:
        store: the store's folder.
        folder: where checks, keys and the audit log are; made if it is not there.
        settings: of every check.
        needs_key: whether a request needs a key.
        hosts: names by which the server is called, without a port.
        queue: checks that may wait.
        most_bytes: of a body.
        per_minute: requests of a caller.
        openai: the model server that is passed through to; None for none.
        folders: name -> path of the folders that may be indexed.
        webhooks: addresses that are told when a check or an indexing job has ended.
        webhook_key: what that is signed with.
        keep_days: how long a check is kept after it has ended; None for ever.
        prepare: whether the LLM reads the store's passages while no check waits.
    """

    store: Path
    folder: Path
    settings: Settings = field(default_factory=Settings)
    needs_key: bool = False
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"})
    queue: int = 100
    most_bytes: int = 2 * 2**20
    per_minute: float = 600.0
    openai: ServerOptions | None = None
    folders: Mapping[str, str] = field(default_factory=dict)
    webhooks: tuple[str, ...] = ()
    webhook_key: bytes = field(default=b"", repr=False)
    keep_days: float | None = None
    prepare: bool = False

    @property
    def share(self) -> int:
        """Checks of one caller that may wait: half of the queue, rounded up.

        So nobody takes all of a queue. Where no keys are needed all callers are one.
        """
        return (self.queue + 1) // 2 if self.needs_key else self.queue


class Service:
    """What the routes share: the checks, the open store, who may ask.

    The folder is its own until it is closed: another one would take the checks that run here for
    those of a server that died.

    Args:
        config: see there.

    Raises:
        InputError: if the folder cannot be made.
        StoreError: if another server uses it, or the checks cannot be kept.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        make_folder(config.folder)
        self._held = ExitStack()
        said = "another server uses this folder"
        self._held.enter_context(exclusive(config.folder / LOCK, config.folder, said))
        self.jobs = Jobs(config.folder / "checks.sqlite")
        self.reviews = Reviews(config.folder / "reviews.sqlite")
        self.keys = Keys(config.folder / "keys.json")
        self.audit = AuditLog(config.folder / "audit.jsonl")
        self.rates = Rates(config.per_minute, max(20.0, config.per_minute / 10))
        task = Task(
            str(self.jobs.path),
            str(config.store),
            config.settings.as_dict(),
            prepare=config.prepare,
        )
        self.supervisor = Supervisor(self.jobs, task)
        self.indexing = Jobs(config.folder / "indexing.sqlite", "job")
        queues = {"check": self.jobs, "index": self.indexing}
        webhooks = Webhooks(queues, config.webhooks, config.webhook_key)
        #: What runs beside the routes.
        self.beside: list[AbstractContextManager[object]] = [self.supervisor, webhooks]
        if config.keep_days is not None:
            self.beside.append(retention(self.jobs, self.reviews, self.audit, config.keep_days))
        if config.folders:
            task = replace(task, jobs=str(self.indexing.path), folders=config.folders)
            self.beside.append(Supervisor(self.indexing, task))
        else:
            # What ran when a server was killed waits for one with folders; it can be cancelled.
            self.indexing.recover()
        self._store: Store | None = None
        self._stamp: tuple[str, tuple[int, int] | None] = "", None
        self._embedder: tuple[EmbedderPrint, Embedder] | None = None
        # One at a time: the embedder is not made for several threads.
        self._lock = threading.Lock()
        # Ids of checks that were given to somebody while they were another's already.
        self._shared: set[str] = set()
        self._giving = threading.Lock()

    def close(self) -> None:
        """Let go of the store and the folder."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None
        self._held.close()

    def opened(self) -> tuple[Store, str]:
        """The store as it is now, and its digest; the caller holds ``_lock``."""
        made = _made(self.config.store)
        if self._store is not None and (self._store.digest(), made) != self._stamp:
            # Chroma's index of this process does not see what another one wrote, and of a store
            # that was rebuilt the files of before are open here.
            self._store.close()
            self._store = None
        if self._store is None:
            self._store = Store.open(self.config.store)
            self._stamp = self._store.digest(), made
        return self._store, self._stamp[0]

    def digest(self) -> str:
        """Of the store as it is now."""
        with self._lock:
            return self.opened()[1]

    def sources(self, caller: Caller) -> list[dict[str, Any]]:
        """What the caller may know of the sources."""
        with self._lock:
            records = self.opened()[0].sources()
        seen = in_scope(records, groups=caller.groups)
        return [
            {
                "source": r.source,
                "prior": r.prior,
                "rule": r.prior_rule,
                "date": r.date or r.modified,
                "passages": r.chunks,
                "superseded_by": r.superseded_by,
            }
            for r in (as_seen(record, seen) for record in records)
            if seen is None or r.source in seen
        ]

    def search(self, wanted: SearchRequest, caller: Caller) -> list[dict[str, Any]]:
        """The passages that a query finds, of those that the caller may see; it is logged."""
        conditions = [Condition.parse(text) for text in wanted.where]
        with self._lock:
            store, _ = self.opened()
            records = store.sources()
            seen = in_scope(records, groups=caller.groups)
            found = retrieve(
                [Atom("query", wanted.query, wanted.query)],
                store,
                self._embedder_of(store),
                k=wanted.k,
                retrieval=wanted.retrieval,  # type: ignore[arg-type]  # checked by its pattern
                scope=in_scope(records, conditions, caller.groups),
            )
        hits = found.contexts
        near = found.context_vectors.astype(float) @ found.atom_vectors[0]
        self.audit.add(caller.name, "search", passages=[c.id for c in hits])
        return [
            context_to_dict(as_seen(c, seen)) | {"similarity": round(value, 6)}
            for c, value in zip(hits, near.tolist(), strict=True)
        ]

    def _embedder_of(self, store: Store) -> Embedder:
        """The model that a store was made with, which is another one after a rebuild."""
        made_with = store.fingerprint.embedder
        if self._embedder is None or self._embedder[0] != made_with:
            loaded = load_model(made_with.id, "embedder")
            made_with.check(loaded, store.place)
            self._embedder = made_with, loaded
            if "torch" in sys.modules:
                import torch

                # A query is short, and threads that wait for each other wait for a check,
                # too, which takes all cores: beside one, p95 was half of that of two.
                torch.set_num_threads(1)
        return self._embedder[1]

    def passage(self, id_: str, caller: Caller) -> dict[str, Any]:
        """A passage; one that the caller may not see is not there."""
        with self._lock:
            store, _ = self.opened()
            try:
                (found,) = store.contexts([id_])
            except StoreError as error:
                raise Problem(404, "no such passage") from error
            seen = in_scope(store.sources(), groups=caller.groups)
        if seen is not None and found.source not in seen:
            raise Problem(404, "no such passage")
        return context_to_dict(as_seen(found, seen))

    def submit(
        self, asked: Mapping[str, Any], caller: Caller, key: str | None = None
    ) -> tuple[Check, bool]:
        """Queue a check, unless the same is there; it is logged.

        Args:
            asked: a ``CheckRequest`` as JSON.
            caller: who asks.
            key: an idempotency key of theirs; None for none.

        Returns:
            The check, and whether it is new.

        Raises:
            Problem: if too many wait, or the key came with another request.
            FactcheckError: if it cannot be checked.
        """
        with self._lock:
            store, _ = self.opened()
            index, embedder = store.state_digest(), store.fingerprint.embedder.id
        work = work_of(asked, replace(self.config.settings, embedder=embedder), caller.groups)
        digest = digest_of(work, index, self.config.store)
        made: list[str] = []

        def log(id_: str) -> None:
            self.audit.add(caller.name, "check.submitted", check=id_, digest=digest)
            made.append(id_)

        with self._giving:
            check = self.jobs.submit(
                caller.name,
                {"body": asked, "groups": caller.groups},
                digest,
                most=self.config.queue,
                most_own=self.config.share,
                key=key,
                first=log,
                among=UNDONE if work.asks_server else SAME,
            )
            if not made and check.state not in ENDED:
                # One that has ended is not withdrawn any more: a server runs for months.
                self._shared = self._shared & self.jobs.undone() | {check.id}
        return check, bool(made)

    def withdraw(self, id_: str, caller: Caller) -> None:
        """Cancel a check that is no longer waited for, unless it was given to somebody else, too.

        Raises:
            Problem: see ``check``.
        """
        with self._giving:
            if id_ not in self._shared:
                self.cancel(id_, caller)

    def cancel(self, id_: str, caller: Caller) -> Check:
        """Cancel a check of the caller's; it is logged. One that has ended stays as it is.

        Raises:
            Problem: see ``check``.
        """
        check = self.check(id_, caller)
        if check.state not in ENDED:
            self.audit.add(caller.name, "check.cancelled", check=check.id)
        return self.jobs.cancel(check.id, emptied(check.request))

    def again(self, id_: str, caller: Caller) -> Check:
        """Queue what a check of the caller's asked for once more, unless nothing has changed.

        Raises:
            Problem: if there is no such check, or it was cancelled, or as ``submit``.
            FactcheckError: as ``submit``.
        """
        check = self.check(id_, caller)
        if check.state == "cancelled":
            raise Problem(409, "the check was cancelled: what it asked for is not kept")
        return self.submit(check.request["body"], caller)[0]

    def report(self, id_: str, ending: str, caller: Caller) -> tuple[str, str]:
        """The report of a check that the caller may read, and its media type; it is logged.

        Args:
            id_: of the check.
            ending: one of ``REPORTS``.
            caller: who asks.

        Raises:
            Problem: if there is none, or no check, or the check is not done.
        """
        if ending not in REPORTS:
            raise Problem(404, f"reports are {', '.join(REPORTS)}")
        check = self.check(id_, caller, others=True)
        result = self.result(check)
        self.audit.add(caller.name, "report.read", check=check.id, form=ending)
        form, media_type = REPORTS[ending]
        # Each of these forms is a text.
        return cast(str, render([result], form, View())), media_type

    def result(self, check: Check) -> dict[str, Any]:
        """The assessment of a check.

        Raises:
            Problem: if the check is not done, or no longer there.
        """
        found = self.jobs.result(check.id)
        if found is None:
            raise Problem(409, f"the check is {check.state}")
        return found

    def results(self, checks: Iterable[Check]) -> Iterator[tuple[Check, dict[str, Any]]]:
        """Checks with their assessments; those that are not done, or no longer there, are not."""
        for check in checks:
            try:
                found = self.result(check)
            except Problem:
                continue
            yield check, found

    def check(self, id_: str, caller: Caller, *, others: bool = False) -> Check:
        """A check of the caller's; another's is not there.

        Args:
            id_: of the check.
            caller: who asks. An admin sees everybody's.
            others: whether a reviewer sees it, too.

        Raises:
            Problem: if it is not there for the caller.
        """
        found = self.jobs.find(id_)
        if not (sees(caller, found) or (others and reviews(caller, found))):
            raise Problem(404, "no such check")
        return found


def _made(store: Path) -> tuple[int, int] | None:
    """Which file says what a store was made with; None where there is none."""
    try:
        found = (store / META).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def sees(caller: Caller, check: Check) -> bool:
    """Whether a check is the caller's, or the caller an admin, and it saw no more than they may."""
    return (check.owner == caller.name or caller.may("admin")) and _covers(caller, check)


def reviews(caller: Caller, check: Check) -> bool:
    """Whether the caller is a reviewer who may see all that a check could see."""
    return caller.may("review") and _covers(caller, check)


def _covers(caller: Caller, check: Check) -> bool:
    """Whether a caller may see all that a check could see."""
    groups = check.request["groups"]
    return caller.groups is None or (groups is not None and set(groups) <= set(caller.groups))


def admit(service: Service, scope: MutableMapping[str, Any]) -> None:
    """Find out who asks, by the key of a request; counted against their rate.

    One without groups of their own sees what the server's setting ``as_groups`` allows.

    Args:
        service: of the server.
        scope: of the request; ``caller_of`` looks there.

    Raises:
        Problem: without a key where one is needed, or after too many requests.
        StoreError: if the keys cannot be read.
    """
    request, caller = Request(scope), LOCAL
    if service.config.needs_key:
        kind, _, text = request.headers.get("authorization", "").partition(" ")
        found = service.keys.caller(text.strip()) if kind.lower() == "bearer" else None
        address = request.client.host if request.client else ""
        if found is None:
            # Counted, too: guessing is not to be quick.
            _within_rate(service, f"address {address}")
            raise Problem(401, "a key is needed", {"WWW-Authenticate": "Bearer"})
        caller = found
    _within_rate(service, caller.name)
    if caller.groups is None:
        caller = replace(caller, groups=service.config.settings.as_groups)
    scope[_CALLER] = caller


def caller_of(request: Request) -> Caller:
    """Who asks, as ``admit`` found."""
    found: Caller = request.scope[_CALLER]
    return found


def need(caller: Caller, *scopes: str) -> None:
    """Refuse a caller who may do nothing of what needs one of some scopes.

    Raises:
        Problem: then.
    """
    if not any(map(caller.may, scopes)):
        raise Problem(403, f"this key is not for {' or '.join(scopes)}")


def caller_for(*scopes: str) -> Callable[[Request], Caller]:
    """A dependency: who asks, if they may do what needs one of some scopes."""

    def find(request: Request) -> Caller:
        caller = caller_of(request)
        need(caller, *scopes)
        return caller

    return find


def _within_rate(service: Service, name: str) -> None:
    seconds = service.rates.wait(name)
    if seconds:
        raise Problem(429, "too many requests", {"Retry-After": str(int(seconds) + 1)})
