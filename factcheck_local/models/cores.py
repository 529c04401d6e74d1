"""How many threads a model should use."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Cores that this process may run on; more threads than that only spin."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
