"""pip of the running environment, in a process of its own: it goes where it is set up to go."""

from __future__ import annotations

import subprocess
import sys

from factcheck_local.core.errors import ModelError


def pip(command: str, *arguments: str) -> None:
    """Run pip.

    Raises:
        ModelError: if it fails, with the last error that it told.
    """
    quiet = ("--quiet", "--disable-pip-version-check")
    done = subprocess.run(
        [sys.executable, "-m", "pip", command, *quiet, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ModelError(errors[-1] if errors else f"pip ended with code {done.returncode}")
