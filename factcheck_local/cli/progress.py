"""How far a command is, on stderr; silent where that is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from factcheck_local.cli.messages import tell
from factcheck_local.indexer.sync import Progress, Step


def stage_progress() -> Callable[[str, int, int], None]:
    """Shows how far each stage of a verification is."""
    if not sys.stderr.isatty():
        return lambda _stage, _done, _all: None

    def show(stage: str, done: int, count: int) -> None:
        end = "\n" if done >= count else ""
        click.echo(f"\r\033[K{stage} {done}/{count}{end}", nl=False, err=True)

    return show


def answer_progress(number: int, count: int, name: str) -> None:
    """Says which of several answers is next."""
    if sys.stderr.isatty():
        tell(f"answer {number}/{count}: {name}")


@contextmanager
def index_progress() -> Iterator[Progress | None]:
    """A bar with the files and passages so far, the rate and the time that remains."""
    if not sys.stderr.isatty():
        yield None
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
                description=step.source[-40:],
            )

        yield show
