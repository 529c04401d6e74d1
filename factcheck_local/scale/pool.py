"""Answers handed out to Ray's actors: retried where a worker is lost, each one's outcome once."""

from __future__ import annotations

import json
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from factcheck_local.core.errors import FactcheckError, InferenceError, RecordError
from factcheck_local.pipeline.run import unlike
from factcheck_local.scale.cluster import ATTEMPTS, PATIENCE, Asked, Hired, Seat, last_line, seats

logger = logging.getLogger(__name__)


#: What comes of a task.
Made = TypeVar("Made", covariant=True)


class Working(Protocol[Made]):
    """What each actor of a pool is; see ``scale.worker.Worker`` for the one of ``verify``."""

    def ready(self) -> dict[str, Any] | FactcheckError:
        """Load what every task needs; returns the conditions that are to be the same for all."""

    def verify(self, task: Any) -> Made:  # noqa: ANN401
        """Do a task."""


@runtime_checkable
class Divisible(Protocol):
    """A task of several parts, which are handed out one by one once a worker was lost over it."""

    def singly(self) -> list[tuple[int, Any]]:
        """The parts, each under its own number, of no further ones."""


class Pool(Generic[Made]):
    """The workers of a run: one for each GPU, one for each node that has none.

    Args:
        ray: what `connected` gives.
        plan: of the run; what a worker is made with.
        worker: what each actor is.

    Attributes:
        lost: workers that ended by themselves so far.
    """

    def __init__(self, ray: Any, plan: object, worker: Callable[[Any], Working[Made]]) -> None:  # noqa: ANN401
        self._ray = ray
        self._class = worker
        self._plan = plan
        self._hired: list[Hired] = []
        self._alike: dict[str, Any] | None = None
        self.lost = 0

    def verify(
        self, tasks: Iterable[tuple[int, Any]]
    ) -> Iterator[tuple[int, Made | FactcheckError]]:
        """The outcome of each task under its number, as they come.

        A worker has one task at a time, so that what ended it is known. Where it is lost, its task
        goes to the next one that is free, and another worker starts on its node. All of them end
        with this.

        Raises:
            FactcheckError: if a worker cannot be set up, or none is left.
        """
        try:
            yield from self._verify(tasks)
        finally:
            for worker in self._hired:
                self._ray.kill(worker.actor)

    def _verify(
        self, tasks: Iterable[tuple[int, Any]]
    ) -> Iterator[tuple[int, Made | FactcheckError]]:
        rest, again = iter(tasks), deque[tuple[int, Any]]()
        losses: Counter[int] = Counter()
        idle: list[Hired] = []
        why = "it has no node with a processor"
        # Each reply with its call and its task, which is None for one that gets ready.
        busy: dict[Any, tuple[Asked, tuple[int, Any] | None]] = {}

        def ask(asked: Asked, task: tuple[int, Any] | None) -> None:
            busy[asked.reply] = (asked, task)

        def hand_out() -> None:
            while idle and (task := again.popleft() if again else next(rest, None)) is not None:
                ask(Asked(idle.pop(), "verify", task[1]), task)

        for seat in seats(self._ray):
            ask(Asked(self._hire(seat), "ready"), None)
        while True:
            hand_out()
            at_work = any(task is not None for _, task in busy.values())
            if not at_work and idle:
                return
            if not busy:
                raise FactcheckError(f"no worker is left: {why}")
            found, _ = self._ray.wait(list(busy), timeout=None if at_work else PATIENCE)
            if not found:
                raise FactcheckError(
                    f"no worker was ready after {PATIENCE:.0f} s", hint="ray status: is it in use?"
                )
            asked, task = busy.pop(found[0])
            worker = asked.worker
            try:
                said = self._ray.get(found[0])
            except self._ray.exceptions.RayError as error:
                why = last_line(error)
                logger.info("a worker on %s was lost: %s", worker.seat.host, type(error).__name__)
                self._ray.kill(worker.actor)
                self.lost += 1
                if task is None:
                    continue  # it would be lost again
                ask(Asked(self._hire(worker.seat), "ready"), None)
                if not asked.began(self._ray):
                    again.append(task)  # it was lost before, as on a node that died
                    continue
                parts = task[1].singly() if isinstance(task[1], Divisible) else [task]
                if len(parts) > 1:
                    again.extend(parts)
                    continue
                losses[task[0]] += 1
                if losses[task[0]] < ATTEMPTS:
                    again.append(task)
                else:
                    kind = type(getattr(error, "cause", None) or error).__name__
                    yield task[0], FactcheckError(f"{ATTEMPTS} workers were lost over it: {kind}")
                continue
            idle.append(worker)
            if task is None:
                self._check(worker, said)
                continue
            if isinstance(said, FactcheckError) and not isinstance(
                said, RecordError | InferenceError
            ):
                raise worker.said(said)  # as it would end a run in one process
            hand_out()  # the worker goes on while this outcome is written
            yield task[0], said

    def _hire(self, seat: Seat) -> Hired:
        self._hired.append(seat.hired(self._ray, self._class, self._plan))
        return self._hired[-1]

    def _check(self, worker: Hired, said: dict[str, Any] | FactcheckError) -> None:
        """Refuse a worker that cannot work, or would work otherwise than the first."""
        if isinstance(said, FactcheckError):
            raise worker.said(said)
        self._alike = self._alike or json.loads(json.dumps(said))
        if differs := unlike(self._alike, said):
            raise worker.said(FactcheckError(f"is not like the others: {differs[0]}"))
