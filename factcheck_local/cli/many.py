"""The outcomes of answers: made here or by workers, written as they come, and summed up."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import click

from factcheck_local.cli.answers import Unusable, answer_name, report_names
from factcheck_local.cli.messages import complain, name_language, tell
from factcheck_local.cli.progress import answer_progress, many_progress
from factcheck_local.cli.sinks import Sink
from factcheck_local.cli.watch import Watch
from factcheck_local.cli.workers import cluster_address
from factcheck_local.core.errors import FactcheckError, InferenceError, RecordError
from factcheck_local.core.text.language import Language
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.report import to_dict
from factcheck_local.scale.cluster import connected
from factcheck_local.scale.pool import Pool
from factcheck_local.scale.worker import Plan, Task, Tasks, Worker

#: The number of an answer, from 1, and its assessment, or why it has none.
Outcomes = Iterator[tuple[int, dict[str, Any] | FactcheckError]]


@dataclass
class Run:
    """A run over answers, and how far it is.

    Attributes:
        given: the answers.
        sink: takes the assessments.
        watch: is told of each answer that is verified here, and of those that cannot be.
        summaries: of the assessments that were made, by number.
        failed: names of those that could not be, with the reason, by number.
        seconds: that each took, by number.
    """

    given: Sequence[Record | Unusable]
    sink: Sink
    watch: Watch = field(default_factory=Watch)
    summaries: dict[int, dict[str, Any]] = field(default_factory=dict)
    failed: dict[int, tuple[str, str]] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)

    @cached_property
    def called(self) -> dict[int, str]:
        """What to call each answer, by number."""
        names = (f.name if isinstance(f, Unusable) else answer_name(f) for f in self.given)
        return dict(enumerate(names, start=1))

    @cached_property
    def records(self) -> dict[int, tuple[str, Record]]:
        """What can be verified, by number, each with the name of its report."""
        usable = {n: f for n, f in enumerate(self.given, start=1) if isinstance(f, Record)}
        names = report_names(list(usable.values()))
        return {n: (name, record) for (n, record), name in zip(usable.items(), names, strict=True)}

    def gather(self, outcomes: Outcomes) -> None:
        """Write every outcome; of many answers, one that fails gets its line and the others go on.

        Raises:
            FactcheckError: if a single answer cannot be verified, or whatever ends the run.
        """
        for number, outcome in outcomes:
            called = self.called[number]
            if isinstance(outcome, FactcheckError):
                if len(self.given) == 1:
                    raise outcome
                why = f"{called}: {outcome}" if number in self.records else str(outcome)
                complain(why, outcome.hint, outcome.exit_code)
                self.failed[number] = (called, why)
                self.watch.fail(number, called, why)
                continue
            if language := outcome["run"]["answer"].get("language"):
                name_language(called, Language(**language))
            self.sink.add(number, *self.records[number], outcome)
            self.summaries[number] = outcome["summary"]
            self.seconds[number] = sum(outcome["run"]["seconds"].values())

    def finish(self, ended: BaseException | None = None) -> None:
        """Write what is of all answers.

        Args:
            ended: what ended the run before; then those that were not reached have failed.
        """
        if ended is not None:
            why = "interrupted" if isinstance(ended, KeyboardInterrupt | click.Abort) else ended
            said = f"not verified, the run ended before: {str(why) or type(ended).__name__}"
            reached = self.summaries.keys() | self.failed.keys()
            self.failed |= {n: (c, said) for n, c in self.called.items() if n not in reached}
        self.sink.finish([failure for _, failure in sorted(self.failed.items())])

    def unusable(self) -> Outcomes:
        """Those that cannot be read."""
        for number, found in enumerate(self.given, start=1):
            if isinstance(found, Unusable):
                yield number, found.error


def here(run: Run, checker: FactChecker) -> Outcomes:
    """One answer after the other, in this process."""
    unusable = dict(run.unusable())
    for number, called in run.called.items():
        if number in unusable:
            yield number, unusable[number]
            continue
        _, record = run.records[number]
        if len(run.given) > 1:
            answer_progress(number, len(run.given), called)
        try:
            on_event = run.watch.begin(number, called)
            earlier = _unchanged(run, number, checker)
            yield number, earlier or to_dict(checker.verify(record, on_event=on_event))
        except (RecordError, InferenceError) as error:
            yield number, error


def _unchanged(run: Run, number: int, checker: FactChecker) -> dict[str, Any] | None:
    """The assessment of an earlier run, if another one would only repeat it."""
    name, record = run.records[number]
    earlier = run.sink.earlier(name, record)
    if earlier is None or checker.unlike(record, earlier["run"]):
        return None
    tell(f"{run.called[number]}: unchanged, not verified again")
    return earlier


def together(run: Run, checker: FactChecker, at_once: int) -> Outcomes:
    """So many answers at once in this process, see ``FactChecker.verify_together``."""
    yield from run.unusable()
    numbers = iter(run.records)
    while some := list(itertools.islice(numbers, at_once)):
        new: dict[int, Record] = {}
        for number in some:
            if earlier := _unchanged(run, number, checker):
                yield number, earlier
            else:
                answer_progress(number, len(run.given), run.called[number])
                _, new[number] = run.records[number]
        for number, made in zip(new, checker.verify_together(list(new.values())), strict=True):
            yield number, made if isinstance(made, FactcheckError) else to_dict(made)


def by_workers(run: Run, workers: str, plan: Plan, at_once: int = 1) -> Outcomes:
    """As they come from workers, see ``scale.pool``: here, or those of a cluster's address.

    Args:
        run: over the answers.
        workers: which.
        plan: what all workers have in common.
        at_once: how many answers a worker is handed to verify together.
    """

    def tasks() -> Iterable[tuple[int, Tasks]]:
        records = iter(run.records.items())
        while some := list(itertools.islice(records, at_once)):
            found: dict[int, Task] = {}
            for number, (name, record) in some:
                earlier = run.sink.earlier(name, record)
                found[number] = Task(record, earlier["run"] if earlier else None)
            yield next(iter(found)), Tasks(found)

    yield from run.unusable()
    progress = many_progress()
    kept = count = 0
    with connected(cluster_address(workers)) as ray:
        pool = Pool(ray, plan, Worker)
        for first, outcomes in pool.verify(tasks()):
            found = {first: outcomes} if isinstance(outcomes, FactcheckError) else outcomes
            for number, outcome in found.items():
                count += 1
                if outcome is None:
                    kept += 1
                    outcome = run.sink.earlier(*run.records[number])
                if outcome is None:
                    what = f"{run.called[number]}: its report was removed meanwhile"
                    raise FactcheckError(what)
                yield number, outcome
                progress("answers", count, len(run.records))
    tell(f"{kept} answers were unchanged; {pool.lost} workers were lost")


def told(run: Run, summary: dict[str, Any]) -> list[str]:
    """A run over many answers in a few lines.

    Args:
        run: that is finished.
        summary: of it, see ``report.many_answers.to_summary``.
    """
    lines = [f"{len(run.summaries)} answers verified, {len(run.failed)} failed"]
    counts = ", ".join(f"{n} {name}" for name, n in summary["counts"].items() if n)
    lines.append(f"claims: {counts or 'none'}")
    if summary["precision"] is not None:
        low_high = summary["precision_interval"]
        between = " ({:.3f} to {:.3f}, 95 %)".format(*low_high) if low_high else ""
        lines.append(f"precision {summary['precision']:.3f}{between}")
    slowest = sorted(run.seconds, key=lambda n: -run.seconds[n])[:3]
    lines += ["slowest: " + ", ".join(f"{run.called[n]} {run.seconds[n]:.1f} s" for n in slowest)]
    return lines if slowest else lines[:-1]
