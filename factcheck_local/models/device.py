"""Where what runs on torch computes: the embedder, the reranker and torch's NLI encoders."""

from __future__ import annotations

import os
import re

from factcheck_local.core.errors import ModelError

#: Names the device; for llama.cpp it is FACTCHECK_GPU_LAYERS.
VARIABLE, CPU = "FACTCHECK_DEVICE", "cpu"


def torch_device() -> str:
    """The torch device that FACTCHECK_DEVICE names, ``cpu`` without it.

    Raises:
        ModelError: if it names none, or one that torch does not find here.
    """
    device = os.environ.get(VARIABLE, CPU)
    if not re.fullmatch("cpu|cuda|cuda:[0-9]+|mps", device):
        raise ModelError(f"{VARIABLE} is {device!r}: expected cpu, cuda, cuda:N or mps")
    if device == CPU:
        return device
    found = found_devices()
    number = int(device.partition(":")[2] or 0)
    if (device if device == "mps" else f"cuda:{number}") not in found:
        raise ModelError(
            f"{VARIABLE} is {device!r}: torch finds no such device, only {', '.join(found)}",
            hint=f"{VARIABLE}={CPU}, or the build of torch for it; docs/gpu.md",
        )
    return device


def found_devices() -> list[str]:
    """What torch can compute on here: ``cpu``, and each GPU by the name that it gives it."""
    import torch

    found = [CPU, *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
    return [*found, "mps"] if torch.backends.mps.is_available() else found
