"""Ray: this machine's or a cluster's, and where in it a worker may be."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from factcheck_local.core import egress
from factcheck_local.core.errors import EgressError, FactcheckError, InputError

#: Workers that a piece of work may lose before it is given up.
ATTEMPTS = 3

#: Seconds that a run without any worker waits for one: until its models are loaded.
PATIENCE = 600.0

#: What tells Ray whether to report to its makers how it is used.
USAGE = "RAY_USAGE_STATS_ENABLED"


def check_installed() -> None:
    """See that Ray is there, before anything is begun that needs it.

    Raises:
        InputError: if it is not.
    """
    if find_spec("ray") is None:
        raise InputError(
            "--workers: Ray is not installed", hint="pip install 'factcheck-local[scale]'"
        )


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray: a cluster's, or one of this machine alone, which ends with this.

    Args:
        address: ``ray://HOST:PORT`` of a cluster's client server; None for this machine.

    Yields:
        The module ``ray``.

    Raises:
        InputError: if Ray is not installed or does not start, or there is no such cluster.
        EgressError: if the cluster reports its usage.
    """
    os.environ[USAGE] = "0"
    if address is None:
        # Its ports are open to whoever reaches this machine, and they run code.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    check_installed()
    import ray

    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    failures = (OSError, RuntimeError, ValueError, ray.exceptions.RayError)
    try:
        if address is None:
            ray.init(address="local", include_dashboard=False, **options)
        else:
            place = urlsplit(address)
            egress.allow(place.hostname or "", place.port or 0)
            try:
                ray.init(address, **options)
            except ConnectionAbortedError:
                # A busy head may not start the server of this client within Ray's 30 seconds.
                ray.init(address, **options)
    except failures as error:
        what = "Ray does not start here" if address is None else f"{address}: no cluster of Ray"
        raise InputError(f"{what}: {last_line(error)}") from error
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
class Seat:
    """Where a worker may be: a GPU with its share of the cores, or a node without one."""

    node: dict[str, Any]
    resources: dict[str, int]

    @property
    def host(self) -> str:
        """Name of the node's machine."""
        return str(self.node["NodeManagerHostname"])

    def hired(self, ray: Any, worker: Callable[..., object], *arguments: object) -> Hired:  # noqa: ANN401
        """Start a worker there, made with some arguments."""
        placed = ray.remote(_Process).options(scheduling_strategy=_on(self.node), **self.resources)
        return Hired(self, placed.remote(worker, *arguments))


@dataclass(frozen=True, eq=False)
class Hired:
    """A worker, and where it is."""

    seat: Seat
    actor: Any

    def said(self, error: FactcheckError) -> FactcheckError:
        """What it says is wrong, with where it is."""
        return type(error)(f"worker on {self.seat.host}: {error}", hint=error.hint)


class _Process:
    """What is at the other end: a worker, and word that it is there."""

    def __init__(self, worker: Callable[..., object], *arguments: object) -> None:
        self._worker = worker(*arguments)

    def is_there(self) -> bool:
        return True

    def call(self, method: str, *arguments: object) -> object:
        return getattr(self._worker, method)(*arguments)


class Asked:
    """A call of a worker.

    Args:
        worker: who is called.
        method: of the worker's class.
        arguments: what it is called with.

    Attributes:
        worker: who is called.
        reply: what to get from Ray.
    """

    def __init__(self, worker: Hired, method: str, *arguments: object) -> None:
        self.worker = worker
        # A worker does one call after the other: this one is done when the next begins.
        self._there = worker.actor.is_there.remote()
        self.reply = worker.actor.call.remote(method, *arguments)

    def began(self, ray: Any) -> bool:  # noqa: ANN401
        """Whether a worker that was lost was there when the call came."""
        try:
            return bool(ray.get(self._there))
        except ray.exceptions.RayError:
            return False


def seats(ray: Any) -> list[Seat]:  # noqa: ANN401
    """One for each GPU, and one for each node that has none."""
    found = []
    for node in ray.nodes():
        has = node["Resources"] if node["Alive"] else {}
        cores, gpus = int(has.get("CPU", 0)), int(has.get("GPU", 0))
        if cores:
            one = {"num_cpus": cores // gpus, "num_gpus": 1} if gpus else {"num_cpus": cores}
            found += [Seat(node, one)] * max(gpus, 1)
    return found


def last_line(error: Exception) -> str:
    """What is wrong, of a message that has a traceback or a log in front of it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
