"""Refuses every use of sockets, this machine's own too, by a hook of the tests' own."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from factcheck_local.core import egress

_EVENTS = {
    *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"),
    *("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"),
}
_active: list[list[str]] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _EVENTS and _active:
        _active[-1].append(f"{event} {arguments!r}")
        raise OSError(f"no sockets here: {event} {arguments!r}")


sys.addaudithook(_watch)


@contextmanager
def no_sockets() -> Iterator[None]:
    """Fail, at the end at the latest, if anything in this process used a socket meanwhile."""
    attempts: list[str] = []
    before = egress.refusals()
    _active.append(attempts)
    try:
        yield
    finally:
        _active.pop()
    attempts += egress.refusals()[len(before) :]
    assert not attempts, attempts


def look_up() -> None:
    """What a library's telemetry would begin with."""
    socket.getaddrinfo("telemetry.example", 443)
