"""Runs that are killed at any moment: the next one completes what they left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

#: Runs in a process of its own, which has no threads yet and so can be forked.
SCRIPT = Path(__file__).parent / "killed_runs.py"
KILLS = 50


def test_nothing_is_lost_or_doubled_by_fifty_kills(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), str(KILLS)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    kills, in_writing, checks = map(int, done.stdout.split())
    assert kills >= KILLS
    assert in_writing >= KILLS // 3  # else the kills came too early or too late to mean anything
    assert checks >= 5
