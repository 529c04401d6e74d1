"""What a measurement says of the machine it was made on."""

from __future__ import annotations

import platform
import resource
import sys
from pathlib import Path

from factcheck_local.models.cores import available_cores


def machine() -> str:
    """Cores that this process may use, and the name of the processor."""
    return f"{available_cores()} cores, {_processor()}"


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


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
