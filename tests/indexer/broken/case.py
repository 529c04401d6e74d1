"""One file of the corpus, and what several of its makers share."""

from __future__ import annotations

import random
from typing import NamedTuple


class Case(NamedTuple):
    """A file, the list of the report that it ends in, and what the reason begins with."""

    name: str
    data: bytes
    outcome: str
    reason: str


def indexed(name: str, data: str | bytes, reason: str = r"\d+ passages?$") -> Case:
    return Case(name, data.encode() if isinstance(data, str) else data, "indexed", reason)


def failed(name: str, data: str | bytes, reason: str) -> Case:
    return Case(name, data.encode() if isinstance(data, str) else data, "failed", reason)


def skipped(name: str, data: str | bytes, reason: str) -> Case:
    return Case(name, data.encode() if isinstance(data, str) else data, "skipped", reason)


NESTED = r"is nested too deeply$"
NO_TEXT = r"holds no text$"
NOISE = bytes(random.Random(0).randrange(256) for _ in range(600))
LAUGHS = (
    '<!DOCTYPE a [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(c)} "{f"&{chr(c - 1)};" * 10}">' for c in range(ord("b"), ord("l")))
    + "]>"
)
