"""No pattern of the package takes more than it may on a hostile text."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "patterns_run.py"

#: Processor time in seconds, far more than it takes.
LIMIT = 60


def limited(command: list[str], seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    )


def test_every_pattern_comes_to_an_end() -> None:
    done = limited([sys.executable, str(SCRIPT)], LIMIT)
    assert done.returncode == 0, f"did not end: {done.stderr.splitlines()[-1:]}"
    patterns, searches = map(int, done.stdout.split())
    assert patterns >= 100
    assert searches >= 20 * patterns


def test_a_bad_pattern_would_be_found() -> None:
    """Else the test above could not fail."""
    bad = "import re; re.compile('(a|a)*b').search('a' * 4000 + '\\0')"
    assert limited([sys.executable, "-c", bad], 1).returncode < 0


def test_no_command_writes_tables_that_a_spreadsheet_computes() -> None:
    """There is no CSV or TSV among the formats; if one is added, this asks for its escapes."""
    from factcheck_local.report.render import FORMATS

    assert not {ending for ending in FORMATS.values() if re.search("csv|tsv|xls", ending)}
