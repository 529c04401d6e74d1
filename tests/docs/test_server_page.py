"""docs/server.md: every example is run, as a shell runs it, against a server as it is started."""

from __future__ import annotations

import json
import shlex
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from click.testing import CliRunner

from factcheck_local.cli import cli

from .pages import blocks, takes_its_options

pytestmark = pytest.mark.long

PAGE = "docs/server.md"
EXAMPLES = blocks(PAGE)

#: The small models of the tests.
SMALL = ["--set", "llm=smollm2-135m", "--set", "relation=encoder"]

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed here")


def example(word: str) -> list[str]:
    """Lines of the block that has a word; one that a backslash goes on with is whole."""
    (found,) = [text for text in EXAMPLES if word in text]
    return found.replace("\\\n", " ").splitlines()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with documents and a store."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text("Full-time staff get 27 days of paid leave.\n")
    factcheck("index", "docs", "--store", ".factcheck")
    return tmp_path


def factcheck(*arguments: str) -> str:
    done = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def shell(line: str, port: int = 0) -> str:
    """What a line prints; the port is the server's."""
    if line.startswith("factcheck "):
        return factcheck(*shlex.split(line)[1:])
    done = subprocess.run(
        ["bash", "-euc", line.replace("8765", str(port))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def served(line: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, Any]]:
    """The server of a line, in a thread; its port, and how it was asked to listen."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    asked: dict[str, Any] = {}
    monkeypatch.setattr(uvicorn, "run", lambda app, **how: asked.update(how, app=app))
    factcheck(*shlex.split(line)[1:], "--port", str(port), *SMALL)
    server = uvicorn.Server(uvicorn.Config(**asked))
    thread = threading.Thread(target=server.run)
    thread.start()
    end = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < end
        time.sleep(0.02)
    yield port, asked
    server.should_exit = True
    thread.join()


def asked_until_done(line: str, port: int) -> dict[str, Any]:
    """What a request for a check gives; on a busy machine it may have to be made again."""
    for _ in range(5):
        check: dict[str, Any] = json.loads(shell(line, port))
        if check["state"] not in ("queued", "running"):
            break
    assert check["state"] == "done"
    return check


@needs_curl
@pytest.mark.usefixtures("desk")
def test_a_check_a_search_indexing_and_a_backup(monkeypatch: pytest.MonkeyPatch) -> None:
    install, start = example("pip install 'factcheck")
    assert install == "pip install 'factcheck-local[serve]'"
    (ask,) = example("/v1/checks?wait=60")
    (serve_folder,) = example("--folder house=./docs")
    index, listed = example('-d \'{"folder": "house"}\'')
    assert set(shlex.split(start)) < set(shlex.split(serve_folder))
    with served(serve_folder, monkeypatch) as (port, _):
        check = asked_until_done(ask, port)
        assert check["result"]["answer"]["text"] == "Full-time staff get 27 days of leave."
        assert check["result"]["atoms"]
        assert json.loads(shell(index, port))["folder"] == "house"
        found = json.loads(shell(listed, port))
        assert (found["folders"], len(found["jobs"])) == (["house"], 1)
    (backup,) = example("tar -czf")
    shell(backup)
    for line in example("rm -rf"):
        shell(line)
    with served(start, monkeypatch) as (port, _):
        again = asked_until_done(ask, port)
    assert (again["id"], again["result"]) == (check["id"], check["result"])
    verify, export = example("audit verify")
    assert "2 lines" in shell(verify) or "3 lines" in shell(verify)
    assert shell(export) == "", "ann asked for nothing"


@needs_curl
@pytest.mark.usefixtures("desk")
def test_keys_and_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    add, start = example("--tls-cert server.pem")
    key = shell(add).strip()
    subprocess.run(
        shlex.split(
            "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost "
            "-keyout server.key -out server.pem"
        ),
        check=True,
        capture_output=True,
    )
    with served(start.replace("10.0.0.5", "0.0.0.0"), monkeypatch) as (port, asked):
        assert asked["ssl_certfile"] == "server.pem"
        ask = f"curl -sk https://localhost:{port}/v1/search -H 'Content-Type: application/json'"
        ask += """ -d '{"query": "leave", "k": 1}'"""
        assert json.loads(shell(ask))["status"] == 401
        held = f"{ask} -H 'Authorization: Bearer {key}'"
        assert json.loads(shell(held))["passages"]
        rotate, revoke, list_keys = example("keys add ann-2026")
        assert shell(rotate).startswith("fck_")
        assert json.loads(shell(held))["passages"], "both count"
        shell(revoke)
        assert json.loads(shell(held))["status"] == 401
        assert shell(list_keys).startswith("ann-2026  check, search  sees staff")


@pytest.mark.usefixtures("desk")
def test_webhooks(monkeypatch: pytest.MonkeyPatch) -> None:
    make, start = example("> webhook.secret")
    shell(make)
    with served(start, monkeypatch) as (_, asked):
        config = asked["app"].state.service.config
        assert config.webhooks == ("https://hooks.example/factcheck",)
        assert len(config.webhook_key) == 32


def test_nothing_on_the_page_is_left_out() -> None:
    """Each block is in one of the tests here, or is a command line for test_pages alone."""
    run = ["pip install 'factcheck", "/v1/checks?wait=60", "--folder house=./docs"]
    run += ['-d \'{"folder": "house"}\'', "tar -czf", "rm -rf", "audit verify"]
    run += ["--tls-cert server.pem", "keys add ann-2026", "--webhook https"]
    left = [text for text in EXAMPLES if not any(word in text for word in run)]
    assert left == ["factcheck models export bundle.tar --with-wheels --extra serve"]
    assert takes_its_options(shlex.split(left[0])[1:])
