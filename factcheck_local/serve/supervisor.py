"""Keeps the process with the models running."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from dataclasses import asdict
from typing import Self

from factcheck_local.core.errors import StoreError
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.worker import Task

#: Seconds until a process that ended is started again: longer each time, up to the last.
DELAYS = (0.2, 1.0, 5.0, 30.0)

#: Seconds that a process has to end by itself.
PATIENCE = 5.0

#: The descriptor of standard error.
STDERR = 2

logger = logging.getLogger(__name__)


class Supervisor:
    """Starts the worker, and again whenever it ends; what it was doing is queued again.

    Args:
        jobs: the checks.
        task: what the worker is told.
    """

    def __init__(self, jobs: Jobs, task: Task) -> None:
        self._jobs = jobs
        self._task = task
        self._process: subprocess.Popen[str] | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)
        #: How often the worker ended by itself.
        self.ended = 0

    @property
    def pid(self) -> int | None:
        """The process's; None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def __enter__(self) -> Self:
        """Start it."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it; a check that it does is queued again, as if it had not been begun.

        Not so where it has ended by itself: the next start queues that check, and counts it.
        """
        self._stopping.set()
        process = self._process
        orderly = process is not None and process.poll() is None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._thread.join(PATIENCE)
        if orderly:
            self._release()

    def _release(self) -> None:
        try:
            self._jobs.recover(stopped=True)
        except StoreError as error:
            logger.warning("%s", error)  # it is queued when the server starts, and counted

    def _watch(self) -> None:
        while not self._stopping.is_set():
            try:
                code = self._run()
            except Exception as error:
                # Whatever it is, a full disk or no memory, it may pass; a server without this
                # thread would take checks and do none. Without the message, which may hold a text.
                logger.error("the process with the models: %s", type(error).__name__)
                self._stopping.wait(DELAYS[-1])
                continue
            if self._stopping.is_set():
                return
            self.ended += 1
            logger.warning("the process with the models ended (code %d)", code)
            self._stopping.wait(DELAYS[min(self.ended, len(DELAYS)) - 1])

    def _run(self) -> int:
        """Start it, tell it its task and wait for its end; its exit code."""
        for id_ in self._jobs.recover():
            logger.warning("check %s: its process ended", id_)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "factcheck_local.serve.worker"],
            stdin=subprocess.PIPE,
            # Over MCP our standard output is the protocol's alone.
            stdout=STDERR,
            text=True,
        )
        stdin = self._process.stdin
        try:
            if stdin is not None:
                stdin.write(json.dumps(asdict(self._task)) + "\n")
                stdin.flush()
        except BrokenPipeError:
            logger.warning("the process with the models ended as it began")
        return self._process.wait()
