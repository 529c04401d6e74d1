"""Routes as OpenAI has them, in front of a model server: its answers come back checked."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

import httpx
from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import ValidationError

from factcheck_local.core.errors import FactcheckError
from factcheck_local.report import findings
from factcheck_local.serve.access import Caller
from factcheck_local.serve.check import Problem
from factcheck_local.serve.problems import line_of
from factcheck_local.serve.requests import CheckRequest
from factcheck_local.serve.routes_checks import ALIVE, LONGEST_WAIT, Checking, wait_for
from factcheck_local.serve.service import Service
from factcheck_local.serve.upstream import Upstream, lines, parts

#: Values of ``finish_reason`` that say that the answer goes on where it ends.
_CUT = ("length", "content_filter")

#: What a chunk repeats of the ones before it.
_REPEATED = ("id", "object", "created", "model")

Json = dict[str, Any]

logger = logging.getLogger(__name__)


def add_openai(app: FastAPI, service: Service, upstream: Upstream) -> None:
    """Add the routes."""

    @app.get("/v1/models")
    async def models(_caller: Checking) -> Response:
        """The models of the server behind."""
        reply = await upstream.ask("GET", "/models")
        return _passed_on(reply, await _whole(reply))

    @app.post("/v1/chat/completions")
    async def complete(
        body: Json,
        request: Request,
        caller: Checking,
        wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Seconds.")] = 60.0,
    ) -> Response:
        """A chat completion of the server behind, with ``factcheck``: what the documents say of it.

        That has the check's ``id`` and ``state``, and ``claims`` if it is done within ``wait``
        seconds. In a stream it comes in a chunk of its own before the end. Of several choices the
        first is checked, and not if it is cut off. What fails about a check is in ``problem``, and
        the answer is there.
        """
        question = _question(body)

        async def check(text: object, why_not: str | None) -> Json:
            if why_not is not None:
                return {"state": "skipped", "problem": why_not}
            return await _checked(service, caller, text, question, wait)

        reply = await upstream.ask("POST", "/chat/completions", await request.body())
        kind = reply.headers.get("content-type", "")
        if reply.is_success and kind.startswith("text/event-stream"):
            return StreamingResponse(
                _stream(reply, check),
                media_type="text/event-stream",
                headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
            )
        content = await _whole(reply)
        if not reply.is_success:
            return _passed_on(reply, content)
        completion = _object(content)
        if completion is None:
            raise Problem(502, "the model server's answer is no JSON object")
        choice = _at(completion, "choices", 0)
        completion["factcheck"] = await check(
            _at(choice, "message", "content"), _cut(_at(choice, "finish_reason"))
        )
        return Response(json.dumps(completion), media_type="application/json")


async def _checked(
    service: Service, caller: Caller, text: object, question: str | None, wait: float
) -> Json:
    """What is added to an answer; whatever goes wrong is in it, so that the answer is not lost."""
    if not isinstance(text, str) or not text.strip():
        return {"state": "skipped", "problem": "the answer has no text"}
    field: Json = {"state": "failed"}
    try:
        wanted = CheckRequest.model_validate({"answer": text, "question": question})
        check, _ = await asyncio.to_thread(service.submit, wanted.model_dump(), caller)
        field = {"id": check.id, "state": check.state}
        check = await wait_for(service.jobs, check, wait)
        result = await asyncio.to_thread(service.jobs.result, check.id)
        field["state"] = check.state
        if check.problem is not None:
            field["problem"] = check.problem
        if result is not None:
            field |= findings(result)
    except (Problem, FactcheckError, ValidationError) as error:
        field["problem"] = line_of(error)
    except Exception as error:
        # Without the message, which may hold a text.
        logger.error("a chat's check: %s", type(error).__name__)
        field["problem"] = f"an error of the server: {type(error).__name__}"
    return field


async def _stream(
    reply: httpx.Response, check: Callable[[object, str | None], Awaitable[Json]]
) -> AsyncIterator[bytes]:
    """A reply's lines as they come, and before the last what was found."""
    text, last, end = "", dict[str, Any](), b""
    reason, failed = None, False
    try:
        async for line in lines(reply):
            data = line[5:].strip() if line.startswith(b"data:") else b""
            if data == b"[DONE]":
                end = b"data: [DONE]\n\n"
                break
            chunk = _object(data)
            if chunk is not None:
                last = {name: chunk[name] for name in _REPEATED if name in chunk}
                for part in _first(chunk):
                    added = _at(part, "delta", "content")
                    text += added if isinstance(added, str) else ""
                    reason = _at(part, "finish_reason") or reason
                failed = failed or chunk.get("error") is not None
                if chunk.pop("factcheck", None) is not None:  # only this server may say that
                    line = b"data: " + json.dumps(chunk).encode() + b"\n"
            yield line
    except Problem as error:
        yield b"\n\n" + _event({"error": {"message": str(error), "code": error.status}})
        return
    finally:
        await reply.aclose()
    why_not = _cut(reason)
    if failed:
        why_not = "the model server broke off with an error"
    elif not (end or reason):
        why_not = "the model server's stream has no end"
    checking = asyncio.ensure_future(check(text, why_not))
    try:
        while not (await asyncio.wait([checking], timeout=ALIVE))[0]:
            yield b":\n\n"  # so that nothing in between takes the connection for dead
    finally:
        checking.cancel()
    # A choice, since many clients take for granted that there is one.
    choice = {"index": 0, "delta": {}, "finish_reason": None}
    found = _event(last | {"choices": [choice], "factcheck": checking.result()})
    yield (b"" if end else b"\n\n") + found + end


def _first(chunk: Json) -> list[object]:
    """What a chunk has of the first choice."""
    choices = chunk.get("choices")
    return [
        choice
        for choice in (choices if isinstance(choices, list) else ())
        if _at(choice, "index") in (0, None)
    ]


def _cut(reason: object) -> str | None:
    """Why an answer is not whole, by the reason for its end; None if it is."""
    return f"the answer was cut off (finish_reason {reason})" if reason in _CUT else None


def _question(body: Json) -> str | None:
    """The text of the last message of the user."""
    messages = body.get("messages")
    turns: list[object] = messages if isinstance(messages, list) else []
    for message in reversed(turns):
        if _at(message, "role") == "user":
            content = _at(message, "content")
            pieces = content if isinstance(content, list) else [{"text": content}]
            texts = [_at(piece, "text") for piece in pieces]
            return "\n".join(text for text in texts if isinstance(text, str)) or None
    return None


def _at(value: Any, *path: str | int) -> Any:  # noqa: ANN401
    """What is at a path into JSON; None if there is nothing."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def _object(data: bytes) -> Json | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


async def _whole(reply: httpx.Response) -> bytes:
    return b"".join([part async for part in parts(reply)])


def _passed_on(reply: httpx.Response, content: bytes) -> Response:
    headers = {name: reply.headers[name] for name in ("retry-after",) if name in reply.headers}
    # Never as a page, whose scripts would be ours to a browser.
    return Response(content, reply.status_code, headers, "application/json")


def _event(data: Json) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
