"""Checks that are deleted some time after they have ended, with all that is kept of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from factcheck_local.core.errors import StoreError
from factcheck_local.serve.audit import AuditLog, verified
from factcheck_local.serve.check import Check, Problem, State
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.retention import DAY, delete_old
from factcheck_local.serve.reviews import Reviews
from factcheck_local.serve.routes_checks import stream

from .conftest import asked, service_of, work
from .test_app import BOARD, LEAVE
from .test_jobs import claim, submit

Serve = Callable[..., TestClient]


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path / "checks.sqlite")


@pytest.fixture
def reviews(tmp_path: Path) -> Reviews:
    return Reviews(tmp_path / "reviews.sqlite")


def done(jobs: Jobs, reviews: Reviews, digest: str, *, days_ago: float) -> str:
    """A check that was done so long ago, with a review."""
    id_ = submit(jobs, digest, key=digest)
    assert jobs.finish(claim(jobs), {"summary": 1})
    with jobs.writing() as db:
        ended = time.time() - days_ago * DAY
        db.execute("UPDATE checks SET finished = ? WHERE id = ?", (ended, id_))
    reviews.add(id_, "a", "ann", "supported", "as it says")
    return id_


def test_what_ended_long_ago_goes_with_all_that_is_kept_of_it(
    jobs: Jobs, reviews: Reviews, tmp_path: Path
) -> None:
    log = tmp_path / "audit.jsonl"
    old = done(jobs, reviews, "an old secret", days_ago=31)
    young = done(jobs, reviews, "young", days_ago=29)
    waits = submit(jobs, "waits")
    delete_old(jobs, reviews, AuditLog(log), 30)
    with pytest.raises(Problem, match="no such check"):
        jobs.find(old)
    assert (jobs.events(old), reviews.all(old)) == ([], [])
    assert [jobs.find(id_).state for id_ in (young, waits)] == ["done", "queued"]
    assert len(reviews.all(young)) == 1
    assert [(line["what"], line["about"]) for line in verified(log)] == [
        ("check.deleted", {"check": old})
    ]
    # Its key is free again, and nothing of the text is left in the file.
    assert submit(jobs, "another", key="an old secret") != old
    with jobs.connected() as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b'"an old secret"}' not in jobs.path.read_bytes()


def test_what_cannot_be_logged_is_not_deleted(jobs: Jobs, reviews: Reviews, tmp_path: Path) -> None:
    old = done(jobs, reviews, "old", days_ago=2)
    with pytest.raises(StoreError):
        delete_old(jobs, reviews, AuditLog(tmp_path / "nowhere" / "audit.jsonl"), 1)
    assert jobs.find(old).state == "done"


def two_done(client: TestClient) -> list[str]:
    """Ids of two checks that are done, the earlier one first."""
    made = [client.post("/v1/checks", json=asked(claim)).json()["id"] for claim in (LEAVE, BOARD)]
    work(client)
    return made


@pytest.mark.parametrize("path", ["/v1/reviews", "/v1/reviews.jsonl", "/v1/conflicts"])
def test_a_list_leaves_out_what_is_deleted_while_it_is_made(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    client = serve()
    service = service_of(client)
    gone, kept = two_done(client)
    for id_ in (gone, kept):
        service.reviews.add(id_, "a0", "ann", "supported", "")
    latest = service.jobs.latest

    def meanwhile(*asked: object, **more: object) -> list[Check]:
        found = latest(*asked, **more)  # type: ignore[arg-type]
        service.jobs.delete(gone)
        return found

    monkeypatch.setattr(service.jobs, "latest", meanwhile)
    answered = client.get(path)
    assert answered.status_code == 200
    assert gone not in answered.text
    assert (kept in answered.text) == ("reviews" in path), "no sources are in conflict"


@pytest.mark.parametrize("path", ["", "/report.md", "/reviews", "/changes?since={id}"])
def test_a_check_that_is_deleted_while_it_is_read_is_not_there(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    client = serve()
    jobs = service_of(client).jobs
    gone, _ = two_done(client)
    find = jobs.find

    def meanwhile(id_: str) -> Check:
        found = find(id_)
        jobs.delete(gone)
        return found

    monkeypatch.setattr(jobs, "find", meanwhile)
    answered = client.get(f"/v1/checks/{gone}{path.format(id=gone)}")
    assert (answered.status_code, answered.json()["detail"]) == (404, "no such check")


def test_a_check_that_is_deleted_while_it_is_waited_for_is_not_there(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve()
    jobs = service_of(client).jobs
    gone, _ = two_done(client)
    state = jobs.state

    def meanwhile(id_: str) -> State:
        jobs.delete(id_)
        return state(id_)

    async def told() -> list[object]:
        return [part async for part in stream(jobs, gone, 0).body_iterator]

    monkeypatch.setattr(jobs, "state", meanwhile)
    answered = client.post("/v1/checks?wait=5", json=asked("The car park opens at nine."))
    assert (answered.status_code, answered.json()["detail"]) == (404, "no such check")
    assert asyncio.run(told()) == [], "a stream ends"


def test_a_server_that_is_told_so_deletes_as_it_starts(serve: Serve) -> None:
    service = service_of(serve())
    usual = len(service.beside)
    done(service.jobs, service.reviews, "old", days_ago=8)
    service = service_of(serve(keep_days=7.0))
    assert service.jobs.counts() == {"done": 1}
    (deleting,) = service.beside[usual:]
    with deleting:
        patience = time.monotonic() + 10
        while service.jobs.counts() and time.monotonic() < patience:
            time.sleep(0.05)
    assert service.jobs.counts() == {}
