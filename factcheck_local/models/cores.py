"""What the processor offers a model."""

from __future__ import annotations

import math
import os
from pathlib import Path, PurePosixPath

#: Which control groups this process is in, and where they are.
OWN_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def available_cores() -> int:
    """Cores that this process may run on; more threads than that only spin.

    At most as many as a container's quota is worth, and ``OMP_NUM_THREADS``, by which Ray tells a
    worker its share of a machine.
    """
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    here = min([here, *_quotas()])
    share = os.environ.get("OMP_NUM_THREADS", "")
    return min(here, int(share)) if share.isdecimal() and int(share) else here


def _quotas() -> list[int]:
    """How many cores' time each control group of this process may take, where it is limited.

    Those of version 2 and of version 1, and the groups that they are in; what cannot be read limits
    nothing.
    """
    found = []
    for line in _text(OWN_GROUPS).splitlines():
        _, _, rest = line.partition(":")
        kinds, _, name = rest.partition(":")
        if kinds and "cpu" not in kinds.split(","):
            continue
        group, mount = PurePosixPath(name.lstrip("/")), GROUPS / ("cpu" if kinds else "")
        for folder in (mount / part for part in (group, *group.parents)):
            said = _text(folder / "cpu.max") or " ".join(
                _text(folder / f"cpu.cfs_{what}_us") for what in ("quota", "period")
            )
            # No limit is "max" in version 2, and -1 in version 1.
            match said.split():
                case [quota, period] if quota.isdecimal() and period.isdecimal() and int(period):
                    found.append(max(1, math.ceil(int(quota) / int(period))))
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def has_native_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 itself; emulated, it is slower than float32."""
    import torch

    found = torch.cpu.get_capabilities()
    return any(found.get(name, False) for name in ("amx_bf16", "avx512_bf16", "bf16"))
