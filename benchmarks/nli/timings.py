"""How long scorings took, kept between runs as JSON lines.

Only what was really computed is timed, and a timing counts on the machine that
made it. Scores are kept apart, by the package's own ``ScoreCache``.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

#: ``scoring``: a premise read for the first time. ``pass``: a repetition over the
#: first pairs of a set. ``run``: a process that loaded the model and scored pairs.
Kind = Literal["scoring", "pass", "run"]


@dataclass(frozen=True, slots=True)
class Timing:
    """One measurement of a model.

    Attributes:
        model: id of the scorer, which names its prompt.
        sha256: of its weights.
        machine: see ``factcheck_local.evaluate.machine``.
        digest: sha256 of the set's file; empty for a run.
        kind: what was timed.
        pairs: how many were scored.
        seconds: for a run, those that loading took.
        peak_bytes: for a run, its largest resident memory; else 0.
    """

    model: str
    sha256: str
    machine: str
    digest: str
    kind: Kind
    pairs: int
    seconds: float
    peak_bytes: int = 0


class TimingLog:
    """The file of timings, seen by one model on one machine."""

    def __init__(self, path: Path, model: str, sha256: str, machine: str) -> None:
        self._path = path
        self._own = (model, sha256, machine)

    def read(self, kind: Kind, digest: str = "") -> list[Timing]:
        """The model's timings of a kind on this machine, oldest first."""
        return [t for t in self._all() if self._is_own(t) and (t.kind, t.digest) == (kind, digest)]

    def add(
        self, kind: Kind, pairs: int, seconds: float, digest: str = "", peak_bytes: int = 0
    ) -> None:
        """Append one, at once, so that an interrupted run loses none."""
        timing = Timing(*self._own, digest, kind, pairs, seconds, peak_bytes)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(timing)) + "\n")

    def forget(self, digest: str) -> None:
        """Drop the model's timings of a set on this machine."""
        kept = [t for t in self._all() if not (self._is_own(t) and t.digest == digest)]
        text = "".join(json.dumps(asdict(t)) + "\n" for t in kept)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(text, encoding="utf-8")

    def _all(self) -> list[Timing]:
        if not self._path.is_file():
            return []
        lines = self._path.read_text(encoding="utf-8").splitlines()
        return [Timing(**json.loads(line)) for line in lines]

    def _is_own(self, timing: Timing) -> bool:
        return (timing.model, timing.sha256, timing.machine) == self._own


@dataclass(frozen=True, slots=True)
class Speed:
    """Pairs per second, and what that rests on."""

    pairs_per_second: float
    basis: str


def speed(passes: Sequence[Timing], scorings: Sequence[Timing]) -> Speed | None:
    """The median of the passes if there are two or more, else all scorings together.

    None where nothing was timed.
    """
    if len(passes) > 1:
        rates = [t.pairs / t.seconds for t in passes]
        return Speed(
            statistics.median(rates), f"median of {len(passes)} passes, {passes[0].pairs} pairs"
        )
    timed = [*scorings] or [*passes]
    if not timed:
        return None
    pairs = sum(t.pairs for t in timed)
    return Speed(pairs / sum(t.seconds for t in timed), f"all of {pairs} pairs")
