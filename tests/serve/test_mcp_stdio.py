"""factcheck mcp on standard input and output, by the SDK's client."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters

from factcheck_local.cli import cli
from factcheck_local.core.errors import InputError
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.service import Config

pytestmark = pytest.mark.long

LEAVE = "Full-time staff get 27 days of paid leave a year."
BOARD = "The board meets in Lisbon in March."

#: Enough claims for the small model that a run is cancelled amid them.
LONG = " ".join(f"Room {n} of the house is painted in colour {n}." for n in range(60))

PATIENCE = 120.0


def arguments(config: Config, *more: str) -> list[str]:
    models = ["--set", "llm=smollm2-135m", "--set", "relation=encoder"]
    return ["-m", "factcheck_local", "mcp", "--store", str(config.store), *models, *more]


def folders(place: Path) -> list[Path]:
    return list(place.glob("factcheck-mcp-*"))


def test_an_agent_checks_searches_reads_and_cancels(config: Config, tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    started = StdioServerParameters(
        command=sys.executable,
        args=arguments(config, "--as", "staff"),
        env={"TMPDIR": str(place), "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )

    async def talk() -> None:
        async with Client(started) as client:
            running = asyncio.Event()

            async def note(progress: float, total: float | None, message: str | None) -> None:
                if message == "running":
                    assert (progress, total) == (2.0, None)
                    running.set()

            async def call(tool: str, **given: object) -> dict[str, Any]:
                result = await client.call_tool(tool, given)
                assert not result.is_error, result.content
                assert result.structured_content is not None
                return dict(result.structured_content)

            long = asyncio.create_task(
                client.call_tool("check_answer", {"answer": LONG}, progress_callback=note)
            )
            await asyncio.wait_for(running.wait(), PATIENCE)
            long.cancel()
            await asyncio.wait([long])
            # The worker is free for this one only once it has left that one.
            found = await call("check_claim", claim=LEAVE)
            (folder,) = folders(place)
            jobs = Jobs(folder / "checks.sqlite")
            assert jobs.counts() == {"cancelled": 1, "done": 1}
            assert folder.stat().st_mode & 0o077 == 0
            (quote,) = found["claims"][0]["citations"]
            assert (found["claims"][0]["verdict"], quote["line"]) == ("supported", 3)
            report = await client.read_resource(found["report"])
            assert LEAVE in report.model_dump_json()
            # What the groups of --as may not see is not there, in whatever is asked.
            sources = await call("list_sources")
            assert [row["source"] for row in sources["sources"]] == ["leave.md", "parking.md"]
            searched = await call("search_sources", query=BOARD, k=9)
            assert {row["source"] for row in searched["passages"]} == {"leave.md", "parking.md"}
            assert (await call("get_passage", passage=quote["passage"]))["source"] == "leave.md"
            refused = await client.call_tool("check_answer", {"answer": ""})
            assert refused.is_error
            listed = await client.list_resources()
            assert [resource.uri for resource in listed.resources] == [found["report"]]

    asyncio.run(talk())
    assert folders(place) == [], "nothing is kept"


def test_its_output_is_the_protocol_alone_and_it_goes_when_told(
    config: Config, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, *arguments(config)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}}
    begin["clientInfo"] = {"name": "test", "version": "1"}
    requests: list[object] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin},
        "no message",
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    for request in requests:
        process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    lines = [json.loads(process.stdout.readline()) for _ in range(2)]
    assert [line.get("id") for line in lines] == [1, 2]
    assert folders(tmp_path)
    process.send_signal(signal.SIGTERM)
    rest, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert rest == ""
    assert f"serving {config.store} over MCP" in said
    assert folders(tmp_path) == [], "nothing is kept"


def test_it_needs_no_library_that_only_the_server_s_numbers_need(config: Config) -> None:
    code = (
        "import sys; sys.modules['prometheus_client'] = None\n"
        "from factcheck_local.cli import script; script()"
    )
    command = [sys.executable, "-c", code, *arguments(config)[2:]]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr


def test_what_is_missing_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    done = CliRunner().invoke(cli, ["mcp"])
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == "mcp needs mcp"
    assert done.exception.hint == "pip install 'factcheck-local[mcp]'"
