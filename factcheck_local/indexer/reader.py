"""Reads files in a process of its own, ahead of the embedder and within limits.

A parser that hangs, swallows the memory or crashes on a broken file takes that
process with it, not the run: the file has failed, the next one gets a new process.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from concurrent.futures import Future, TimeoutError
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from loky import get_reusable_executor
from loky.process_executor import TerminatedWorkerError

from factcheck_local.core import egress
from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Chunk
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.loaders import UnsupportedFormatError, load
from factcheck_local.indexer.reliability import check_statements

#: Files that are read ahead, and their size in bytes; one file may be larger.
AHEAD_FILES = 32
AHEAD_BYTES = 32_000_000

#: Share of a file's time that OCR may take: it has ended, and its folder is gone, before the rest.
OCR_SHARE = 0.9

#: An idle process ends after so many seconds.
_IDLE_SECONDS = 30


#: Whether the memory of the process that reads can be limited on this system.
LIMITS_MEMORY = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What reading one file may take.

    Attributes:
        megabytes: size of the file.
        seconds: time.
        memory_megabytes: address space of the process that reads, beyond what it starts with.
    """

    megabytes: float = 200.0
    seconds: float = 120.0
    memory_megabytes: float = 4000.0


class Task(NamedTuple):
    """A file to read."""

    source: str
    path: Path
    size: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A file's passages, and what it states of itself."""

    chunks: tuple[Chunk, ...]
    metadata: Mapping[str, Any]
    sha256: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a file gave no passages; ``failed`` unless nothing reads such a file."""

    reason: str
    failed: bool = True


def read(path: Path, source: str, *, ocr_seconds: float | None = None) -> Reading | Unread:
    """Read one file and cut it into passages, in this process and without limits."""
    try:
        document = load(path, source, ocr_seconds=ocr_seconds)
        check_statements(document)
        chunks = chunk(document)
    except UnsupportedFormatError as error:
        return Unread(str(error).removeprefix(f"{source}: "), failed=False)
    except DocumentError as error:
        return Unread(str(error).removeprefix(f"{source}: "))
    except MemoryError:
        return Unread("needs more memory to read than it may take")
    return Reading(chunks, document.metadata, document.sha256)


def read_ahead(
    tasks: Iterable[Task], limits: ReadLimits, *, ocr: bool = False
) -> Generator[tuple[Task, Reading | Unread], None, None]:
    """Read files and cut them into passages, in their order.

    Close it if it is not used up: the process ends then with what it is at.

    Args:
        tasks: the files.
        limits: what a file may take.
        ocr: whether pages of a PDF without text are read by OCR.
    """
    waiting = deque(tasks)
    ahead: deque[tuple[Task, Future[Reading | Unread] | Unread]] = deque()
    try:
        while waiting or ahead:
            while waiting and _has_room(ahead, waiting[0]):
                if not ahead:  # the start of the process is not the file's time
                    _process(limits, ocr).submit(_nothing).result()
                task = waiting.popleft()
                ahead.append((task, _submit(task, limits, ocr)))
            task, pending = ahead.popleft()
            found, lost = _outcome(pending, limits, ocr)
            if lost:  # with the process went what was waiting for it
                waiting.extendleft(task for task, _ in reversed(ahead))
                ahead.clear()
            yield task, found
    except BaseException as ended:
        # Nobody wants what is still being read. An interrupt may have come to loky in the middle
        # of something: then the process is told to end, and not waited for.
        _end_process(limits, ocr, wait=not isinstance(ended, KeyboardInterrupt))
        raise


def _has_room(ahead: Iterable[tuple[Task, object]], following: Task) -> bool:
    sizes = [task.size for task, _ in ahead]
    return not sizes or (len(sizes) < AHEAD_FILES and sum(sizes) + following.size <= AHEAD_BYTES)


def _submit(task: Task, limits: ReadLimits, ocr: bool) -> Future[Reading | Unread] | Unread:
    if task.size > limits.megabytes * 1e6:
        return Unread(
            f"has {task.size / 1e6:.1f} MB, more than the limit of {limits.megabytes:g} MB"
        )
    ocr_seconds = OCR_SHARE * limits.seconds if ocr else None
    found: Future[Reading | Unread] = _process(limits, ocr).submit(
        read, task.path, task.source, ocr_seconds=ocr_seconds
    )
    return found


def _process(limits: ReadLimits, ocr: bool = False) -> Any:  # noqa: ANN401
    """The process that reads, the same one as long as it lives."""
    return get_reusable_executor(
        max_workers=1,
        timeout=_IDLE_SECONDS,
        initializer=_settle,
        initargs=(limits.memory_megabytes, _scratch() if ocr else ""),
    )


@cache
def _scratch() -> str:
    """The folder for what OCR writes, gone when the process that reads or this one has ended.

    "" where there is no place for one: then OCR says so.
    """
    try:
        folder = tempfile.mkdtemp(prefix="factcheck-reading-")
    except OSError:
        return ""
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _nothing() -> None:
    """What the process is asked to do to see that it is there."""


def _outcome(
    pending: Future[Reading | Unread] | Unread, limits: ReadLimits, ocr: bool
) -> tuple[Reading | Unread, bool]:
    """What came of reading a file, and whether the process that read it is gone."""
    if isinstance(pending, Unread):
        return pending, False
    try:
        # Whatever was before it has been read, so the process is at this file by now.
        return pending.result(timeout=limits.seconds), False
    except TimeoutError:
        _end_process(limits, ocr)
        return Unread(f"took longer than {limits.seconds:g} seconds to read"), True
    except TerminatedWorkerError:
        _end_process(limits, ocr)
        return Unread("the process that read it crashed, or was out of memory"), True


def _end_process(limits: ReadLimits, ocr: bool, *, wait: bool = True) -> None:
    _process(limits, ocr).shutdown(wait=wait, kill_workers=True)
    if ocr and wait:
        shutil.rmtree(_scratch(), ignore_errors=True)
        _scratch.cache_clear()


def _settle(megabytes: float, scratch: str) -> None:
    """Limit this process, which reads hostile files: its memory, on Linux, and all egress.

    What OCR writes goes into the scratch folder: it may be killed before it has tidied up.
    """
    egress.seal()
    tempfile.tempdir = scratch or None
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run itself decides what an interrupt ends
    threading.Thread(target=_end_with, args=(os.getppid(), scratch), daemon=True).start()
    if sys.platform == "linux":  # LIMITS_MEMORY, in the form that type checkers know
        import resource

        # What the interpreter and its libraries map differs by hundreds of megabytes between
        # machines, so the limit is counted from here.
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + int(megabytes * 1e6)
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            limit = min(limit, most)  # whoever started the run may have set one
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _end_with(parent: int, scratch: str) -> None:
    """End this process soon after the run's own, if that was killed, and remove what OCR wrote."""
    while os.getppid() == parent:
        time.sleep(0.5)
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)
