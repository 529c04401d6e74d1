"""A check as it is kept, and what ends a request that is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

State = Literal["queued", "running", "done", "failed", "cancelled"]

#: States that no check leaves.
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")


class Problem(Exception):
    """Ends a request; here, where no process that works needs FastAPI for it.

    Args:
        status: of HTTP.
        detail: what is wrong, for people, on one line.
        headers: of the reply.
    """

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers


@dataclass(frozen=True, slots=True)
class Check:
    """A check as it is kept.

    Attributes:
        number: grows with each check.
        id: a random name.
        owner: who asked for it.
        request: what was asked, as JSON holds it.
        state: see the module.
        attempts: how often it was begun.
        created: seconds since 1970, as are the two below; None if that has not happened.
        problem: why it failed, for people; None if it has not.
    """

    number: int
    id: str
    owner: str
    request: Mapping[str, Any]
    state: State
    attempts: int
    created: float
    started: float | None
    finished: float | None
    problem: str | None

    @classmethod
    def of(cls, row: Sequence[Any]) -> Self:
        """The check of a row of ``COLUMNS``."""
        number, id_, owner, request, *rest = row
        return cls(number, id_, owner, json.loads(request), *rest)


#: What ``Check.of`` reads.
COLUMNS = "number, id, owner, request, state, attempts, created, started, finished, problem"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was told of a check.

    Attributes:
        number: from 1; without gaps, unless what was told is no longer kept.
        name: what happened.
        data: more of it, as JSON holds it.
    """

    number: int
    name: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A check for whoever is to do it; ``token`` proves that it is still theirs."""

    check: Check
    token: str
