"""The process that reads files: its limits, and that a lost file is the only one lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from factcheck_local.indexer import reader
from factcheck_local.indexer.reader import Reading, ReadLimits, Task, Unread, read_ahead

from .helpers import write

#: Takes seconds to cut.
LARGE = "\n".join(f"# {'x ' * 40}{n}" for n in range(40_000))

#: Takes some 500 MB when parsed.
HUNGRY = "[" + "{}," * 6_000_000 + '{"a": "b"}]'


def outcomes(folder: Path, names: Sequence[str], limits: ReadLimits) -> dict[str, str | int]:
    """What came of each file: its passages, or why there are none."""
    tasks = [Task(name, folder / name, (folder / name).stat().st_size) for name in names]
    found = read_ahead(tasks, limits)
    results = {
        task.source: len(o.chunks) if isinstance(o, Reading) else o.reason for task, o in found
    }
    assert list(results) == list(names)  # in their order
    return results


def test_files_are_read_in_their_order(tmp_path: Path) -> None:
    names = [f"{n}.md" for n in range(3 * reader.AHEAD_FILES)]
    write(tmp_path, dict.fromkeys(names, "# Title\n\ntext"))
    assert outcomes(tmp_path, names, ReadLimits()) == dict.fromkeys(names, 1)


def test_too_large(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "text", "b.txt": "x " * 60_000, "c.md": "text"})
    assert outcomes(tmp_path, ["a.md", "b.txt", "c.md"], ReadLimits(megabytes=0.1)) == {
        "a.md": 1,
        "b.txt": "has 0.1 MB, more than the limit of 0.1 MB",
        "c.md": 1,
    }


def test_too_slow(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "text", "b.md": LARGE, "c.md": "text"})
    assert outcomes(tmp_path, ["a.md", "b.md", "c.md"], ReadLimits(seconds=0.4)) == {
        "a.md": 1,
        "b.md": "took longer than 0.4 seconds to read",
        "c.md": 1,
    }


def test_too_hungry(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "text", "b.json": HUNGRY, "c.md": "text"})
    limits = ReadLimits(memory_megabytes=300)
    assert outcomes(tmp_path, ["a.md", "b.json", "c.md"], limits) == {
        "a.md": 1,
        "b.json": "needs more memory to read than it may take",
        "c.md": 1,
    }


def test_a_limit_that_not_even_the_libraries_keep_to(tmp_path: Path) -> None:
    """Every file fails with a reason, and none of them ends the run."""
    write(tmp_path, {"a.pdf": "text", "b.docx": "text"})
    found = outcomes(tmp_path, ["a.pdf", "b.docx"], ReadLimits(memory_megabytes=5))
    assert all(isinstance(reason, str) for reason in found.values()), found


def test_a_process_that_dies_takes_one_file_with_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "text", "b.md": LARGE, "c.md": "text"})
    limits = ReadLimits()
    tasks = [Task(name, tmp_path / name, 10) for name in ("a.md", "b.md", "c.md")]
    running = read_ahead(tasks, limits)
    assert isinstance(next(running)[1], Reading)
    for process in reader._process(limits)._processes:  # it is at b.md by now
        os.kill(process, signal.SIGKILL)
    assert next(running) == (
        tasks[1],
        Unread("the process that read it crashed, or was out of memory"),
    )
    assert isinstance(next(running)[1], Reading)
    assert list(running) == []


def test_an_interrupted_run_leaves_no_process_behind(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "text", "b.md": LARGE})
    limits = ReadLimits(memory_megabytes=1234)
    tasks = [Task(name, tmp_path / name, 10) for name in ("a.md", "b.md")]
    running = read_ahead(tasks, limits)
    next(running)
    (process,) = reader._process(limits)._processes
    running.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_what_nothing_reads_has_not_failed(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1", "b.md": ""})
    tasks = [Task(name, tmp_path / name, 5) for name in ("a.py", "b.md")]
    (_, unread), (_, failed) = read_ahead(tasks, ReadLimits())
    assert isinstance(unread, Unread)
    assert isinstance(failed, Unread)
    assert (unread.failed, failed.failed) == (False, True)
