"""What is refused before a route sees it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence

import pytest
from fastapi.testclient import TestClient

from factcheck_local.core.progress import silent
from factcheck_local.serve import gate
from factcheck_local.serve.check import Problem
from factcheck_local.serve.gate import Gate, Message, Rates, Receive, Send

Serve = Callable[..., TestClient]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "testserver:8765"}, 200),
        ({"Host": "TESTSERVER"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "testserver.evil.example"}, 421),
        ({"Host": "testserver@evil.example"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "testserver:x"}, 400),
        ({"Origin": "http://testserver"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://testserver.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
    ],
)
def test_only_its_own_name_and_pages_may_ask(
    serve: Serve, headers: dict[str, str], status: int
) -> None:
    assert serve().get("/healthz", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{}", {"Content-Type": "application/json"}, 422),
        (b"{}", {"Content-Type": "application/json; charset=utf-8"}, 422),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {}, 415),
        (b"{", {"Content-Type": "application/json"}, 422),
        (b"\xff", {"Content-Type": "application/json"}, 400),
        (b" " * 2000, {"Content-Type": "application/json"}, 413),
        (b"{}", {"Content-Type": "application/json", "Content-Length": "x"}, 400),
    ],
)
def test_bodies_that_are_refused(
    serve: Serve, content: bytes, headers: dict[str, str], status: int
) -> None:
    client = serve(most_bytes=1000)
    answered = client.post("/v1/checks", content=content, headers=headers)
    assert answered.status_code == status
    assert answered.headers["content-type"] == "application/problem+json"


def passed(
    parts: list[dict[str, object]],
    *,
    most: int = 100,
    headers: Sequence[tuple[bytes, bytes]] = (),
    admit: Callable[[Message], None] = silent,
) -> tuple[list[Message], int | None]:
    """What an application gets of a request's parts, and the status of a refusal."""
    got: list[Message] = []
    status: list[int] = []

    async def app(_scope: Message, receive: Receive, _send: Send) -> None:
        got.append(await receive())

    async def receive() -> Message:
        if not parts:
            await asyncio.sleep(60)
        return parts.pop(0)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "headers": [(b"host", b"here"), *headers],
    }
    gate = Gate(app, hosts=frozenset({"here"}), most=most, admit=admit)
    asyncio.run(gate(scope, receive, send))
    return got, status[0] if status else None


def part(body: bytes, more: bool) -> dict[str, object]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_in_parts_arrives_whole() -> None:
    got, status = passed([part(b"a", True), part(b"b", False)])
    assert (got, status) == ([part(b"ab", False)], None)


def test_a_body_that_hides_its_length_is_counted() -> None:
    assert passed([part(b"x" * 60, True), part(b"x" * 60, False)]) == ([], 413)


def test_a_body_that_does_not_come_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "BODY_SECONDS", 0.05)
    assert passed([part(b"a", True)]) == ([], 408)


def test_who_is_not_admitted_is_told_before_the_body_comes() -> None:
    def refuse(_scope: Message) -> None:
        raise Problem(401, "a key is needed")

    assert passed([part(b"a", True)], admit=refuse) == ([], 401)


def test_who_asks_is_found_out_without_a_thread_that_others_may_take() -> None:
    found: list[threading.Thread] = []
    passed([part(b"", False)], admit=lambda _: found.append(threading.current_thread()))
    assert found == [threading.current_thread()]


@pytest.mark.parametrize("name", [b"host", b"origin", b"content-type", b"content-length"])
def test_a_header_that_comes_twice_decides_nothing(name: bytes) -> None:
    given = [(name, b"here"), (name, b"here")]
    assert passed([part(b"", False)], headers=given) == ([], 400)


def test_a_rate_lets_a_burst_through_and_then_its_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    rates = Rates(per_minute=60.0, burst=2.0)
    assert [rates.wait("ann") for _ in range(3)] == [0.0, 0.0, 1.0]
    assert rates.wait("bob") == 0.0
    now[0] += 0.5
    assert rates.wait("ann") == pytest.approx(0.5)
    now[0] += 0.5
    assert rates.wait("ann") == 0.0
    monkeypatch.setattr(gate, "REMEMBERED", 1)
    rates.wait("bob")
    assert len(rates._left) == 1
