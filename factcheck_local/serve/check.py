"""A check as it is kept, and what may be wrong with one that comes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from factcheck_local.core.errors import FactcheckError

State = Literal["queued", "running", "done", "failed", "cancelled"]

#: States that no check leaves.
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")


class QueueFull(FactcheckError):
    """As many checks wait as may, at all or of one caller."""


class KeyReused(FactcheckError):
    """An idempotency key came with another request than before."""


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
