"""What a measurement says of the machine it was made on."""

from __future__ import annotations

import platform
from pathlib import Path

from factcheck_local.models.cores import available_cores


def machine() -> str:
    """Cores that this process may use, and the name of the processor."""
    return f"{available_cores()} cores, {_processor()}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
