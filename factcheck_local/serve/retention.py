"""Deletes checks some time after they have ended: answers may be as private as the documents."""

from __future__ import annotations

import logging
import threading
import time
from types import TracebackType
from typing import Self

from factcheck_local.core.errors import StoreError
from factcheck_local.serve.audit import AuditLog
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.reviews import Reviews

#: Seconds between looks at what has to go, and of a day.
LOOK, DAY = 3600.0, 86400.0

logger = logging.getLogger(__name__)


class Retention:
    """A thread that deletes what is kept long enough, with its reviews; each deletion is logged.

    Args:
        jobs: the checks.
        reviews: what people say of them.
        audit: whose lines stay.
        days: how long a check is kept after it has ended, more than 0.
    """

    def __init__(self, jobs: Jobs, reviews: Reviews, audit: AuditLog, days: float) -> None:
        self._jobs, self._reviews, self._audit, self._days = jobs, reviews, audit, days
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="retention", daemon=True)

    def __enter__(self) -> Self:
        """Begin to delete."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._stopping.set()
        self._thread.join()

    def delete(self) -> None:
        """Delete what has ended that long ago.

        Raises:
            StoreError: if it cannot be deleted, or that cannot be logged.
        """
        for id_ in self._jobs.ended_before(time.time() - self._days * DAY):
            self._audit.add("server", "check.deleted", check=id_)
            self._reviews.delete(id_)
            self._jobs.delete(id_)

    def _watch(self) -> None:
        while True:
            try:
                self.delete()
            except StoreError as error:
                logger.warning("%s", error)
            except Exception as error:
                # Whatever it is may pass, and what has to go has to go. Without the message, which
                # may hold a text.
                logger.error("checks to be deleted: %s", type(error).__name__)
            if self._stopping.wait(LOOK):
                return
