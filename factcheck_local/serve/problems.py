"""What goes wrong, as RFC 9457 says it: ``application/problem+json``."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from factcheck_local.core.errors import FactcheckError, StoreError
from factcheck_local.serve.check import Problem

MEDIA_TYPE = "application/problem+json"


def reply(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """A problem's body."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    return JSONResponse(
        body | {"detail": detail}, status_code=status, headers=headers, media_type=MEDIA_TYPE
    )


def of_problem(_request: Request, error: Problem) -> JSONResponse:
    """The reply to a ``Problem``."""
    return reply(error.status, error.detail, error.headers)


def of_http(_request: Request, error: HTTPException) -> JSONResponse:
    """The reply where no route, or not this method of it, is there."""
    return reply(error.status_code, str(error.detail), dict(error.headers or {}))


def of_validation(_request: Request, error: RequestValidationError) -> JSONResponse:
    """The reply to a request that is not as the OpenAPI document says."""
    return reply(422, line_of(error))


def of_known(_request: Request, error: FactcheckError) -> JSONResponse:
    """The reply to an error that the package raises on purpose."""
    return reply(422, line_of(error))


def of_store(_request: Request, error: StoreError) -> JSONResponse:
    """The reply where store, checks or audit log cannot be used: no fault of the caller's."""
    return reply(503, str(error))


def of_unforeseen(_request: Request, _error: Exception) -> JSONResponse:
    """The reply to any other error, without its words; Starlette hands it on to the log."""
    return reply(500, "an error of the server")


def line_of(
    error: Problem | FactcheckError | RequestValidationError | ValidationError,
) -> str:
    """What is wrong, for people, on one line; it repeats no content of a malformed request."""
    if isinstance(error, RequestValidationError | ValidationError):
        said = [(".".join(map(str, e["loc"])), e["msg"]) for e in error.errors()]
        return "; ".join(": ".join(filter(None, pair)) for pair in said)
    hint = error.hint if isinstance(error, FactcheckError) else None
    return f"{error} ({hint})" if hint else str(error)
