"""Routes of checks: asking, watching, reading, cancelling."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Query, Response
from fastapi.responses import StreamingResponse

from factcheck_local.report.render import View, render
from factcheck_local.serve.access import Caller
from factcheck_local.serve.check import ENDED, Check, KeyReused, QueueFull, State
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.problems import Problem
from factcheck_local.serve.requests import CheckRequest, digest_of, work_of
from factcheck_local.serve.service import Service, caller_for

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


Checking = Annotated[Caller, Depends(caller_for("check"))]
Reading = Annotated[Caller, Depends(caller_for("check", "review"))]


def add_checks(app: FastAPI, service: Service) -> None:
    """Add the routes."""
    jobs = service.jobs

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
            digest = digest_of(work, service.digest(), service.config.store)
            request = {"body": asked, "groups": caller.groups}

            def log(id_: str) -> None:
                service.audit.add(caller.name, "check.submitted", check=id_, digest=digest)

            try:
                return jobs.submit(
                    caller.name,
                    request,
                    digest,
                    most=service.config.queue,
                    key=idempotency_key,
                    first=log,
                )
            except KeyReused as error:
                raise Problem(409, str(error)) from error
            except QueueFull as error:
                raise Problem(429, str(error), {"Retry-After": "30"}) from error

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
    def show(check_id: str, caller: Reading) -> dict[str, Any]:
        """A check, with its assessment once it is done."""
        check = service.check(check_id, caller, others=True)
        return shown(check) | {"result": jobs.result(check.id)}

    @app.delete("/v1/checks/{check_id}")
    def cancel(check_id: str, caller: Checking) -> dict[str, Any]:
        """Cancel a check; one that runs ends before its next pair."""
        check = service.check(check_id, caller)
        if check.state not in ENDED:
            service.audit.add(caller.name, "check.cancelled", check=check.id)
        return shown(jobs.cancel(check.id))

    @app.get("/v1/checks/{check_id}/report.{ending}")
    def report(check_id: str, ending: str, caller: Reading) -> Response:
        """The report of a check: html, md, json, sarif, or xml for JUnit."""
        if ending not in REPORTS:
            raise Problem(404, f"reports are {', '.join(REPORTS)}")
        check = service.check(check_id, caller, others=True)
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
        await asyncio.to_thread(service.check, check_id, caller)
        return stream(jobs, check_id, last_event_id)


def stream(jobs: Jobs, id_: str, last: int) -> StreamingResponse:
    """What was and is told of a check behind an event's number, until it has ended."""
    return StreamingResponse(
        _events(jobs, id_, last),
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
