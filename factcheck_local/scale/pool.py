"""Answers handed out to Ray's actors: retried where a worker is lost, each one's outcome once."""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from factcheck_local.core import egress
from factcheck_local.core.errors import (
    EgressError,
    FactcheckError,
    InferenceError,
    InputError,
    RecordError,
)
from factcheck_local.pipeline.run import unlike
from factcheck_local.scale.worker import Outcome, Plan, Task, Worker

#: Workers that an answer may lose before it is given up.
ATTEMPTS = 3

#: Seconds that a run without any worker waits for one: until its models are loaded.
PATIENCE = 600.0

#: What tells Ray whether to report to its makers how it is used.
USAGE = "RAY_USAGE_STATS_ENABLED"

logger = logging.getLogger(__name__)


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray: a cluster's, or one of this machine alone, which ends with this.

    Args:
        address: ``ray://HOST:PORT`` of a cluster's client server; None for this machine.

    Yields:
        The module ``ray``.

    Raises:
        InputError: if Ray is not installed, or there is no such cluster.
        EgressError: if the cluster reports its usage.
    """
    os.environ[USAGE] = "0"
    if address is None:
        # Its ports are open to whoever reaches this machine, and they run code.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        import ray
    except ImportError as error:
        raise InputError(
            "--workers: Ray is not installed", hint="pip install 'factcheck-local[scale]'"
        ) from error
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address is None:
        ray.init(address="local", include_dashboard=False, **options)
    else:
        place = urlsplit(address)
        egress.allow(place.hostname or "", place.port or 0)
        try:
            try:
                ray.init(address, **options)
            except ConnectionAbortedError:
                # A busy head may not start the server of this client within Ray's 30 seconds.
                ray.init(address, **options)
        except (ConnectionError, RuntimeError, ray.exceptions.RayError) as error:
            raise InputError(f"{address}: no cluster of Ray: {last_line(error)}") from error
    try:
        if address is not None:
            _check_usage(ray, address)
        yield ray
    finally:
        ray.shutdown()


def _check_usage(ray: Any, address: str) -> None:  # noqa: ANN401
    """Refuse a cluster whose first node, which would do so, is not told to report nothing."""
    (head,) = (n for n in ray.nodes() if n["Alive"] and "node:__internal_head__" in n["Resources"])
    asked = ray.remote(os.getenv).options(num_cpus=0, scheduling_strategy=_on(head))
    if ray.get(asked.remote(USAGE)) != "0":
        raise EgressError(
            f"{address}: this cluster tells Ray's makers how it is used",
            hint=f"start it with {USAGE}=0",
        )


def _on(node: dict[str, Any]) -> Any:  # noqa: ANN401
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)


@dataclass(frozen=True, eq=False)
class _Seat:
    """Where a worker may be: a GPU with its share of the cores, or a node without one."""

    node: dict[str, Any]
    resources: dict[str, int]


@dataclass(frozen=True, eq=False)
class _Hired:
    seat: _Seat
    actor: Any


class Pool:
    """The workers of a run: one for each GPU, one for each node that has none.

    Args:
        ray: what `connected` gives.
        plan: of the run.
        worker: what each actor is.

    Attributes:
        lost: workers that ended by themselves so far.
    """

    def __init__(self, ray: Any, plan: Plan, worker: type[Worker] = Worker) -> None:  # noqa: ANN401
        self._ray = ray
        self._actor = ray.remote(worker)
        self._plan = plan
        self._hired: list[_Hired] = []
        self._alike: dict[str, Any] | None = None
        self.lost = 0

    def verify(self, tasks: Iterable[tuple[int, Task]]) -> Iterator[tuple[int, Outcome]]:
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

    def _verify(self, tasks: Iterable[tuple[int, Task]]) -> Iterator[tuple[int, Outcome]]:
        rest, again = iter(tasks), deque[tuple[int, Task]]()
        losses: Counter[int] = Counter()
        idle: list[_Hired] = []
        why = "it has no node with a processor"
        # Each call with its worker and its task, which is None for one that gets ready.
        busy: dict[Any, tuple[_Hired, tuple[int, Task] | None]] = {}

        def hand_out() -> None:
            while idle and (task := again.popleft() if again else next(rest, None)) is not None:
                worker = idle.pop()
                busy[worker.actor.verify.remote(task[1])] = (worker, task)

        for seat in self._seats():
            ready, hired = self._hire(seat)
            busy[ready] = (hired, None)
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
            worker, task = busy.pop(found[0])
            try:
                said = self._ray.get(found[0])
            except self._ray.exceptions.RayError as error:
                why = last_line(error)
                logger.info("a worker on %s was lost: %s", _name(worker), type(error).__name__)
                self._ray.kill(worker.actor)
                self.lost += 1
                if task is None:
                    continue  # it would be lost again
                ready, hired = self._hire(worker.seat)
                busy[ready] = (hired, None)
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
                raise _from(worker, said)  # as it would end a run in one process
            hand_out()  # the worker goes on while this outcome is written
            yield task[0], said

    def _seats(self) -> list[_Seat]:
        found = []
        for node in self._ray.nodes():
            has = node["Resources"] if node["Alive"] else {}
            cores, gpus = int(has.get("CPU", 0)), int(has.get("GPU", 0))
            if cores:
                one = {"num_cpus": cores // gpus, "num_gpus": 1} if gpus else {"num_cpus": cores}
                found += [_Seat(node, one)] * max(gpus, 1)
        return found

    def _hire(self, seat: _Seat) -> tuple[Any, _Hired]:
        """Start a worker; returns the call that says when it is ready, and the worker."""
        actor = self._actor.options(scheduling_strategy=_on(seat.node), **seat.resources).remote(
            self._plan
        )
        self._hired.append(_Hired(seat, actor))
        return actor.ready.remote(), self._hired[-1]

    def _check(self, worker: _Hired, said: dict[str, Any] | FactcheckError) -> None:
        """Refuse a worker that cannot work, or would work otherwise than the first."""
        if isinstance(said, FactcheckError):
            raise _from(worker, said)
        self._alike = self._alike or json.loads(json.dumps(said))
        if differs := unlike(self._alike, said):
            raise _from(worker, FactcheckError(f"is not like the others: {differs[0]}"))


def _from(worker: _Hired, error: FactcheckError) -> FactcheckError:
    return type(error)(f"worker on {_name(worker)}: {error}", hint=error.hint)


def _name(worker: _Hired) -> str:
    return str(worker.seat.node["NodeManagerHostname"])


def last_line(error: Exception) -> str:
    """What is wrong, of a message that has a traceback or a log in front of it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
