"""A signal in each stage of `index` and of `verify`: a stated end, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

#: Runs in a process of its own, which has no threads yet and so can be forked.
SCRIPT = Path(__file__).parent / "kill_points.py"


def test_every_stage_and_signal(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    ends = {signal.SIGINT: 130, signal.SIGKILL: -signal.SIGKILL}
    expected = [row | {"ended": ends[row["signal"]], "kept": True, "same": True} for row in found]
    assert found == expected, done.stderr
    assert len({(row["command"], row["stage"], row["signal"]) for row in found}) == 24
