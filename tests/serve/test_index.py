"""Indexing as a job: named folders alone, what it tells, and what a kill does to it."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from factcheck_local import Store
from factcheck_local.serve.audit import verified
from factcheck_local.serve.indexing import index_next
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.service import Config
from factcheck_local.serve.supervisor import Supervisor
from factcheck_local.serve.worker import Task

from .conftest import service_of
from .test_server import until

pytestmark = pytest.mark.long

Serve = Callable[..., TestClient]


@pytest.fixture
def docs(config: Config) -> Path:
    return config.store.parent / "docs"


def index(client: TestClient) -> None:
    """Do what waits, in this process."""
    service = service_of(client)
    while index_next(service.indexing, service.config.store, service.config.folders):
        pass


def test_a_named_folder_is_indexed_and_found(serve: Serve, docs: Path) -> None:
    client = serve(folders={"house": str(docs)})
    (docs / "bikes.md").write_text("# Bikes\n\nBicycles stand behind the canteen.\n")
    (docs / "odd.pdf").write_bytes(b"no PDF")
    assert client.post("/v1/index", json={"folder": "/etc"}).status_code == 404
    asked = client.post("/v1/index", json={"folder": "house"}, headers={"Idempotency-Key": "k"})
    assert asked.status_code == 202
    place = asked.headers["location"]
    assert client.post("/v1/index", json={"folder": "house"}).json()["id"] == asked.json()["id"]
    index(client)
    job = client.get(place).json()
    assert (job["state"], job["folder"], job["owner"]) == ("done", "house", "local")
    assert (job["result"]["indexed"], job["result"]["unchanged"]) == (1, 3)
    assert [entry["source"] for entry in job["result"]["failed"]] == ["odd.pdf"]
    assert job["result"]["digest"] == service_of(client).digest()
    found = client.post("/v1/search", json={"query": "where are bicycles", "k": 1}).json()
    assert "behind the canteen" in found["passages"][0]["text"]
    told = client.get(f"{place}/events").text
    assert "event: index" in told
    assert json.dumps({"files": 5, "all_files": 5})[1:-1] in told
    assert "bikes" not in told
    # One that has ended stands for no other; the same key does.
    again = client.post("/v1/index", json={"folder": "house"}).json()
    assert again["id"] != job["id"]
    same = client.post("/v1/index", json={"folder": "house"}, headers={"Idempotency-Key": "k"})
    assert same.json()["id"] == job["id"]
    assert client.delete(f"/v1/index/{again['id']}").json()["state"] == "cancelled"
    index(client)
    listed = client.get("/v1/index").json()
    assert listed["folders"] == ["house"]
    assert [row["state"] for row in listed["jobs"]] == ["cancelled", "done"]
    audit = list(verified(service_of(client).config.folder / "audit.jsonl"))
    logged = [entry["what"] for entry in audit if entry["what"].startswith("index")]
    assert logged == ["index.submitted", "index.submitted", "index.cancelled"]


def test_one_that_is_cancelled_amid_it_goes_no_further(serve: Serve, docs: Path) -> None:
    client = serve(folders={"house": str(docs)})
    for n in range(4):
        (docs / f"more{n}.md").write_text(f"# More\n\nThere are {n} of them.\n")
    job = client.post("/v1/index", json={"folder": "house"}).json()
    service = service_of(client)

    class Cancelling(Jobs):
        """One whose second event finds that it was cancelled."""

        def tell(self, *told: object) -> bool:
            self.cancel(job["id"])
            return super().tell(*told)  # type: ignore[arg-type]

    index_next(Cancelling(service.indexing.path), service.config.store, {"house": str(docs)})
    assert client.get(f"/v1/index/{job['id']}").json()["state"] == "cancelled"
    with Store.open(service.config.store) as store:
        assert store.count() == 3
    assert client.post("/v1/index", json={"folder": "house"}).json()["id"] != job["id"]
    index(client)
    with Store.open(service.config.store) as store:
        assert store.count() == 7


def test_a_folder_that_is_gone_is_a_failure(serve: Serve, docs: Path) -> None:
    client = serve(folders={"house": str(docs / "nowhere")})
    place = client.post("/v1/index", json={"folder": "house"}).headers["location"]
    index(client)
    job = client.get(place).json()
    assert job["state"] == "failed"
    assert "nowhere" in job["problem"]
    missing = client.get("/v1/index/none")
    assert (missing.status_code, missing.json()["detail"]) == (404, "no such job")
    assert client.get("/v1/index/none/events").status_code == 404


def test_one_that_ran_when_the_server_was_killed_waits_for_one_with_folders(
    serve: Serve, docs: Path
) -> None:
    client = serve(folders={"house": str(docs)})
    place = client.post("/v1/index", json={"folder": "house"}).headers["location"]
    assert service_of(client).indexing.claim() is not None
    client = serve()
    assert client.get(place).json()["state"] == "queued"
    assert client.delete(place).json()["state"] == "cancelled"


def test_who_sees_a_part_of_the_sources_gets_counts(serve: Serve, docs: Path) -> None:
    client = serve(folders={"house": str(docs)}, needs_key=True)
    keys = service_of(client).keys

    def holder(name: str, *scopes: str, groups: tuple[str, ...] | None = None) -> dict[str, str]:
        return {"Authorization": f"Bearer {keys.add(name, scopes, groups)}"}

    bob = holder("bob", "index", groups=("x",))
    (docs / "board.pdf").write_bytes(b"no PDF")
    place = client.post("/v1/index", json={"folder": "house"}, headers=bob).headers["location"]
    index(client)
    assert client.get(place, headers=bob).json()["result"]["failed"] == 1
    shown = client.get(place, headers=holder("cid", "admin")).json()["result"]["failed"]
    assert [entry["source"] for entry in shown] == ["board.pdf"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_one_that_is_killed_amid_it_goes_on(config: Config, tmp_path: Path, docs: Path) -> None:
    for n in range(40):
        (docs / f"many{n}.md").write_text(f"# Many\n\nThe room with number {n} is free.\n")
    jobs = Jobs(tmp_path / "indexing.sqlite")
    job = jobs.submit("ann", {"folder": "house"}, "house", most=9)
    task = Task(str(jobs.path), str(config.store), {}, {"house": str(docs)})
    with Supervisor(jobs, task) as supervisor:
        until(lambda: any(event.data.get("files", 0) >= 5 for event in jobs.events(job.id)))
        assert supervisor.pid is not None
        os.kill(supervisor.pid, signal.SIGKILL)
        until(lambda: jobs.find(job.id).state == "done")
    assert jobs.find(job.id).attempts == 2
    result = jobs.result(job.id)
    assert result is not None
    assert result["passages"] == 43
    with Store.open(config.store) as store:
        assert store.faults() == ()
        assert all(record.complete for record in store.sources())
