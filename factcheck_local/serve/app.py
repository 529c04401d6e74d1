"""The routes of the server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException

from factcheck_local import __version__
from factcheck_local.core.errors import FactcheckError, StoreError
from factcheck_local.indexer.scope import Condition, in_scope
from factcheck_local.indexer.store import Store
from factcheck_local.models.contracts import Embedder
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.retrieval.search import search
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report.render import View, render
from factcheck_local.report.schema import context_to_dict
from factcheck_local.serve import problems
from factcheck_local.serve.access import LOCAL, Caller, Keys, make_folder
from factcheck_local.serve.audit import AuditLog
from factcheck_local.serve.gate import Gate, Rates
from factcheck_local.serve.jobs import ENDED, Check, Jobs, KeyReused, QueueFull, State
from factcheck_local.serve.measures import Measures
from factcheck_local.serve.problems import Problem
from factcheck_local.serve.requests import CheckRequest, SearchRequest, digest_of, work_of
from factcheck_local.serve.supervisor import Supervisor
from factcheck_local.serve.worker import Task

#: Endings of a report -> its format and media type.
REPORTS = {
    "html": ("html", "text/html"),
    "md": ("markdown", "text/markdown"),
    "json": ("json", "application/json"),
    "sarif": ("sarif", "application/sarif+json"),
    "xml": ("junit", "application/xml"),
}

#: A report brings what it needs, and nothing in it may reach anything.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

#: Seconds between looks for events, and until a silent stream says that it is alive.
LOOK, ALIVE = 0.25, 15.0

#: Seconds that a request may wait for its check.
LONGEST_WAIT = 120.0


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
    """

    store: Path
    folder: Path
    settings: Settings = field(default_factory=Settings)
    needs_key: bool = False
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"})
    queue: int = 100
    most_bytes: int = 2 * 2**20
    per_minute: float = 600.0


class Service:
    """What the routes share: the checks, the open store, who may ask.

    Args:
        config: see there.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        make_folder(config.folder)
        self.jobs = Jobs(config.folder / "checks.sqlite")
        self.keys = Keys(config.folder / "keys.json")
        self.audit = AuditLog(config.folder / "audit.jsonl")
        self.rates = Rates(config.per_minute, max(20.0, config.per_minute / 10))
        self.measures = Measures()
        task = Task(str(self.jobs.path), str(config.store), config.settings.as_dict())
        self.supervisor = Supervisor(self.jobs, task)
        self._store: Store | None = None
        self._stamp = ""
        self._embedder: Embedder | None = None
        # One at a time: the embedder is not made for several threads.
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of the store."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    def opened(self) -> tuple[Store, str]:
        """The store as it is now, and its digest; the caller holds ``_lock``."""
        if self._store is not None and self._store.digest() != self._stamp:
            # Chroma's index of this process does not see what another one wrote.
            self._store.close()
            self._store = None
        if self._store is None:
            self._store = Store.open(self.config.store)
            self._stamp = self._store.digest()
        return self._store, self._stamp

    def digest(self) -> str:
        """Of the store as it is now."""
        with self._lock:
            return self.opened()[1]

    def sources(self, caller: Caller) -> list[dict[str, Any]]:
        """What the caller may know of the sources."""
        with self._lock:
            records = self.opened()[0].sources()
        scope = in_scope(records, groups=caller.groups)

        def visible(source: str | None) -> bool:
            return scope is None or source in scope

        return [
            {
                "source": r.source,
                "prior": r.prior,
                "rule": r.prior_rule,
                "date": r.date or r.modified,
                "passages": r.chunks,
                "superseded_by": r.superseded_by if visible(r.superseded_by) else None,
            }
            for r in records
            if visible(r.source)
        ]

    def search(self, wanted: SearchRequest, caller: Caller) -> list[dict[str, Any]]:
        """The passages that a query finds, of those that the caller may see."""
        conditions = [Condition.parse(text) for text in wanted.where]
        with self._lock:
            store, _ = self.opened()
            if self._embedder is None:
                self._embedder = load_model(store.fingerprint.embedder.id, "embedder")
            vectors = self._embedder.embed([wanted.query])
            scope = in_scope(store.sources(), conditions, caller.groups)
            (hits,) = search(
                [wanted.query],
                vectors,
                store,
                wanted.k,
                wanted.retrieval,  # type: ignore[arg-type]  # checked by its pattern
                scope,
            )
            near = store.embeddings([c.id for c in hits]).astype(float) @ vectors[0]
        return [
            context_to_dict(c) | {"similarity": round(value, 6)}
            for c, value in zip(hits, near.tolist(), strict=True)
        ]

    def passage(self, id_: str, caller: Caller) -> dict[str, Any]:
        """A passage; one that the caller may not see is not there."""
        with self._lock:
            store, _ = self.opened()
            try:
                (found,) = store.contexts([id_])
            except StoreError as error:
                raise Problem(404, "no such passage") from error
            scope = in_scope(store.sources(), groups=caller.groups)
        if scope is not None and found.source not in scope:
            raise Problem(404, "no such passage")
        return context_to_dict(found)


def create_app(config: Config, *, worker: bool = True) -> FastAPI:
    """The server as an ASGI application.

    Args:
        config: see there.
        worker: whether it starts the process with the models.

    Raises:
        StoreError: if there is no store, or the checks cannot be kept.
    """
    service = Service(config)
    service.digest()

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        with ExitStack() as stack:
            stack.callback(service.close)
            if worker:
                stack.enter_context(service.supervisor)
            yield

    app = FastAPI(
        title="factcheck-local",
        version=__version__,
        lifespan=lifespan,
        # Its pages would load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    app.add_middleware(Gate, hosts=config.hosts, most=config.most_bytes)
    app.exception_handler(Problem)(problems.of_problem)
    app.exception_handler(HTTPException)(problems.of_http)
    app.exception_handler(RequestValidationError)(problems.of_validation)
    app.exception_handler(FactcheckError)(problems.of_known)
    _add_checks(app, service)
    _add_corpus(app, service)
    _add_operations(app, service)
    return app


def _caller(scope: str) -> Callable[[Request], Caller]:
    """A dependency: who asks, if they may do what needs a scope."""

    def find(request: Request) -> Caller:
        service: Service = request.app.state.service
        caller = LOCAL
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
        if not caller.may(scope):
            raise Problem(403, f"this key is not for {scope}")
        return caller

    return find


def _within_rate(service: Service, name: str) -> None:
    seconds = service.rates.wait(name)
    if seconds:
        raise Problem(429, "too many requests", {"Retry-After": str(int(seconds) + 1)})


Checking = Annotated[Caller, Depends(_caller("check"))]
Searching = Annotated[Caller, Depends(_caller("search"))]


def _add_checks(app: FastAPI, service: Service) -> None:
    jobs = service.jobs

    def own(id_: str, caller: Caller) -> Check:
        """A check of the caller's; another's is not there."""
        try:
            found = jobs.find(id_)
        except KeyError as error:
            raise Problem(404, "no such check") from error
        if found.owner != caller.name and not caller.may("admin"):
            raise Problem(404, "no such check")
        return found

    def shown(check: Check) -> dict[str, Any]:
        value: dict[str, Any] = {
            "id": check.id,
            "state": check.state,
            "name": check.request["body"]["name"],
            "owner": check.owner,
            "created": check.created,
            "started": check.started,
            "finished": check.finished,
        }
        if check.state == "queued":
            value["ahead"] = jobs.ahead(check)
        if check.problem is not None:
            value["problem"] = check.problem
        return value

    @app.post("/v1/checks", status_code=202)
    async def submit(
        body: CheckRequest,
        caller: Checking,
        response: Response,
        wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Seconds.")] = 0.0,
        idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
    ) -> dict[str, Any]:
        """Queue a check; 200 with its assessment if that is there within ``wait`` seconds."""
        asked = body.model_dump()

        def queue() -> Check:
            work = work_of(asked, service.config.settings, caller.groups)
            digest = digest_of(work, service.digest())
            request = {"body": asked, "groups": caller.groups}
            try:
                check, new = jobs.submit(
                    caller.name,
                    request,
                    digest,
                    most=service.config.queue,
                    key=idempotency_key,
                )
            except KeyReused as error:
                raise Problem(409, str(error)) from error
            except QueueFull as error:
                raise Problem(429, str(error), {"Retry-After": "30"}) from error
            if new:
                service.audit.add(caller.name, "check.submitted", check=check.id, digest=digest)
            return check

        check = await asyncio.to_thread(queue)
        response.headers["Location"] = f"/v1/checks/{check.id}"
        seconds = wait
        while check.state not in ENDED and seconds > 0:
            await asyncio.sleep(min(LOOK, seconds))
            seconds -= LOOK
            check = await asyncio.to_thread(jobs.find, check.id)
        if check.state not in ENDED:
            return shown(check)
        response.status_code = 200
        return await asyncio.to_thread(lambda: shown(check) | {"result": jobs.result(check.id)})

    @app.get("/v1/checks")
    def list_checks(
        caller: Checking,
        state: State | None = None,
        before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> dict[str, Any]:
        """The caller's checks, the latest first; of an admin everybody's."""
        owner = None if caller.may("admin") else caller.name
        found = jobs.latest(owner, state=state, before=before, limit=limit)
        return {
            "checks": [shown(check) for check in found],
            "before": found[-1].number if len(found) == limit else None,
        }

    @app.get("/v1/checks/{check_id}")
    def show(check_id: str, caller: Checking) -> dict[str, Any]:
        """A check, with its assessment once it is done."""
        check = own(check_id, caller)
        return shown(check) | {"result": jobs.result(check.id)}

    @app.delete("/v1/checks/{check_id}")
    def cancel(check_id: str, caller: Checking) -> dict[str, Any]:
        """Cancel a check; one that runs ends before its next pair."""
        check = own(check_id, caller)
        if check.state not in ENDED:
            service.audit.add(caller.name, "check.cancelled", check=check.id)
        return shown(jobs.cancel(check.id))

    @app.get("/v1/checks/{check_id}/report.{ending}")
    def report(check_id: str, ending: str, caller: Checking) -> Response:
        """The report of a check: html, md, json, sarif, or xml for JUnit."""
        if ending not in REPORTS:
            raise Problem(404, f"reports are {', '.join(REPORTS)}")
        check = own(check_id, caller)
        result = jobs.result(check.id)
        if result is None:
            raise Problem(409, f"the check is {check.state}")
        service.audit.add(caller.name, "report.read", check=check.id, form=ending)
        form, media_type = REPORTS[ending]
        return Response(
            render([result], form, View()),
            media_type=media_type,
            headers={"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-store"},
        )

    @app.get("/v1/checks/{check_id}/events")
    async def events(
        check_id: str,
        caller: Checking,
        last_event_id: Annotated[int, Header(ge=0, le=2**62)] = 0,
    ) -> StreamingResponse:
        """What happens to a check, as server-sent events; ``Last-Event-ID`` goes on behind one."""
        await asyncio.to_thread(own, check_id, caller)
        return StreamingResponse(
            _events(jobs, check_id, last_event_id),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )


async def _events(jobs: Jobs, check_id: str, last: int) -> AsyncIterator[str]:
    silent = 0.0
    while True:
        ended = (await asyncio.to_thread(jobs.find, check_id)).state in ENDED
        for event in await asyncio.to_thread(jobs.events, check_id, last):
            last, silent = event.number, 0.0
            yield f"id: {last}\nevent: {event.name}\ndata: {json.dumps(event.data)}\n\n"
        if ended:
            return
        if silent >= ALIVE:
            silent = 0.0
            yield ":\n\n"
        await asyncio.sleep(LOOK)
        silent += LOOK


def _add_corpus(app: FastAPI, service: Service) -> None:
    @app.post("/v1/search")
    def find(body: SearchRequest, caller: Searching) -> dict[str, Any]:
        """The passages that a query finds, each with its place, prior and similarity."""
        found = service.search(body, caller)
        service.audit.add(caller.name, "search", passages=[row["id"] for row in found])
        return {"passages": found}

    @app.get("/v1/sources")
    def sources(caller: Searching) -> dict[str, Any]:
        """The sources with their priors, and the rule that each is from."""
        return {"sources": service.sources(caller)}

    @app.get("/v1/passages/{passage_id}")
    def passage(passage_id: str, caller: Searching) -> dict[str, Any]:
        """A passage with its place and prior."""
        return service.passage(passage_id, caller)


def _add_operations(app: FastAPI, service: Service) -> None:
    @app.get("/healthz")
    def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"status": "ok"}

    @app.get("/readyz")
    def ready() -> JSONResponse:
        """Whether checks are done: store and the process with the models are there."""
        try:
            service.digest()
        except FactcheckError as error:
            return problems.reply(503, str(error))
        if service.supervisor.pid is None:
            return problems.reply(503, "the process with the models is being started")
        return JSONResponse({"status": "ready"})

    @app.get("/metrics", dependencies=[Depends(_caller("admin"))])
    def metrics() -> Response:
        """Counts of checks by state, and of the worker's ends, for Prometheus."""
        text, media_type = service.measures.text(service.jobs.counts(), service.supervisor.ended)
        return Response(text, media_type=media_type)
