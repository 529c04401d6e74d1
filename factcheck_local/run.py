"""One run of the pipeline: what it gathers on its way, and what it ends in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from factcheck_local import __version__
from factcheck_local.config import Settings
from factcheck_local.types import Assessment


@dataclass(frozen=True, slots=True)
class Run:
    """An assessment and what it takes to repeat it."""

    assessment: Assessment
    settings: Settings
    models: tuple[dict[str, Any], ...]
    index: dict[str, Any] | None
    started: str
    seconds: dict[str, float]
    version: str = __version__


@dataclass
class Work:
    """What one run gathers on its way through the stages."""

    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage; what it takes adds up over several visits."""
        begun = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def note(self, count: int, text: str) -> None:
        """Report a count, unless it is 0."""
        if count:
            self.notes.append(f"{count} {text}")
