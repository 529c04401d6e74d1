"""MCP at /mcp of the server, by the SDK's client: the same keys, rights and queue as the routes."""

from __future__ import annotations

import asyncio
import shutil
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import httpx2
import jsonschema
import pytest
import uvicorn
from fastapi.testclient import TestClient
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ResourceLink, TextContent, TextResourceContents

from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.serve.app import create_app
from factcheck_local.serve.audit import verified
from factcheck_local.serve.mcp_results import MOST_CHARACTERS, MOST_CLAIMS, Checked
from factcheck_local.serve.service import Config, Service
from factcheck_local.serve.worker import Worker

from .conftest import SETTINGS

pytestmark = pytest.mark.long

LEAVE = "Full-time staff get 27 days of paid leave a year."
BOARD = "The board meets in Lisbon in March."

#: Every tool, what it is called with, and the scope that it needs.
TOOLS: list[tuple[str, dict[str, Any], str]] = [
    ("check_answer", {"answer": LEAVE, "question": "How many days?"}, "check"),
    ("check_claim", {"claim": LEAVE}, "check"),
    ("search_sources", {"query": BOARD, "k": 9}, "search"),
    ("get_passage", {"passage": "none"}, "search"),
    ("list_sources", {}, "search"),
]

#: How clients begin: without a session since 2026, with one before.
MODES = ["auto", "legacy"]

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

Found = TypeVar("Found")


def wait_for(find: Callable[[], Found | None]) -> Found:
    """What another thread brings about."""
    end = time.monotonic() + 120.0
    while not (found := find()):
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)
    return found


@dataclass
class Served:
    """A server that listens, and the checks of which are done as long as ``works`` is set."""

    url: str
    service: Service
    works: threading.Event

    def key(self, name: str, *scopes: str, groups: tuple[str, ...] | None = None) -> str:
        """A key of this name, anew."""
        if any(key.name == name for key in self.service.keys.all()):
            self.service.keys.revoke(name)
        return self.service.keys.add(name, scopes, groups)

    @asynccontextmanager
    async def client(self, key: str, mode: str = "auto") -> AsyncIterator[Client]:
        """A client with a key."""
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=120.0) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield client

    def calls(self, key: str, *calls: tuple[str, dict[str, Any]]) -> list[CallToolResult]:
        """Several calls at once."""

        async def all_of_them() -> list[CallToolResult]:
            async with self.client(key) as client:
                return await asyncio.gather(*(client.call_tool(*call) for call in calls))

        return asyncio.run(all_of_them())

    def call(self, key: str, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """One call."""
        return self.calls(key, (tool, arguments))[0]


@pytest.fixture(scope="module")
def served(
    indexed: Path, tmp_path_factory: pytest.TempPathFactory, smollm: LlamaCppModel
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("mcp")
    shutil.copytree(indexed, folder / "at")
    config = Config(folder / "at" / ".factcheck", folder / "data", SETTINGS, needs_key=True)
    app = create_app(config, worker=False)
    service: Service = app.state.service
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, loop="asyncio", log_level="warning"))
    works, over = threading.Event(), threading.Event()

    def work() -> None:
        worker = Worker(service.jobs, config.store, config.settings, llm=smollm)
        while not over.is_set():
            if not (works.wait(0.05) and worker.do_next()):
                time.sleep(0.02)

    threads = [
        threading.Thread(target=server.run, kwargs={"sockets": [listening]}),
        threading.Thread(target=work),
    ]
    for thread in threads:
        thread.start()
    works.set()
    yield Served(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", service, works)
    over.set()
    server.should_exit = True
    for thread in threads:
        thread.join()


@pytest.fixture
def held(served: Served) -> Iterator[Served]:
    """The server with nobody who does its checks."""
    served.works.clear()
    yield served
    served.works.set()


def text_of(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


def error_of(result: CallToolResult) -> str:
    """The line of an error, without anything beside it."""
    assert result.is_error
    assert result.structured_content is None
    said = text_of(result)
    assert said
    assert "\n" not in said
    return said


def content_of(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return dict(result.structured_content)


@pytest.mark.parametrize("mode", MODES)
def test_a_claim_from_asking_to_its_report(served: Served, mode: str) -> None:
    told: list[tuple[float, str]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        told.append((progress, message or ""))

    async def talk() -> None:
        async with served.client(key, mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            result = await client.call_tool("check_claim", {"claim": LEAVE}, progress_callback=note)
            found = content_of(result)
            jsonschema.validate(found, tools["check_claim"].output_schema or {})
            (checked,) = found["claims"]
            assert (checked["text"], checked["verdict"]) == (LEAVE, "supported")
            assert 0.5 < checked["probability"] < 1.0
            quote = checked["citations"][0]
            assert (quote["quote"], quote["relation"]) == (LEAVE, "entailment")
            assert (quote["source"], quote["line"], quote["prior"]) == ("leave.md", 3, 0.9)
            (link,) = [block for block in result.content if isinstance(block, ResourceLink)]
            assert link.uri == found["report"]
            for ending, part in (("md", "27 days"), ("json", '"factcheck.assessment/1"')):
                read = await client.read_resource(found["report"].replace(".md", f".{ending}"))
                (report,) = read.contents
                assert isinstance(report, TextResourceContents)
                assert part in report.text
            (listed,) = (await client.list_resources()).resources
            assert (listed.uri, listed.description) == (found["report"], LEAVE)
            passage = content_of(
                await client.call_tool("get_passage", {"passage": quote["passage"]})
            )
            assert LEAVE in passage["text"]
            assert (passage["source"], passage["line"]) == ("leave.md", 1)
            assert set(tools) == {name for name, _, _ in TOOLS}
            assert all(t.annotations and t.annotations.read_only_hint for t in tools.values())

    key = served.key(f"ann-{mode}", "check", "search")
    asyncio.run(talk())
    messages = [message for _, message in told]
    assert messages[:2] == ["queued", "running"]
    assert messages[-1] == "done"
    assert {"retrieve", "claim 1 of 1: supported so far"} <= set(messages)
    numbers = [number for number, _ in told]
    assert numbers == sorted(set(numbers)), "progress has to grow"


def test_each_tool_needs_a_key_of_its_scope(served: Served) -> None:
    keys = {scope: served.key(scope, scope) for scope in ("check", "search", "review", "admin")}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    for tool, arguments, _ in TOOLS:
        body = call | {"params": {"name": tool, "arguments": arguments}}
        for guess in ({}, {"Authorization": "Bearer fck_guess"}):
            refused = httpx.post(served.url, json=body, headers=JSON | guess, trust_env=False)
            assert refused.status_code == 401
            assert refused.headers["content-type"] == "application/problem+json"
    for holder, key in keys.items():
        others = [row for row in TOOLS if holder not in (row[2], "admin")]
        results = served.calls(key, *((tool, arguments) for tool, arguments, _ in others))
        for (_, _, scope), result in zip(others, results, strict=True):
            assert error_of(result) == f"this key is not for {scope}"
    # An admin's is for everything.
    checked, listed = served.calls(
        keys["admin"], ("check_claim", {"claim": ""}), ("list_sources", {})
    )
    assert "non-empty" in error_of(checked)
    assert len(content_of(listed)["sources"]) == content_of(listed)["count"] == 3


def test_no_tool_and_no_report_shows_what_groups_may_not_see(served: Served) -> None:
    staff = served.key("staff", "check", "search", groups=("staff",))
    member = served.key("member", "check", "search", groups=("board",))

    asked = {"answer": f"{LEAVE} {BOARD}", "question": "Where do they meet?"}

    def seen(key: str) -> tuple[str, CallToolResult]:
        answers = served.calls(
            key,
            ("check_claim", {"claim": BOARD}),
            ("check_answer", asked),
            ("search_sources", {"query": BOARD, "k": 9}),
            ("list_sources", {}),
        )
        split = content_of(answers[1])
        assert sum(split["counts"].values()) == len(split["claims"]) >= 2
        result = served.service.jobs.result(split["check"])
        assert result is not None
        assert (result["answer"]["text"], result["answer"]["question"]) == tuple(asked.values())
        return "".join(map(text_of, answers)), answers[0]

    text, checked = seen(member)
    assert text.count("board.md") >= 4
    quote = content_of(checked)["claims"][0]["citations"][0]
    assert content_of(served.call(member, "get_passage", {"passage": quote["passage"]}))["text"]
    hidden, own = seen(staff)
    assert "board.md" not in hidden
    assert content_of(own)["claims"][0] == {
        "text": BOARD,
        "verdict": "not_found",
        "citations": [],
        "note": "Nothing in the documents relates to it.",
    } | {"probability": content_of(own)["claims"][0]["probability"]}
    refused = served.call(staff, "get_passage", {"passage": quote["passage"]})
    assert error_of(refused) == "no such passage"

    async def read_another() -> None:
        async with served.client(staff) as client:
            listed = await client.list_resources()
            assert content_of(checked)["report"] not in {r.uri for r in listed.resources}
            for uri in (content_of(checked)["report"], "factcheck://checks/none/report.json"):
                with pytest.raises(MCPError, match="no such check") as refused:
                    await client.read_resource(uri)
                assert refused.value.code == -32602

    asyncio.run(read_another())


def test_a_report_is_not_listed_for_a_name_that_is_used_again(served: Served) -> None:
    async def listed(key: str) -> set[str]:
        async with served.client(key) as client:
            return {resource.uri for resource in (await client.list_resources()).resources}

    everything = served.key("ida", "check")
    report = content_of(served.call(everything, "check_claim", {"claim": BOARD}))["report"]
    assert asyncio.run(listed(everything)) == {report}
    assert asyncio.run(listed(served.key("ida", "check", groups=("staff",)))) == set()


def test_a_session_is_of_use_to_its_key_alone(served: Served) -> None:
    ann, bob = served.key("ann", "search"), served.key("bob", "search")
    begin = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    with httpx.Client(trust_env=False, headers=JSON) as http:

        def post(key: str, body: dict[str, Any], **more: str) -> httpx.Response:
            headers = {"Authorization": f"Bearer {key}"} | more
            return http.post(served.url, json=body, headers=headers)

        session = {"Mcp-Session-Id": post(ann, begin).headers["mcp-session-id"]}
        lists = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert "list_sources" in post(ann, lists, **session).text
        assert post(bob, lists, **session).status_code == 404
        served.service.keys.revoke("ann")
        assert post(ann, lists, **session).status_code == 401


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("check_answer", {}, "answer: Field required"),
        ("check_answer", {"answer": "  "}, "Value error, the answer is empty"),
        ("check_answer", {"answer": "x" * 200_001}, "at most 200000 characters"),
        ("check_claim", {"claim": ""}, "expected 'output' to be a non-empty text"),
        ("check_claim", {"claim": 7}, "claim: Input should be a valid string"),
        ("search_sources", {"query": "leave", "k": 0}, "k: Input should be greater than"),
        ("search_sources", {"query": "leave", "where": ["nonsense"]}, "expected a condition"),
        ("get_passage", {"passage": "none"}, "no such passage"),
        ("format_disk", {}, "Unknown tool"),
    ],
)
def test_bad_input_is_an_error_of_one_line(
    served: Served, tool: str, arguments: dict[str, Any], said: str
) -> None:
    before = served.service.jobs.counts()
    error = error_of(served.call(served.key("ann", "check", "search"), tool, arguments))
    assert said in error
    assert "xxx" not in error
    assert served.service.jobs.counts() == before


def test_what_nobody_foresaw_is_named_without_its_words(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_caller: object) -> None:
        raise LookupError("the words of a document")

    monkeypatch.setattr(served.service, "sources", broken)
    said = error_of(served.call(served.key("ann", "search"), "list_sources", {}))
    assert said == "an error of the server: LookupError"
    assert "list_sources: LookupError" in caplog.messages
    assert "the words" not in caplog.text


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_is_cancelled_ends_its_check(held: Served, mode: str) -> None:
    jobs, key = held.service.jobs, held.key(f"cal-{mode}", "check")
    claim = f"Nobody waits for the end of this, says {mode}."

    async def give_up() -> None:
        async with held.client(key, mode) as client:
            call = asyncio.create_task(client.call_tool("check_claim", {"claim": claim}))
            claimed = await asyncio.to_thread(wait_for, jobs.claim)
            call.cancel()
            await asyncio.wait([call])
            await asyncio.to_thread(wait_for, lambda: not jobs.is_due(claimed))
            assert jobs.find(claimed.check.id).state == "cancelled"
            assert not jobs.tell(claimed, "stage", {"stage": "relate"}), "nothing more is told"

    asyncio.run(give_up())


def test_a_call_that_is_cancelled_leaves_a_check_that_somebody_else_was_given(held: Served) -> None:
    jobs, key = held.service.jobs, held.key("cam", "check")
    claim = "Somebody else waits for the end of this."
    atom = {"id": "claim", "text": claim, "original": claim}

    async def give_up() -> None:
        async with held.client(key) as client:
            call = asyncio.create_task(client.call_tool("check_claim", {"claim": claim}))
            claimed = await asyncio.to_thread(wait_for, jobs.claim)
            with httpx.Client(trust_env=False, headers={"Authorization": f"Bearer {key}"}) as http:
                same = {"record": {"output": claim, "atoms": [atom]}}
                given = http.post(held.url.replace("/mcp", "/v1/checks"), json=same).json()
            assert given["id"] == claimed.check.id
            call.cancel()
            await asyncio.wait([call])
            await asyncio.sleep(1.5)  # until the server has seen it
            assert jobs.fail(claimed, "nothing is wrong, and it is due")

    asyncio.run(give_up())


def test_a_check_that_fails_is_an_error_and_no_verdict(held: Served) -> None:
    jobs, key = held.service.jobs, held.key("fay", "check")

    def fail() -> None:
        jobs.fail(wait_for(jobs.claim), "out of memory")

    thread = threading.Thread(target=fail)
    thread.start()
    assert error_of(held.call(key, "check_claim", {"claim": "It fails."})) == "out of memory"
    thread.join()


def test_what_is_done_is_logged_and_what_cannot_be_logged_is_not_done(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = served.key("lou", "check", "search")

    async def talk() -> None:
        async with served.client(key) as client:
            found = content_of(await client.call_tool("check_claim", {"claim": LEAVE}))
            await client.read_resource(found["report"])
            await client.call_tool("search_sources", {"query": "leave in secret"})

    asyncio.run(talk())
    log = served.service.config.folder / "audit.jsonl"
    entries = [entry for entry in verified(log) if entry["who"] == "lou"]
    assert [e["what"] for e in entries] == ["check.submitted", "report.read", "search"]
    assert "secret" not in log.read_text()
    monkeypatch.setattr(served.service.audit, "_path", served.service.config.folder)
    before = served.service.jobs.counts()
    for tool in ("check_claim", "search_sources"):
        arguments = {"claim": BOARD, "query": BOARD}
        assert "cannot be written" in error_of(served.call(key, tool, arguments))
    assert served.service.jobs.counts() == before


def test_the_gate_holds_before_it(serve: Callable[..., TestClient]) -> None:
    client = serve(per_minute=6.0)
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 415),
    ):
        assert client.post("/mcp", json=listing, headers=JSON | headers).status_code == status
    answers = [client.post("/mcp", json=listing, headers=JSON).status_code for _ in range(30)]
    assert answers[-1] == 429


def test_an_answer_to_an_agent_is_small(served: Served) -> None:
    key = served.key("ann", "check")
    check = content_of(served.call(key, "check_claim", {"claim": LEAVE}))["check"]
    result = served.service.jobs.result(check)
    assert result is not None
    (atom,) = result["atoms"]
    wrong = atom | {"verdict": "contradicted", "text": "long " * 1000}
    many = result | {"atoms": [atom] * MOST_CLAIMS + [wrong]}
    shown = Checked.of(check, many, "factcheck://")
    assert (len(shown.claims), shown.left_out) == (MOST_CLAIMS, 1)
    assert shown.claims[0].verdict == "contradicted", "what is wrong is never left out first"
    assert len(shown.claims[0].text) == MOST_CHARACTERS
