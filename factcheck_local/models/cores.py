"""What the processor offers a model."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Cores that this process may run on; more threads than that only spin.

    At most ``OMP_NUM_THREADS``, by which Ray tells a worker its share of a machine.
    """
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = os.environ.get("OMP_NUM_THREADS", "")
    return min(here, int(share)) if share.isdecimal() and int(share) else here


def has_native_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 itself; emulated, it is slower than float32."""
    import torch

    found = torch.cpu.get_capabilities()
    return any(found.get(name, False) for name in ("amx_bf16", "avx512_bf16", "bf16"))
