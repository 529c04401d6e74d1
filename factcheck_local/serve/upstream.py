"""The model server that is passed through to: its replies, within limits of size and time."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import httpx

from factcheck_local.models.openai_server.client import async_client
from factcheck_local.models.openai_server.options import ServerOptions
from factcheck_local.serve.check import Problem

#: Bytes of a reply, and seconds that it may take in all.
MOST_BYTES, LONGEST = 8 * 2**20, 1800.0


class Upstream:
    """One model server; nothing of a caller goes there but the body.

    Args:
        options: where it is, its key, and the longest silence.

    Raises:
        ModelError: if its key is not to be had.
    """

    def __init__(self, options: ServerOptions) -> None:
        self._url = options.url
        self._http = async_client("behind --openai", options)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def ask(self, method: str, path: str, body: bytes | None = None) -> httpx.Response:
        """What it replies, to be read with ``parts``.

        Args:
            method: of HTTP.
            path: below its address, with a slash in front.
            body: JSON.

        Raises:
            Problem: if it does not answer, or sends elsewhere.
        """
        headers = {"Accept-Encoding": "identity"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = self._http.build_request(method, self._url + path, content=body, headers=headers)
        try:
            reply = await self._http.send(request, stream=True)
        except httpx.TimeoutException as error:
            raise Problem(504, "the model server does not answer") from error
        except httpx.RequestError as error:
            raise Problem(502, "the model server cannot be reached") from error
        if reply.is_redirect:
            await reply.aclose()
            raise Problem(502, "the model server redirects, which is not followed")
        return reply


async def parts(reply: httpx.Response) -> AsyncIterator[bytes]:
    """A reply's body as it comes; it is closed then.

    Raises:
        Problem: if it breaks off, or is too large or too slow.
    """
    size, end = 0, time.monotonic() + LONGEST
    try:
        async for part in reply.aiter_bytes():
            size += len(part)
            if size > MOST_BYTES:
                raise Problem(502, f"the model server's reply has more than {MOST_BYTES} bytes")
            if time.monotonic() > end:
                raise Problem(504, f"the model server's reply took more than {LONGEST:g} seconds")
            yield part
    except httpx.TimeoutException as error:
        raise Problem(504, "the model server fell silent") from error
    except httpx.RequestError as error:
        raise Problem(502, "the model server broke off") from error
    finally:
        await reply.aclose()


async def lines(reply: httpx.Response) -> AsyncIterator[bytes]:
    """The same by lines, with their ends; a line ends at a line feed and at nothing else."""
    rest = b""
    async for part in parts(reply):
        *whole, rest = (rest + part).split(b"\n")
        for line in whole:
            yield line + b"\n"
    if rest:
        yield rest
