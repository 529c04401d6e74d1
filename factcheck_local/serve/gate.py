"""What each request passes before a route sees it: host, origin, key, rate, size, time.

Pure ASGI, so that nothing is read of a request that is refused.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.routing import compile_path

from factcheck_local.core.errors import StoreError
from factcheck_local.core.progress import silent
from factcheck_local.serve.check import Problem
from factcheck_local.serve.problems import reply

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

#: Seconds that a body may take to arrive.
BODY_SECONDS = 30.0

#: Callers whose rate is remembered.
REMEMBERED = 10_000


class Gate:
    """Wraps an application.

    Args:
        app: the application.
        hosts: values of the Host header that are ours, lower case, without a port. Another one is
            a page elsewhere whose name was made to point here (DNS rebinding).
        most: bytes of a body.
        admit: called with the scope of a request before its body is read; a ``Problem`` that it
            raises is the answer. All requests wait for it, so it has to be quick; a thread for it
            would have to be waited for while checks that are asked for take all of them.
        open_to_all: paths, as routes have them, that are read without that by a request without a
            body.
    """

    def __init__(
        self,
        app: App,
        *,
        hosts: frozenset[str],
        most: int,
        admit: Callable[[Message], None] = silent,
        open_to_all: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._most = most
        self._admit = admit
        self._open = [compile_path(path)[0] for path in open_to_all]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            if self._look_at(scope) or not self._is_open(scope):
                self._ask_who(scope)
            body = await self._body(receive)
        except Problem as error:
            # What is left of the body is not read, so the connection cannot go on.
            headers = (error.headers or {}) | {"Connection": "close"}
            await reply(error.status, error.detail, headers)(scope, receive, send)
            return
        given = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return given.pop() if given else await receive()

        await self._app(scope, replay, send)

    def _look_at(self, scope: Message) -> bool:
        """Refuse what its headers speak against; whether it has a body."""
        headers: dict[str, str] = {}
        for raw, value in scope["headers"]:
            name = raw.decode("latin-1")
            if name in headers and name in ("host", "content-length", "content-type", "origin"):
                raise Problem(400, f"more than one {name}")
            headers[name] = value.decode("latin-1")
        own = headers.get("host", "")
        try:
            host = urlsplit(f"//{own}")
            _ = host.port  # only looking at it says whether it is one
        except ValueError:
            raise Problem(400, "Host: expected a name and a port") from None
        if (host.hostname or "").lower() not in self._hosts:
            raise Problem(421, "this host name is not the server's; --allowed-host names others")
        origin = headers.get("origin")
        if origin is not None and _place(origin) != own:
            raise Problem(403, "a page of another origin may not ask here")
        length = headers.get("content-length", "0")
        if not length.isdecimal():
            raise Problem(400, "Content-Length: expected a number")
        if int(length) > self._most:
            raise self._too_large()
        has_body = length != "0" or "transfer-encoding" in headers
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if has_body and kind != "application/json":
            raise Problem(415, "expected application/json")
        return has_body

    def _is_open(self, scope: Message) -> bool:
        reads = scope["method"] in ("GET", "HEAD")
        return reads and any(path.match(scope["path"]) for path in self._open)

    def _ask_who(self, scope: Message) -> None:
        try:
            self._admit(scope)
        except StoreError as error:
            raise Problem(503, str(error)) from error

    async def _body(self, receive: Receive) -> bytes:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await self._whole(receive)
        except TimeoutError as error:
            raise Problem(408, "the body took too long") from error

    async def _whole(self, receive: Receive) -> bytes:
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                break
            part = message.get("body", b"")
            size += len(part)
            if size > self._most:
                raise self._too_large()
            parts.append(part)
            more = message.get("more_body", False)
        return b"".join(parts)

    def _too_large(self) -> Problem:
        return Problem(413, f"the body has more than {self._most} bytes")


def _place(origin: str) -> str | None:
    """Host and port of an origin; None if it is no address."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


class Rates:
    """A token bucket for each caller.

    Args:
        per_minute: requests that a caller may make on and on.
        burst: and at once.
    """

    def __init__(self, per_minute: float, burst: float) -> None:
        self._rate = per_minute / 60.0
        self._burst = burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, caller: str) -> float:
        """Count a request: 0.0 if it may pass, else seconds until one may."""
        with self._lock:
            now = time.monotonic()
            left, then = self._left.pop(caller, (self._burst, now))
            left = min(self._burst, left + (now - then) * self._rate)
            passes = left >= 1.0
            self._left[caller] = (left - 1.0 if passes else left, now)
            while len(self._left) > REMEMBERED:
                self._left.popitem(last=False)
            return 0.0 if passes else (1.0 - left) / self._rate
