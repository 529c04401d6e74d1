"""What a measurement took of memory."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Largest resident memory of this process so far, in bytes.

    Pages of a mapped model file count as far as they were read.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        # Not getrusage: on Linux its peak is inherited from the process that started us.
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
