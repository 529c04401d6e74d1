"""How far a command is, on stderr: drawn on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from factcheck_local.cli import messages
from factcheck_local.cli.messages import draw, tell, undraw
from factcheck_local.core.errors import InputError
from factcheck_local.core.progress import StageProgress, silent
from factcheck_local.indexer.sync import Progress, Step
from factcheck_local.report.view import one_line

#: The variable that says after how many seconds a log gets another line; ``inf`` for none.
SECONDS = "FACTCHECK_PROGRESS_SECONDS"


class Lines:
    """Progress for a log: a line every few seconds, with the rate and the time that remains.

    Args:
        every: seconds between two lines; the first comes after as many.
        clock: seconds that only grow.
        say: takes a line.
    """

    def __init__(
        self,
        every: float,
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], None] = tell,
    ) -> None:
        self._every = every
        self._clock = clock
        self._say = say
        self._stage = ""
        self._begun = self._said = clock()

    def __call__(self, stage: str, done: int, count: int) -> None:
        """Take note of how far a stage is; say so if it is time."""
        now = self._clock()
        if stage != self._stage:
            # What was done before a stage was heard of is not known to have taken its time.
            self._stage, self._begun, self._said = stage, now, now
        if now - self._said < self._every or not done:
            return
        self._said = now
        rate = done / (now - self._begun)
        left = (count - done) / rate
        self._say(f"{stage} {done}/{count}, {rate:.2g} per second, {left:.0f} s left")


def stage_progress() -> StageProgress:
    """Shows how far each stage of a verification is."""
    if messages.quiet:
        return silent
    if not sys.stderr.isatty():
        return Lines(_seconds())

    def show(stage: str, done: int, count: int) -> None:
        end = "\n" if done >= count else ""
        draw(f"{stage} {done}/{count}{end}")

    return show


def many_progress() -> StageProgress:
    """Shows how many of many answers are done, their rate and the time left."""
    if messages.quiet:
        return silent
    if not sys.stderr.isatty():
        return Lines(_seconds())
    lines = Lines(0.5, say=draw)

    def show(stage: str, done: int, count: int) -> None:
        lines(stage, done, count)
        if done >= count:
            undraw()

    return show


def _seconds() -> float:
    """Between two lines of a log.

    Raises:
        InputError: if the variable holds no number above 0.
    """
    value = os.environ.get(SECONDS, "10")
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise InputError(f"{SECONDS} is {value!r}: expected seconds, a number above 0")
    return seconds


def answer_progress(number: int, count: int, name: str) -> None:
    """Says which of several answers is next."""
    if sys.stderr.isatty():
        tell(f"answer {number}/{count}: {name}")


@contextmanager
def index_progress() -> Iterator[Progress | None]:
    """A bar with the files and passages so far, the rate and the time that remains."""
    if messages.quiet:
        yield None
        return
    if not sys.stderr.isatty():
        lines = Lines(_seconds())
        yield lambda step: lines("files", step.files, step.all_files)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        BarColumn(),
        TextColumn("{task.fields[files]} files, {task.fields[passages]} passages"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None, files="0/0", passages=0, rate="")

        def show(step: Step) -> None:
            elapsed = bars.tasks[0].elapsed or 0.0
            bars.update(
                task,
                # Files differ in size by orders of magnitude.
                completed=step.size,
                total=step.all_size,
                files=f"{step.files}/{step.all_files}",
                passages=step.passages,
                rate=f"{step.passages / elapsed:.0f}/s" if elapsed > 1 else "",
                description=one_line(step.source)[-40:],
            )

        yield show
