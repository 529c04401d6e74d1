"""What a worker does: its models are loaded once, then one answer follows the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from factcheck_local import __version__
from factcheck_local.core import egress
from factcheck_local.core.errors import FactcheckError
from factcheck_local.indexer.joined import ReadableStore, ReadPlace, below, open_place
from factcheck_local.models.offline import go_offline
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.run import prompts_here
from factcheck_local.pipeline.settings import JUDGES, Settings
from factcheck_local.report import to_dict

#: What comes of an answer: its assessment; None where that of an earlier run holds; or why neither.
Outcome = dict[str, Any] | FactcheckError | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What all workers of a run have in common.

    Attributes:
        settings: of the run.
        store: what the user calls the store; None for records that bring their passages.
        seen_from: the folder that a store's path starts from, the same on each machine.
        cache: whether scores of pairs are kept in the store and taken from it.
    """

    settings: Settings
    store: ReadPlace | None
    seen_from: Path
    cache: bool = True

    def opened(self) -> ReadableStore | None:
        """The store, called as in the process that the user started."""
        if self.store is None:
            return None
        store = open_place(below(self.store, self.seen_from))
        store.place = str(self.store)
        return store


@dataclass(frozen=True, slots=True)
class Task:
    """One answer.

    Attributes:
        record: what is verified.
        earlier: ``run`` of an assessment of the same record, if there is one.
    """

    record: Record
    earlier: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Tasks:
    """Answers that a worker is handed at once, by number; at least one."""

    by_number: Mapping[int, Task]

    def singly(self) -> list[tuple[int, Tasks]]:
        """One by one, each under its number; see ``pool.Divisible``."""
        return [(number, Tasks({number: task})) for number, task in self.by_number.items()]


class Worker:
    """Verifies answers in a process of its own, which reaches no address that nobody named.

    What is wrong is returned, not raised: Ray would wrap it, and print the traceback.
    """

    def __init__(self, plan: Plan) -> None:
        go_offline()
        egress.guard()
        self._plan = plan
        self._checker: FactChecker | None = None

    def ready(self) -> dict[str, Any] | FactcheckError:
        """Load what every answer needs; returns the conditions of its runs, see ``run.unlike``."""
        plan = self._plan
        try:
            store = plan.opened()
            self._checker = FactChecker(plan.settings, store, cache=plan.cache)
            risk = self._checker.risk
            return {
                "version": __version__,
                "prompts": prompts_here(),
                "models": self._checker.models_used(llm=plan.settings.assessor in JUDGES),
                "risk": asdict(risk) if risk else None,
                "index": {"digest": store.digest()} if store else None,
            }
        except FactcheckError as error:
            return error

    def verify(self, tasks: Tasks) -> dict[int, Outcome] | FactcheckError:
        """What comes of each answer, by number; or what ends the whole run."""
        if self._checker is None:
            raise RuntimeError("a worker is asked before it is ready")
        try:
            found: dict[int, Outcome] = {}
            new: dict[int, Record] = {}
            for number, task in tasks.by_number.items():
                earlier = task.earlier
                if earlier is not None and not self._checker.unlike(task.record, earlier):
                    found[number] = None
                else:
                    new[number] = task.record
            runs = self._checker.verify_together(list(new.values()))
            for number, run in zip(new, runs, strict=True):
                found[number] = run if isinstance(run, FactcheckError) else to_dict(run)
            return found
        except FactcheckError as error:
            return error
