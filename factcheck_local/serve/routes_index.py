"""Routes of indexing: which folders there are, bringing the store up to date with one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from factcheck_local.serve.access import Caller
from factcheck_local.serve.check import ENDED, Check, Problem
from factcheck_local.serve.indexing import LISTED
from factcheck_local.serve.routes_checks import stream
from factcheck_local.serve.service import Service, caller_for

Indexing = Annotated[Caller, Depends(caller_for("index"))]


class IndexRequest(BaseModel):
    """A folder that the server was started with."""

    model_config = ConfigDict(extra="forbid")

    folder: str = Field(max_length=200, description="One of `GET /v1/index`.")


def add_index(app: FastAPI, service: Service) -> None:
    """Add the routes."""
    jobs, folders = service.indexing, service.config.folders

    def shown(job: Check, caller: Caller) -> dict[str, Any]:
        value: dict[str, Any] = {
            "id": job.id,
            "state": job.state,
            "folder": job.request["folder"],
            "owner": job.owner,
            "created": job.created,
            "started": job.started,
            "finished": job.finished,
            "problem": job.problem,
            "result": jobs.result(job.id),
        }
        if value["result"] is not None and caller.groups is not None:
            # Names of sources are not for everybody.
            value["result"] |= {part: len(value["result"][part]) for part in LISTED}
        return value

    @app.get("/v1/index")
    def list_jobs(caller: Indexing) -> dict[str, Any]:
        """The folders that may be indexed, and what was asked for, the latest first."""
        return {
            "folders": sorted(folders),
            "jobs": [shown(job, caller) for job in jobs.latest(None)],
        }

    @app.post("/v1/index", status_code=202)
    def submit(
        body: IndexRequest,
        caller: Indexing,
        response: Response,
        idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
    ) -> dict[str, Any]:
        """Bring the store up to date with a folder; one that waits to begin stands for this."""
        if body.folder not in folders:
            raise Problem(404, "no such folder; GET /v1/index names them")

        def log(id_: str) -> None:
            service.audit.add(caller.name, "index.submitted", job=id_, folder=body.folder)

        job = jobs.submit(
            caller.name,
            body.model_dump(),
            body.folder,
            most=service.config.queue,
            key=idempotency_key,
            first=log,
            # One that has begun may be past what changed since.
            among=("queued",),
        )
        response.headers["Location"] = f"/v1/index/{job.id}"
        return shown(job, caller)

    @app.get("/v1/index/{job_id}")
    def show(job_id: str, caller: Indexing) -> dict[str, Any]:
        """A job, with what was indexed once it is done."""
        return shown(jobs.find(job_id), caller)

    @app.delete("/v1/index/{job_id}")
    def cancel(job_id: str, caller: Indexing) -> dict[str, Any]:
        """Cancel a job; one that runs ends before its next file or batch of passages."""
        if jobs.find(job_id).state not in ENDED:
            service.audit.add(caller.name, "index.cancelled", job=job_id)
        return shown(jobs.cancel(job_id), caller)

    @app.get("/v1/index/{job_id}/events")
    def events(
        job_id: str,
        caller: Indexing,  # noqa: ARG001
        last_event_id: Annotated[int, Header(ge=0, le=2**62)] = 0,
    ) -> StreamingResponse:
        """How far a job is, as server-sent events; ``Last-Event-ID`` goes on behind one."""
        return stream(jobs, jobs.find(job_id).id, last_event_id)
