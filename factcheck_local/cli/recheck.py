"""factcheck recheck: past runs against the store as it is now."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from factcheck_local.cli.common import (
    STDIN,
    check_writable,
    input_name,
    json_option,
    replace_file,
    write_json,
)
from factcheck_local.cli.diff import DIFFERS
from factcheck_local.cli.messages import complain, tell, undraw
from factcheck_local.cli.outcome import BAD_INPUT, UNSCORED
from factcheck_local.cli.places import open_stores, stores_option
from factcheck_local.cli.progress import many_progress, stage_progress
from factcheck_local.cli.stored import check_complete, is_summary, read_json, warn_of_models
from factcheck_local.cli.workers import cluster_address, workers_option
from factcheck_local.core.errors import (
    FactcheckError,
    InferenceError,
    InputError,
    ModelError,
    RecordError,
    StoreError,
)
from factcheck_local.indexer.folder import find_store
from factcheck_local.indexer.joined import ReadableStore, ReadPlace
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import to_dict
from factcheck_local.report.diff import Comparison, compare, diff_to_dict
from factcheck_local.report.diff_text import diff_to_text
from factcheck_local.report.replay import TAKEN_OVER
from factcheck_local.report.stored import checked, claims_of, settings_of
from factcheck_local.scale.cluster import connected
from factcheck_local.scale.pool import Pool
from factcheck_local.scale.worker import Plan, Task, Tasks, Worker

#: What a run's claims come to now, or why that cannot be said.
_New = dict[str, Any] | FactcheckError

#: Exit codes, the one that matters most last: a run that could not be repeated hides the others.
_WORST = (0, DIFFERS, UNSCORED, BAD_INPUT)


@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """A run as it was stored, and what repeats it; compared by identity."""

    name: str
    assessment: dict[str, Any]
    settings: Settings
    claims: Record
    digest: str

    @classmethod
    def of(cls, name: str, found: dict[str, Any]) -> _Past:
        called = input_name(name)
        check_complete(found, called)
        index = found["run"]["index"]
        if index is None:
            raise RecordError(f"{called}: its passages came with a record, not from a store")
        settings, claims = settings_of(found, called), claims_of(found, called)
        return cls(name, found, settings, claims, index["digest"])


#: Repeats runs of the same settings, in any order.
_Repeat = Callable[[Settings, Sequence[_Past]], Iterator[tuple[_Past, _New]]]


@dataclass(frozen=True, slots=True)
class _Rechecked:
    """A past run beside its repetition; all None where the index is the same."""

    past: _Past
    new: dict[str, Any] | None = None
    comparison: Comparison | None = None
    failure: FactcheckError | None = None

    @property
    def unscored(self) -> bool:
        return self.new is not None and bool(self.new["summary"]["counts"]["unscored"])


@click.command("recheck")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@stores_option
@click.option("--write", is_flag=True, help="Put the new run in the place of the old one.")
@click.option("--all", "every", is_flag=True, help="Also runs since which the index is the same.")
@workers_option
@json_option
def command(
    runs: tuple[str, ...],
    store_path: ReadPlace | None,
    write: bool,
    every: bool,
    workers: str | None,
    as_json: bool,
) -> None:
    """Verify the claims of past RUNs (the JSON of verify) against the store as it is now.

    Claims and settings are those that the run records; passages are looked for anew. Shown are
    the verdicts that no longer hold, and by which document.

    With --workers ray the runs are shared out to a worker per GPU, or per machine, with
    --workers ray://HOST:PORT to those of a cluster.

    \b
    Exit codes:
      0 every verdict still holds
      1 some verdict differs
      2 usage or bad input, or a run could not be repeated; the others were
      3 some claim could not be scored; such a run is not written
    \b
    Example:
      factcheck recheck answers/*.json --write
    """
    if write and STDIN in runs:
        raise InputError("standard input: cannot be written to")
    past = _read(runs)
    for run in past if write else ():
        check_writable(Path(run.name))
    done: list[dict[str, Any]] = []
    code = 0
    place = store_path or find_store(Path.cwd())
    try:
        with open_stores(place) as store:
            present = frozenset(s.source for s in store.sources())
            repeat = partial(_by_workers, workers, place) if workers else partial(_here, store)
            embedder = store.fingerprint.embedder.id
            repeated = partial(_repeated, repeat, embedder)
            for found in _recheck(past, store.digest(), repeated, every=every):
                if found.failure is not None and len(past) == 1:
                    raise found.failure
                written = write and found.new is not None and not found.unscored
                if written:
                    text = json.dumps(found.new, ensure_ascii=False, indent=2, allow_nan=False)
                    replace_file(Path(found.past.name), (text + "\n").encode())
                if as_json:
                    done.append(_as_dict(found, present, written=written))
                else:
                    _show(found, present, written=written)
                code = max(code, _exit_code(found), key=_WORST.index)
    finally:
        # Of an interrupted run, too: what was written is not told a second time.
        if as_json and (done or sys.exception() is None):
            order = {input_name(name): i for i, name in enumerate(runs)}
            write_json(sorted(done, key=lambda row: order[row["run"]]))
    sys.exit(code)


def _read(names: Sequence[str]) -> list[_Past]:
    """The runs of all files; the summary in a folder of several answers is passed over.

    Raises:
        InputError: if a file is anything else, or none is a run.
    """
    found = []
    for name in names:
        value, called = read_json(name)
        if is_summary(value):
            tell(f"{called}: the summary of several answers, passed over")
        else:
            found.append(_Past.of(name, checked(value, called)))
    if not found:
        raise RecordError(f"{', '.join(names)}: no run of verify")
    return found


def _recheck(
    past: Sequence[_Past],
    digest: str,
    repeat: _Repeat,
    *,
    every: bool,
) -> Iterator[_Rechecked]:
    """Each run, those of the same settings one after the other, so that models load once."""
    for settings in dict.fromkeys(p.settings for p in past):
        due = []
        for run in (p for p in past if p.settings == settings):
            if every or run.digest != digest:
                due.append(run)
            else:
                yield _Rechecked(run)
        for run, new in repeat(settings, due):
            if isinstance(new, FactcheckError):
                yield _Rechecked(run, failure=new)
                continue
            _complete(new, run)
            old_models = run.assessment["run"]["models"]
            warn_of_models(input_name(run.name), old_models, new["run"]["models"])
            yield _Rechecked(run, new, compare(run.assessment, new))


def _repeated(
    repeat: _Repeat, embedder: str, settings: Settings, due: Sequence[_Past]
) -> Iterator[tuple[_Past, _New]]:
    """As ``repeat`` gives them; what no run of these settings can have is why those left fail.

    Args:
        repeat: of runs that are due.
        embedder: the store's.
        settings: of all of them.
        due: the runs.
    """
    left = dict.fromkeys(due)
    try:
        for run, new in repeat(settings, due):
            del left[run]
            yield run, new
    except (StoreError, ModelError) as error:
        if isinstance(error, StoreError) and settings.embedder != embedder:
            # The hint of a store is one for verify.
            error.hint = "verify the answer again: that takes the store's embedder"
        yield from ((run, error) for run in left)


def _here(
    store: ReadableStore, settings: Settings, due: Sequence[_Past]
) -> Iterator[tuple[_Past, _New]]:
    """One after the other, in this process."""
    with FactChecker(settings, store, progress=stage_progress()) as checker:
        for run in due:
            try:
                yield run, to_dict(checker.verify(run.claims))
            except (RecordError, InferenceError) as error:
                yield run, error


def _by_workers(
    workers: str, place: ReadPlace, settings: Settings, due: Sequence[_Past]
) -> Iterator[tuple[_Past, _New]]:
    """As they come from workers, see ``scale.pool``."""
    if not due:
        return
    progress = many_progress()
    with connected(cluster_address(workers)) as ray:
        pool = Pool(ray, Plan(settings, place, Path.cwd()), Worker)
        tasks = ((number, Tasks({number: Task(run.claims)})) for number, run in enumerate(due))
        for count, (number, found) in enumerate(pool.verify(tasks), start=1):
            new = found if isinstance(found, FactcheckError) else found[number]
            if new is None:
                raise RuntimeError("a worker found unchanged what has no earlier run")
            undraw()
            yield due[number], new
            progress("runs", count, len(due))


def _complete(new: dict[str, Any], run: _Past) -> None:
    """Record in a new run where its claims are from."""
    old = run.assessment["run"]
    here = {model["role"] for model in new["run"]["models"]}
    # What split the answer was not asked again.
    new["run"]["models"][:0] = [
        m for m in old["models"] if m["role"] == "llm" and "llm" not in here
    ]
    new["notes"].append(f"{TAKEN_OVER}{old['started']}")


def _exit_code(found: _Rechecked) -> int:
    if found.failure is not None:
        return found.failure.exit_code
    if found.unscored:
        return UNSCORED
    return 0 if found.comparison is None or found.comparison.same else DIFFERS


def _show(found: _Rechecked, present: frozenset[str], *, written: bool) -> None:
    name = input_name(found.past.name)
    if found.failure is not None:
        complain(f"{name}: {found.failure}", found.failure.hint, found.failure.exit_code)
        return
    if found.comparison is None:
        click.echo(f"{name}: skipped: the index is the same as in the run")
        return
    click.echo(f"{name}:")
    for line in diff_to_text(found.comparison, present).splitlines():
        click.echo(f"  {line}")
    if written:
        tell(f"written to {name}")


def _as_dict(found: _Rechecked, present: frozenset[str], *, written: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"run": input_name(found.past.name), "written": written}
    if found.failure is not None:
        return row | {"failure": str(found.failure), "diff": None}
    if found.comparison is None:
        return row | {"skipped": "the index is the same as in the run", "diff": None}
    before = {c["source"] for c in found.past.assessment["contexts"]}
    gone = sorted(before - present)
    return row | {"removed_sources": gone, "diff": diff_to_dict(found.comparison)}
