"""Deletes checks some time after they have ended: answers may be as private as the documents."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from factcheck_local.core.errors import StoreError
from factcheck_local.serve.audit import AuditLog
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.reviews import Reviews

#: Seconds between looks at what has to go, and of a day.
LOOK, DAY = 3600.0, 86400.0

logger = logging.getLogger(__name__)


@contextmanager
def retention(jobs: Jobs, reviews: Reviews, audit: AuditLog, days: float) -> Iterator[None]:
    """Meanwhile a thread deletes what is kept long enough: as it begins, and each hour.

    Args:
        jobs: the checks.
        reviews: what people say of them.
        audit: gets a line for each that is deleted; its lines stay.
        days: how long a check is kept after it has ended, more than 0.
    """
    stopping = threading.Event()

    def watch() -> None:
        while True:
            try:
                delete_old(jobs, reviews, audit, days)
            except StoreError as error:
                logger.warning("%s", error)
            except Exception as error:
                # Whatever it is may pass, and what has to go has to go. Without the message, which
                # may hold a text.
                logger.error("checks to be deleted: %s", type(error).__name__)
            if stopping.wait(LOOK):
                return

    thread = threading.Thread(target=watch, name="retention", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def delete_old(jobs: Jobs, reviews: Reviews, audit: AuditLog, days: float) -> None:
    """Delete the checks that ended so many days ago, with their reviews.

    Raises:
        StoreError: if one cannot be deleted, or that cannot be logged.
    """
    for id_ in jobs.ended_before(time.time() - days * DAY):
        audit.add("server", "check.deleted", check=id_)
        reviews.delete(id_)
        jobs.delete(id_)
