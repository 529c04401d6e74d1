"""Too small a disk, too little memory: one line, and the next run goes on from there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

#: Runs in a process of its own, which has no threads yet and so can be forked.
SCRIPT = "tests.indexer.disk_full"

_NAMESPACE = ["unshare", "--mount"]


def may_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = [*_NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(tried, capture_output=True).returncode == 0


@pytest.mark.parametrize("kind", ["memory", "file", "tmpfs"])
def test_a_run_that_lacks_something(tmp_path: Path, kind: str) -> None:
    if kind == "tmpfs" and not may_mount():
        pytest.skip("needs the right to mount")
    done = subprocess.run(
        [
            *(_NAMESPACE if kind == "tmpfs" else []),
            sys.executable,
            "-m",
            SCRIPT,
            kind,
            str(tmp_path),
        ],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ended"] == 2, found
    (line,) = found["said"]
    assert line.startswith("factcheck: ")
    assert ("out of memory" if kind == "memory" else "cannot be written") in line
    assert found["same"], done.stderr
