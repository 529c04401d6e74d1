"""Requests to a model server: its address only, retried where it is busy, one line if it fails.

Documents travel in these requests, so they go to the named address and nowhere else: a redirect
is refused, and the proxies and passwords that the environment may name are not used. What else
reaches a network is in ``SECURITY.md``.
"""

from __future__ import annotations

import os
import re
import ssl
import time
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx

from factcheck_local.core import egress
from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.models.openai_server.limit import Limit
from factcheck_local.models.openai_server.options import ServerOptions

#: A request is sent at most so often; the pause doubles from one to the next.
ATTEMPTS = 4
#: Longest that a server's own Retry-After is followed, in seconds.
MAX_PAUSE = 20.0
#: Bytes of a reply.
MOST_BYTES = 64 * 2**20
_CONNECT_SECONDS = 10.0
_BUSY = {429, 503}
#: Statuses with which every further request would be answered too.
_HOPELESS = {401, 403, 404}
_SHOWN = 200


class ServerClient:
    """JSON in, JSON out, for one server.

    Args:
        name: the model's, for messages.
        options: the address, the key's variable, the timeout.
        pause: seconds before the second attempt.

    Raises:
        ModelError: if the key's variable is not set, or holds what cannot be a key.
    """

    def __init__(self, name: str, options: ServerOptions, *, pause: float = 0.5) -> None:
        self._name = name
        self._url = options.url
        self._seconds = options.timeout_seconds
        self._pause = pause
        self._key = _read_key(name, options.api_key_env)
        self._limit = Limit(options.concurrency)
        self._http = httpx.Client(**_arguments(options, self._key))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str) -> dict[str, Any]:
        """GET ``path`` below the address; see ``post``."""
        return self._send("GET", path, None)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST ``body`` to ``path`` below the address.

        Raises:
            ModelError: for an answer that every request would get: a redirect, a
                refused key, no such model or path.
            ScoringError: for any other failure, after retries if the server was
                busy or the connection broke.
        """
        return self._send("POST", path, body)

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        place = f"model {self._name}: {self._url}/{path}"
        for attempt in range(1, ATTEMPTS + 1):
            pause = self._pause * 2 ** (attempt - 1)
            try:
                with self._limit.turn() as begun:
                    reply = self._whole(place, method, path, body)
            except httpx.ConnectTimeout as error:
                raise ScoringError(
                    f"{place}: no connection within {_connect_seconds(self._seconds):g} s"
                ) from error
            except httpx.TimeoutException as error:
                # Not sent again: the server may still be at work on the first.
                raise ScoringError(f"{place}: no answer within {self._seconds:g} s") from error
            except httpx.TransportError as error:
                if attempt == ATTEMPTS:
                    raise ScoringError(f"{place}: {self._line(str(error))}") from error
            except httpx.RequestError as error:
                raise ScoringError(f"{place}: {self._line(str(error))}") from error
            else:
                self._limit.heed(reply.status_code, begun)
                if reply.status_code not in _BUSY or attempt == ATTEMPTS:
                    return self._content(place, reply)
                pause = max(pause, _asked_pause(reply))
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _whole(
        self, place: str, method: str, path: str, body: dict[str, Any] | None
    ) -> httpx.Response:
        """A reply that is neither too long nor, however it drips in, too late."""
        content, end = bytearray(), time.monotonic() + self._seconds
        with self._http.stream(method, f"{self._url}/{path}", json=body) as reply:
            for part in reply.iter_bytes():
                content += part
                if len(content) > MOST_BYTES:
                    raise ScoringError(f"{place}: the reply has more than {MOST_BYTES} bytes")
                if time.monotonic() > end:
                    raise httpx.ReadTimeout("", request=reply.request)
        kept = ("content-type", "location", "retry-after")
        headers = {name: reply.headers[name] for name in kept if name in reply.headers}
        return httpx.Response(reply.status_code, headers=headers, content=bytes(content))

    def _content(self, place: str, reply: httpx.Response) -> dict[str, Any]:
        if not reply.is_success:
            self._refuse(place, reply)
        try:
            content = reply.json()
        except (ValueError, RecursionError) as error:
            raise ScoringError(f"{place}: expected JSON, got {self._line(reply.text)!r}") from error
        if not isinstance(content, dict):
            raise ScoringError(f"{place}: expected a JSON object, got {self._line(reply.text)!r}")
        return content

    def _refuse(self, place: str, reply: httpx.Response) -> NoReturn:
        if reply.is_redirect:
            target = self._line(reply.headers.get("location", ""))
            raise ModelError(
                f"{place}: redirects to {target!r}, which is not followed: "
                "documents go only where the card says"
            )
        message = f"{place}: status {reply.status_code}, {self._line(_said(reply))!r}"
        if reply.status_code in _HOPELESS:
            raise ModelError(message)
        raise ScoringError(message)

    def _line(self, text: str) -> str:
        """What came, on one line, short, and without the key should it be repeated."""
        if self._key:
            text = text.replace(self._key, "…")
        line = " ".join(text.split())
        return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def async_client(name: str, options: ServerOptions) -> httpx.AsyncClient:
    """What asks a server in an event loop; it may be reached from here on, and nothing else.

    Raises:
        ModelError: see ``ServerClient``.
    """
    return httpx.AsyncClient(**_arguments(options, _read_key(name, options.api_key_env)))


def _arguments(options: ServerOptions, key: str) -> dict[str, Any]:
    """What a client of HTTP is made with; the server may be reached from here on."""
    egress.allow(*_host_and_port(options.url))
    seconds = options.timeout_seconds
    return {
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": httpx.Timeout(seconds, connect=_connect_seconds(seconds)),
        "follow_redirects": False,
        "trust_env": False,
        # The system's certificates, among which a company's own authority stands.
        "verify": ssl.create_default_context(),
    }


def _connect_seconds(seconds: float) -> float:
    """Longest wait for a connection, of the seconds for a reply."""
    return min(_CONNECT_SECONDS, seconds)


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _read_key(name: str, variable: str | None) -> str:
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ModelError(f"model {name}: {variable}, named for its key, is not set")
    # Checked here: the HTTP library's own message would repeat the key.
    if not re.fullmatch("[!-~]+", key):
        raise ModelError(f"model {name}: what {variable} holds cannot be a key")
    return key


def _asked_pause(reply: httpx.Response) -> float:
    """Seconds that the server asks to wait, at most ``MAX_PAUSE``; 0 if it asks nothing."""
    asked = reply.headers.get("retry-after", "")
    return min(float(asked), MAX_PAUSE) if re.fullmatch("[0-9]{1,6}", asked) else 0.0


def _said(reply: httpx.Response) -> str:
    """The message in an error's body, as the servers write it, or the body."""
    try:
        body = reply.json()
    except (ValueError, RecursionError):
        return reply.text
    found = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(found, dict):
        found = found.get("message", found.get("detail", found))
    return str(found)
