"""Connections that ask for nothing are closed, and no others."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from factcheck_local.serve import connections
from factcheck_local.serve.connections import ImpatientProtocol

PATIENCE = 0.4

HEAD = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n"


async def slow(_scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401
    """Takes a body, and longer to answer than a head may take."""
    while (await receive())["more_body"]:
        pass
    await asyncio.sleep(2 * PATIENCE)
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    monkeypatch.setattr(connections, "HEAD_SECONDS", PATIENCE)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(slow, http=ImpatientProtocol, lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    with socket.create_connection(listening.getsockname(), timeout=30.0) as made:
        yield made
    server.should_exit = True
    thread.join()


def drip(connection: socket.socket, data: bytes) -> bool:
    """Whether the other end closed amid bytes that come slowly."""
    connection.settimeout(PATIENCE / 4)
    for n in range(len(data)):
        try:
            connection.sendall(data[n : n + 1])
            if connection.recv(1) == b"":
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def test_one_that_says_nothing_is_closed(connection: socket.socket) -> None:
    begun = time.monotonic()
    assert connection.recv(1) == b""
    assert time.monotonic() - begun < 10 * PATIENCE


def test_one_whose_head_comes_slowly_is_closed(connection: socket.socket) -> None:
    assert drip(connection, HEAD)


def test_one_that_asks_has_its_time_and_each_request_anew(connection: socket.socket) -> None:
    for _ in range(2):
        connection.settimeout(30.0)
        connection.sendall(HEAD + b"\r\n")
        time.sleep(2 * PATIENCE)  # bodies have a time of their own
        connection.sendall(b"{}")
        assert connection.recv(1000).startswith(b"HTTP/1.1 204")
    assert drip(connection, HEAD)
