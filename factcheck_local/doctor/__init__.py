"""Looks at everything that a run needs, and says what is amiss and how to mend it.

Each check is a generator of `Finding`; none of them changes anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from factcheck_local.doctor.environment import check_egress, check_versions
from factcheck_local.doctor.finding import Finding
from factcheck_local.doctor.machine import (
    available_memory,
    check_device,
    check_disk,
    check_gpu,
    check_memory,
)
from factcheck_local.doctor.models import check_models
from factcheck_local.doctor.store import check_store
from factcheck_local.indexer.address import ServerAddress
from factcheck_local.models.cards import data_directory
from factcheck_local.pipeline.settings import Settings

__all__ = ["Finding", "examine"]


def examine(
    settings: Settings, place: Path | ServerAddress | None, *, speed: bool = False
) -> Iterator[Finding]:
    """Every check, in the order in which a run depends on it.

    Args:
        settings: of the run that is meant, which name its models.
        place: its store; None for none.
        speed: whether its models are timed, too.
    """
    yield from check_versions()
    yield from check_egress()
    cards = yield from check_models(settings)
    yield from check_store(place, settings)
    yield from check_gpu()
    yield from check_device()
    if cards is None:
        return  # said among the models
    yield from check_memory(cards, available_memory())
    folder = place if isinstance(place, Path) else None
    yield from check_disk(cards, data_directory(), folder)
    if speed:
        # Not before: it needs what a run needs.
        from factcheck_local.doctor.speed import check_speed

        yield from check_speed(cards)
