"""Routes of checks: asking, watching, reading, cancelling."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Query, Response
from fastapi.responses import StreamingResponse

from factcheck_local.report.diff import compare, diff_to_dict
from factcheck_local.serve.access import Caller
from factcheck_local.serve.check import ENDED, Check, Problem, State
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.requests import CheckRequest, answer_in
from factcheck_local.serve.service import Service, caller_for, sees

#: A report brings what it needs, and nothing in it may reach anything.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

#: Characters of an answer that a list shows, and checks that are looked through for conflicts.
SHOWN, LOOKED_AT = 160, 200

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
        body = check.request["body"]
        said = answer_in(body)
        value: dict[str, Any] = {
            "id": check.id,
            "state": check.state,
            "name": body["name"],
            "question": body["question"],
            "begins": said[:SHOWN],
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
        check, _ = await asyncio.to_thread(
            service.submit, body.model_dump(), caller, idempotency_key
        )
        response.headers["Location"] = f"/v1/checks/{check.id}"
        check = await wait_for(jobs, check, wait)
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
        q: Annotated[str | None, Query(max_length=200, description="A text in them.")] = None,
    ) -> dict[str, Any]:
        """The caller's checks, the latest first; of an admin everybody's."""
        found = jobs.latest(whose(caller), state=state, before=before, text=q, limit=limit)
        own = [check for check in found if sees(caller, check)]
        verdicts = jobs.verdicts([check.id for check in own])
        return {
            "checks": [shown(c) | {"verdicts": verdicts.get(c.id)} for c in own],
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
        return shown(service.cancel(check_id, caller))

    @app.post("/v1/checks/{check_id}/again", status_code=202)
    def again(check_id: str, caller: Checking) -> dict[str, Any]:
        """Check the same with the index as it is now; if nothing changed, it is the same check."""
        return shown(service.again(check_id, caller))

    @app.get("/v1/checks/{check_id}/changes")
    def changes(check_id: str, since: str, caller: Reading) -> dict[str, Any]:
        """What a check says otherwise than an earlier one, ``since``, and why."""
        both = [service.check(id_, caller, others=True) for id_ in (since, check_id)]
        return diff_to_dict(compare(*map(service.result, both)))

    @app.get("/v1/conflicts")
    def conflicts(caller: Checking) -> dict[str, Any]:
        """Claims of the caller's latest checks on which sources differ, with these sources."""
        latest = jobs.latest(whose(caller), state="done", limit=LOOKED_AT)
        own = [check for check in latest if sees(caller, check)]
        read = service.results(own)
        return {"claims": [row for check, found in read for row in conflicts_of(check.id, found)]}

    @app.get("/v1/checks/{check_id}/report.{ending}")
    def report(check_id: str, ending: str, caller: Reading) -> Response:
        """The report of a check: html, md, json, sarif, or xml for JUnit."""
        text, media_type = service.report(check_id, ending, caller)
        return Response(
            text,
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


def whose(caller: Caller) -> str | None:
    """Among whose checks a caller's are, see ``sees``: their own; None for everybody's."""
    return None if caller.may("admin") else caller.name


def conflicts_of(check_id: str, result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The claims that some passages support and others contradict, with the sources of both."""
    source = {context["id"]: context["source"] for context in result["contexts"]}
    for atom in result["atoms"]:
        sides: dict[str, list[str]] = {"entailment": [], "contradiction": []}
        for row in atom["evidence"]:
            sides[row["relation"]].append(source[row["context"]])
        if all(sides.values()):
            yield {
                "check": check_id,
                "claim": atom["id"],
                "text": atom["text"],
                "verdict": atom["verdict"],
                "support": sorted(set(sides["entailment"])),
                "contradict": sorted(set(sides["contradiction"])),
            }


async def wait_for(jobs: Jobs, check: Check, seconds: float) -> Check:
    """The check as it is once it has ended, or after so many seconds.

    Raises:
        Problem: if it was deleted meanwhile.
    """
    if check.state in ENDED or seconds <= 0:
        return check
    while seconds > 0 and await asyncio.to_thread(jobs.state, check.id) not in ENDED:
        await asyncio.sleep(min(LOOK, seconds))
        seconds -= LOOK
    return await asyncio.to_thread(jobs.find, check.id)


async def _events(jobs: Jobs, check_id: str, last: int) -> AsyncIterator[str]:
    silent = 0.0
    while True:
        try:
            ended = await asyncio.to_thread(jobs.state, check_id) in ENDED
        except Problem:
            return  # it was deleted meanwhile
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
