"""What a server tells of itself, for Prometheus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from factcheck_local.serve.check import State


class Measures:
    """Numbers of this server alone, and none of the process's other libraries."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._checks = Gauge(
            "factcheck_checks", "Checks by state.", ["state"], registry=self._registry
        )
        self._ended = Gauge(
            "factcheck_worker_ends",
            "How often the process with the models ended by itself.",
            registry=self._registry,
        )

    def text(self, counts: Mapping[str, int], ended: int) -> tuple[bytes, str]:
        """The numbers as Prometheus reads them, and their media type.

        Args:
            counts: of checks, by state.
            ended: see ``Supervisor.ended``.
        """
        for state in get_args(State):
            self._checks.labels(state).set(counts.get(state, 0))
        self._ended.set(ended)
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
