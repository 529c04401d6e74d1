"""A process that works: takes the check that waits longest, again and again.

There is one with the models, and one that indexes (``indexing``), where folders are named. The
server starts them (``supervisor``) and tells each on its standard input what to work on. There
they notice the server's end, too: one that is killed leaves no process behind.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from factcheck_local.core import egress
from factcheck_local.core.errors import FactcheckError, RecordError
from factcheck_local.indexer.fingerprint import EmbedderPrint
from factcheck_local.indexer.store import Store
from factcheck_local.models.contracts import ChatModel
from factcheck_local.models.offline import go_offline
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.events import Event, RunFinished, StageAdvanced
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import to_dict
from factcheck_local.report.events import event_to_dict
from factcheck_local.serve.check import Claimed
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.requests import (
    MOST_PAIRS,
    digest_of,
    settings_from,
    work_of,
)

#: Seconds between looks at an empty queue, and at least between two counts.
PAUSE, APART = 0.1, 0.2

#: Seconds without a check after which passages are read, and after which the store is looked at
#: again for others.
QUIET, LOOK = 3.0, 60.0

#: By how much a process lets others go first: one that checks searches, which people wait for, and
#: one that indexes both.
NICE_CHECKS, NICE_INDEXING = 10, 15

logger = logging.getLogger(__name__)


class Withdrawn(Exception):
    """The check is no longer to be done: it was cancelled, or somebody else has it."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is told.

    Attributes:
        jobs: the file of checks.
        store: the store's folder.
        settings: of the server, by name.
        folders: name -> path of those to index; with any it indexes, and checks nothing.
        prepare: whether the LLM reads passages while no check waits.
    """

    jobs: str
    store: str
    settings: Mapping[str, Any]
    folders: Mapping[str, str] = field(default_factory=dict)
    prepare: bool = False


class Worker:
    """Does checks; its LLM and embedder are loaded at the first and stay.

    The embedder is the store's, so both are loaded again for one that was rebuilt with another.
    Where a model server is asked they are loaded for each: it may hold another model by now, and
    says so on loading alone.

    The store is opened anew for each check: what another process indexed meanwhile is not seen by a
    store that is open.

    Args:
        jobs: where the checks are.
        store: the store's folder.
        settings: of the server.
        llm: a model in place of the one that the settings name.
    """

    def __init__(
        self, jobs: Jobs, store: Path, settings: Settings, *, llm: ChatModel | None = None
    ) -> None:
        self._jobs = jobs
        self._store = store
        self._settings = settings
        self._llm = llm
        self._made_with: EmbedderPrint | None = None
        self._models = FactChecker(settings, llm=llm)
        self._prepared = ""

    def do_next(self) -> bool:
        """Do the check that waits longest; False if none does."""
        return do_next(self._jobs, self._checked)

    def _checked(self, claimed: Claimed) -> dict[str, Any]:
        request = claimed.check.request
        groups = request["groups"]
        with Store.open(self._store) as store:
            base = self._adopt(store.fingerprint.embedder)
            work = work_of(request["body"], base, None if groups is None else tuple(groups))
            if work.asks_server:
                self._models.close()
            self._jobs.decided_by(claimed, digest_of(work, store.state_digest(), self._store))
            checker = FactChecker(work.settings, store, shared=self._models)
            return to_dict(checker.verify(work.record, on_event=Teller(self._jobs, claimed)))

    def prepare(self) -> None:
        """Have the LLM read passages until a check waits, or all are read; see ``prepare``.

        A store that changed since is gone through again.
        """
        try:
            with Store.open(self._store) as store:
                digest = store.state_digest()
                if digest == self._prepared:
                    return
                self._prepared = digest
                settings = self._adopt(store.fingerprint.embedder)
                checker = FactChecker(settings, store, shared=self._models)
                found = checker.prepare(self._stops_preparing)
        except (FactcheckError, OSError) as error:
            # Answers are slower then, and say themselves what is wrong with the store or a model.
            logger.warning("no passages are read ahead: %s", error)
        else:
            logger.info("%d passages read ahead, %d left", found.read, found.left)

    def _stops_preparing(self) -> bool:
        if not self._jobs.waits():
            return False
        self._prepared = ""  # the rest the next time
        return True

    def _adopt(self, made_with: EmbedderPrint) -> Settings:
        """The settings with a store's embedder, which the models that stay are then of."""
        if made_with != self._made_with:
            self._models.close()
            self._settings = replace(self._settings, embedder=made_with.id)
            self._models = FactChecker(self._settings, llm=self._llm)
            self._made_with = made_with
        return self._settings


def do_next(jobs: Jobs, do: Callable[[Claimed], Mapping[str, Any]]) -> bool:
    """Do what waits longest, and keep what came of it or why it failed; False if nothing waits."""
    claimed = jobs.claim()
    if claimed is None:
        return False
    try:
        jobs.finish(claimed, do(claimed))
    except Withdrawn:
        logger.info("check %s: withdrawn", claimed.check.id)
    except FactcheckError as error:
        jobs.fail(claimed, str(error))
    except Exception as error:
        # Whatever it is, the checks that wait are not to wait for ever. Without the message,
        # which may hold a text.
        logger.error("check %s: %s", claimed.check.id, type(error).__name__)
        jobs.fail(claimed, f"an error of the server: {type(error).__name__}")
    return True


class Teller:
    """Tells what happens to a check, and leaves it where it was withdrawn.

    Args:
        jobs: who is told.
        claimed: the check.
    """

    def __init__(self, jobs: Jobs, claimed: Claimed) -> None:
        self._jobs = jobs
        self._claimed = claimed
        self._told = -APART

    def __call__(self, event: Event) -> None:
        """See ``pipeline.events``.

        Raises:
            Withdrawn: if the check is no longer to be done.
            RecordError: if it comes to more pairs than a check may.
        """
        if isinstance(event, RunFinished):
            return  # told with the result, in one transaction
        if isinstance(event, StageAdvanced) and event.count > MOST_PAIRS:
            raise RecordError(
                f"{event.stage}: {event.count} steps, at most {MOST_PAIRS} are taken by this server"
            )
        counts = isinstance(event, StageAdvanced) and event.done < event.count
        told = event_to_dict(event, answer=self._claimed.check.request["body"]["name"])
        self.tell(told["event"], told, counts=counts)

    def tell(self, name: str, data: Mapping[str, Any], *, counts: bool) -> None:
        """Tell an event, unless it counts on and the last one that did is not long ago.

        Raises:
            Withdrawn: if the check is no longer to be done.
        """
        now = time.monotonic()
        if counts and now - self._told < APART:
            due = self._jobs.is_due(self._claimed)
        else:
            self._told = now if counts else self._told
            due = self._jobs.tell(self._claimed, name, data)
        if not due:
            raise Withdrawn


def main() -> None:
    """Work on what standard input says until it ends."""
    task = Task(**json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    go_offline()
    egress.guard()
    if sys.platform != "win32":
        os.nice(NICE_INDEXING if task.folders else NICE_CHECKS)
    jobs, store = Jobs(Path(task.jobs)), Path(task.store)
    work: Callable[[], bool]
    prepare: Callable[[], None] | None = None
    if task.folders:
        from factcheck_local.serve.indexing import index_next

        work = partial(index_next, jobs, store, task.folders)
    else:
        worker = Worker(jobs, store, settings_from(task.settings))
        work, prepare = worker.do_next, worker.prepare if task.prepare else None
    due = time.monotonic() + QUIET
    while True:
        if work():
            due = time.monotonic() + QUIET
        elif prepare is not None and time.monotonic() >= due:
            prepare()
            due = time.monotonic() + LOOK
        else:
            time.sleep(PAUSE)


def _end_with_the_server() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
