"""The server as a user starts it: its own process, the one with the models, and what dies when."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from factcheck_local.cli import cli
from factcheck_local.core.errors import FactcheckError, StoreError
from factcheck_local.serve import supervisor as supervisor_module
from factcheck_local.serve.audit import verified
from factcheck_local.serve.check import ENDED
from factcheck_local.serve.connections import ImpatientProtocol
from factcheck_local.serve.jobs import ATTEMPTS, Jobs
from factcheck_local.serve.service import Config
from factcheck_local.serve.supervisor import Supervisor
from factcheck_local.serve.worker import Task
from tests.cli.helpers import factcheck

from .conftest import asked

pytestmark = pytest.mark.long

PATIENCE = 240.0


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.1)


class Running:
    """A server process."""

    def __init__(self, config: Config, *options: str) -> None:
        self.folder = config.folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False)
        self._arguments = [
            *(sys.executable, "-m", "factcheck_local", "serve", "--store", str(config.store)),
            *("--data", str(config.folder), "--port", str(port)),
            *("--set", "llm=smollm2-135m", "--set", "relation=encoder", *options),
        ]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._arguments)
        until(self.answers)

    def answers(self) -> bool:
        try:
            return self.client.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def check(self, claim: str) -> str:
        answered = self.client.post("/v1/checks", json=asked(claim))
        assert answered.status_code == 202
        return str(answered.json()["id"])


@pytest.fixture
def running(config: Config) -> Iterator[Running]:
    server = Running(config)
    yield server
    server.process.kill()
    server.process.wait()


def children(pid: int) -> list[int]:
    # Of each thread: the one that watches over the worker started it.
    listed = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for text in listed for child in text.split()]


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that ended and that nobody has waited for is there, too.
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_nothing_is_lost_or_doubled_whoever_is_killed(running: Running) -> None:
    jobs = Jobs(running.folder / "checks.sqlite")
    made = [running.check(f"Full-time staff get {n} days of paid leave a year.") for n in (27, 28)]
    until(lambda: jobs.counts().get("done", 0) >= 1)
    # The process with the models, while there is work.
    made += [running.check(f"The car park opens at {n} in the morning.") for n in range(5, 9)]
    (worker,) = children(running.process.pid)
    os.kill(worker, signal.SIGKILL)
    until(lambda: jobs.counts().get("done", 0) >= 3)
    # The server itself: its worker goes with it, and the next one goes on.
    made += [running.check(f"The board meets {n} times a year.") for n in range(3)]
    (worker,) = children(running.process.pid)
    running.process.kill()
    running.process.wait()
    until(lambda: not is_there(worker))
    running.start()
    until(lambda: jobs.counts() == {"done": len(made)})
    for id_ in made:
        told = [event.name for event in jobs.events(id_)]
        assert [name for name in told if name in ENDED] == ["done"]
        assert running.client.get(f"/v1/checks/{id_}").json()["result"]["atoms"]
    assert len(list(verified(running.folder / "audit.jsonl"))) == len(made)
    # It ends when it is told to, and takes its worker with it.
    (worker,) = children(running.process.pid)
    running.process.terminate()
    running.process.wait(PATIENCE)
    until(lambda: not is_there(worker))


def test_a_worker_that_ends_is_started_again(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "checks.sqlite")
    # It cannot even read what it is told.
    with Supervisor(jobs, Task(str(tmp_path), "nowhere", {})) as supervisor:
        until(lambda: supervisor.ended >= 2)
    assert supervisor.pid is None


def test_orderly_stops_do_not_count_against_a_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process that does nothing until its input ends.
    waits = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _, **how: popen(waits, **how))
    jobs = Jobs(tmp_path / "checks.sqlite")
    id_ = jobs.submit("ann", {}, "one", most=9).id
    for _ in range(ATTEMPTS + 1):
        with Supervisor(jobs, Task(str(jobs.path), "nowhere", {})) as supervisor:
            until(lambda: supervisor.pid is not None)
            assert jobs.claim() is not None
        assert (jobs.find(id_).state, jobs.find(id_).attempts) == ("queued", 0)


def test_a_process_that_ended_by_itself_counts_though_the_server_stops_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor_module, "DELAYS", (PATIENCE,))
    popen, waits = subprocess.Popen, [sys.executable, "-c", "import sys; sys.stdin.read()"]
    monkeypatch.setattr(subprocess, "Popen", lambda _, **how: popen(waits, **how))
    jobs = Jobs(tmp_path / "checks.sqlite")
    id_ = jobs.submit("ann", {}, "one", most=9).id
    for attempts in range(1, ATTEMPTS + 1):
        with Supervisor(jobs, Task(str(jobs.path), "nowhere", {})) as supervisor:
            until(lambda: supervisor.pid is not None)
            assert jobs.claim() is not None
            os.kill(supervisor.pid or 0, signal.SIGKILL)
            until(lambda: supervisor.ended == 1)
        assert (jobs.find(id_).state, jobs.find(id_).attempts) == ("running", attempts)
    jobs.recover()
    assert jobs.find(id_).state == "failed"


def test_what_fails_as_it_is_started_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor_module, "DELAYS", (0.01,))
    jobs = Jobs(tmp_path / "checks.sqlite")
    recover, failures = jobs.recover, [StoreError("disk full"), OSError("no memory")]

    def failing(*, stopped: bool = False) -> list[str]:
        if failures:
            raise failures.pop(0)
        return recover(stopped=stopped)

    monkeypatch.setattr(jobs, "recover", failing)
    with Supervisor(jobs, Task(str(jobs.path), "nowhere", {})) as supervisor:
        until(lambda: supervisor.pid is not None)
        assert supervisor.ended == 0
    assert "StoreError" in caplog.text
    assert "OSError" in caplog.text


def test_it_is_served_by_a_protocol_that_does_not_wait_for_ever(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    how: dict[str, Any] = {}

    def run(app: Any, **given: object) -> None:  # noqa: ANN401
        how.update(given)
        app.state.service.close()

    monkeypatch.setattr("uvicorn.run", run)
    place = ["--store", str(config.store), "--data", str(config.folder), "--host", "::1"]
    done = CliRunner().invoke(cli, ["serve", *place, "--set", "llm=smollm2-135m"])
    assert done.exit_code == 0, done.output
    assert how["http"] is ImpatientProtocol
    assert " at http://[::1]:8765, data in " in done.stderr


def refused(*arguments: str) -> str:
    done = CliRunner().invoke(cli, ["serve", *arguments])
    assert done.exit_code != 0
    if isinstance(done.exception, FactcheckError):
        return f"{done.exception} {done.exception.hint}"
    return done.output


def test_other_machines_need_keys_and_tls(config: Config) -> None:
    place = ["--store", str(config.store), "--data", str(config.folder)]
    assert "--tls-cert and --tls-key, or --behind-proxy" in refused(*place, "--host", "0.0.0.0")
    said = refused(*place, "--host", "0.0.0.0", "--behind-proxy")
    assert "no keys yet" in said
    assert "factcheck serve keys add" in said
    certificate = str(config.store / "store.json")
    assert "go together" in refused(*place, "--tls-cert", certificate)


def test_what_is_no_certificate_is_named(config: Config) -> None:
    place = ["--store", str(config.store), "--data", str(config.folder)]
    none = str(config.store / "store.json")
    tls = ["--tls-cert", none, "--tls-key", none]
    said = refused(*place, *tls, "--set", "llm=smollm2-135m")
    assert said.startswith(f"{none} and {none}: no certificate and its key: ")


def test_a_port_that_is_taken_is_one_line(config: Config) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        place = ["--store", str(config.store), "--data", str(config.folder), "--port", port]
        done = factcheck("serve", *place, "--set", "llm=smollm2-135m", "--set", "relation=encoder")
    assert (done.code, done.out) == (2, "")
    where, said = done.err.splitlines()
    assert where.startswith("serving ")
    assert said == f"factcheck: 127.0.0.1:{port}: cannot be listened on: address already in use"


def test_help_shows_options_settings_and_what_is_below() -> None:
    said = CliRunner().invoke(cli, ["serve", "--help"]).stdout
    for part in ("--behind-proxy", "--set NAME=VALUE", "keys  Add, list and revoke"):
        assert part in said


def test_keys_are_made_listed_and_revoked(config: Config) -> None:
    place = ["serve", "--store", str(config.store), "--data", str(config.folder), "keys"]

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(cli, [*place, *arguments], catch_exceptions=False)
        assert done.exit_code == 0
        return done.stdout

    made = run("add", "ann", "--scope", "check", "--scope", "search", "--as", "board")
    assert made.startswith("fck_")
    assert run("list").startswith("ann  check, search  sees board  since 20")
    with pytest.raises(FactcheckError, match="there is a key named 'ann' already"):
        run("add", "ann", "--scope", "check")
    run("revoke", "ann")
    assert run("list") == ""
    with pytest.raises(FactcheckError, match="there is no key named 'ann'"):
        run("revoke", "ann")
    run("add", "bob", "--scope", "check", "--as", "hr, board", "--as", "staff")
    assert run("list").startswith("bob  check  sees hr, board, staff  since 20")
    refused = CliRunner().invoke(cli, [*place, "add", "cy", "--scope", "check", "--as", "hr,"])
    assert refused.exit_code == 2
    run("revoke", "bob")
    assert len(list(verified(config.folder / "audit.jsonl"))) == 4


def test_help_needs_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["serve", "keys", "add", "--help"]).exit_code == 0
    with pytest.raises(FactcheckError, match="no store"):
        CliRunner().invoke(cli, ["serve", "keys", "list"], catch_exceptions=False)
