"""What webhooks are still to be told: a row for each job that has ended and each address.

The rows are written in the transaction that ends a job (``Jobs``), whichever process does that, and
go when the address has taken its own: each is told at least once, whoever is killed when.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from factcheck_local.serve.jobs import Jobs


@dataclass(frozen=True, slots=True)
class Delivery:
    """Something to tell an address.

    Attributes:
        id: the same each time it is tried.
        job: id of what has ended.
        attempts: how often it was tried.
    """

    id: str
    job: str
    attempts: int


class Outbox:
    """The deliveries of a queue.

    Args:
        jobs: the queue.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def address(self, urls: Sequence[str]) -> None:
        """From now on these are told, and no others; what others were not told is let go."""
        marks = ", ".join("?" * len(urls))
        with self._jobs.writing() as db:
            db.execute("DELETE FROM hooks")
            db.executemany("INSERT OR IGNORE INTO hooks VALUES (?)", [(url,) for url in urls])
            db.execute(f"DELETE FROM deliveries WHERE url NOT IN ({marks})", tuple(urls))

    def due(self, url: str) -> list[Delivery]:
        """What an address is to be told by now, the oldest first."""
        with self._jobs.connected() as db:
            rows = db.execute(
                "SELECT id, check_id, attempts FROM deliveries WHERE url = ? AND due <= ? "
                "ORDER BY due",
                (url, time.time()),
            ).fetchall()
        return [Delivery(*row) for row in rows]

    def drop(self, delivery: Delivery) -> None:
        """It was taken, or is given up."""
        with self._jobs.writing() as db:
            db.execute("DELETE FROM deliveries WHERE id = ?", (delivery.id,))

    def put_off(self, delivery: Delivery, seconds: float) -> None:
        """It was tried in vain, and is due again in so many seconds."""
        with self._jobs.writing() as db:
            db.execute(
                "UPDATE deliveries SET attempts = attempts + 1, due = ? WHERE id = ?",
                (time.time() + seconds, delivery.id),
            )
