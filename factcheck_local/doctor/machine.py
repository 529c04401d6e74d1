"""What the machine offers: a GPU and the builds that could use it, memory, disk."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from ctypes.util import find_library
from pathlib import Path

from factcheck_local.core.errors import ModelError
from factcheck_local.doctor.finding import Finding
from factcheck_local.models.cards import SERVER_BACKEND, ModelCard
from factcheck_local.models.device import CPU, VARIABLE, found_devices, torch_device

#: What a run takes in memory beside its models' files, in bytes: the libraries, the context
#: of an LLM, the answer. Verifying one claim with SmolLM2-135M and MiniLM, whose files are
#: 190 MB, took 868 MB at most on a CPU; the rest is for longer answers.
OVERHEAD = 1_000_000_000

#: Free bytes below which a store's disk is called nearly full.
NEARLY_FULL = 1_000_000_000

_BUILD = "docs/gpu.md says how llama-cpp-python is built for it"

#: Where Linux shows a GPU, by the interface of llama.cpp that would use it.
_DEVICES = {"CUDA": "/dev/nvidia0", "ROCm": "/dev/kfd"}


def check_gpu() -> Iterator[Finding]:
    """Which GPU is seen, whether llama.cpp was built for one, and what is asked for."""
    from factcheck_local.models.llama_cpp import gpu_layers

    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        fix = "pip install --force-reinstall llama-cpp-python"
        yield Finding("gpu", "problem", f"llama-cpp-python cannot be loaded: {error}", fix)
        return
    try:
        layers = gpu_layers()
    except ModelError as error:
        yield Finding("gpu", "problem", str(error), "FACTCHECK_GPU_LAYERS=-1")
        return
    info = llama_cpp.llama_print_system_info().decode(errors="replace")
    offloads = bool(llama_cpp.llama_supports_gpu_offload())
    seen = gpus()
    built = f"llama.cpp for {build(info)}"
    message = f"{', '.join(seen) or 'none'} seen; {built}; layers asked to be offloaded: {layers}"
    if layers and not offloads:
        yield Finding("gpu", "problem", f"{message}, which this build cannot", _BUILD)
    elif seen and not offloads:
        yield Finding("gpu", "warning", f"{message}; an LLM runs on the processor", _BUILD)
    elif seen and not layers:
        yield Finding("gpu", "warning", message, "FACTCHECK_GPU_LAYERS=-1 offloads all layers")
    else:
        yield Finding("gpu", "ok", message)


def check_device() -> Iterator[Finding]:
    """Where the embedder, the reranker and torch's NLI encoders compute."""
    try:
        device, found, built = torch_device(), found_devices(), torch_devices()
    except (ImportError, OSError, RuntimeError) as error:
        fix = "pip install --force-reinstall torch"
        yield Finding("device", "problem", f"torch cannot be loaded: {error}", fix)
        return
    except ModelError as error:
        yield Finding("device", "problem", str(error), f"{VARIABLE}={CPU}")
        return
    message = f"what runs on torch computes on {device}; {built}"
    if device == CPU and len(found) > 1:
        yield Finding("device", "warning", message, f"{VARIABLE}={found[1]}")
    else:
        yield Finding("device", "ok", message)


def build(system_info: str) -> str:
    """What llama.cpp says of its own build: its backends, and the flags that are set."""
    names = list(dict.fromkeys(re.findall(r"(\w+) : ", system_info)))
    flags = dict.fromkeys(re.findall(r"(\w+) = 1\b", system_info))
    return f"{', '.join(names)} ({', '.join(flags)})" if names else "nothing known"


def gpus(devices: Path = Path("/dev")) -> list[str]:
    """Interfaces by which a GPU can be seen on this machine: CUDA, ROCm, Vulkan, Metal."""
    found = [name for name, path in _DEVICES.items() if (devices / Path(path).name).exists()]
    if any(devices.glob("dri/renderD*")) and find_library("vulkan"):
        found.append("Vulkan")
    if sys.platform == "darwin" and os.uname().machine == "arm64":
        found.append("Metal")
    return found


def torch_devices() -> str:
    """What torch was built for, and what of it it finds."""
    import torch

    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        names.append("mps")
    return f"torch for {torch.version.cuda or torch.version.hip or 'cpu'}" + (
        f" with {', '.join(names)}" if names else ""
    )


# --------------------------------------------------------------- memory and disk


def check_memory(cards: Iterable[ModelCard], available: int | None) -> Iterator[Finding]:
    """Whether the models that a run would load fit into the memory that is free."""
    local = [card for card in cards if card.backend != SERVER_BACKEND]
    needed = sum(card.size for card in local) + OVERHEAD
    models = f"{', '.join(card.id for card in local)} and their libraries take about"
    if available is None:
        yield Finding("memory", "warning", f"{models} {_gb(needed)}; what is free is not known")
    elif available < needed:
        message = f"{models} {_gb(needed)}, {_gb(available)} are free"
        fix = "a smaller model (factcheck models list), or one on a server"
        yield Finding("memory", "problem", message, fix)
    else:
        yield Finding("memory", "ok", f"{models} {_gb(needed)}, {_gb(available)} are free")


def available_memory(
    meminfo: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup")
) -> int | None:
    """Bytes that a new process may take; None where the system does not tell.

    On Linux what is available without swapping, and no more than what is left of the
    control group's limit; elsewhere all physical memory. What the system keeps of files that
    were read, as of models that were just hashed, counts as free: it is given up when needed.
    """
    if meminfo.is_file():
        found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(), re.MULTILINE)
        free = [int(found[1]) * 1024] if found else []
        limit, used = (_number(group / name) for name in ("memory.max", "memory.current"))
        if limit is not None and used is not None:
            free.append(max(limit - used + _of_files(group / "memory.stat"), 0))
        return min(free, default=None)
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _number(path: Path) -> int | None:
    """The number that a file holds; None for ``max``, and where there is no file."""
    text = path.read_text().strip() if path.is_file() else ""
    return int(text) if text.isdigit() else None


def _of_files(path: Path) -> int:
    """Bytes that a control group has in memory of files."""
    text = path.read_text() if path.is_file() else ""
    return sum(map(int, re.findall(r"^(?:in)?active_file (\d+)$", text, re.MULTILINE)))


def check_disk(cards: Iterable[ModelCard], data: Path, store: Path | None) -> Iterator[Finding]:
    """Whether the models that are not here yet fit, and whether the store can grow."""
    missing = [card for card in cards if card.files and not card.is_installed()]
    # A pull keeps the parts until the whole is joined.
    needed = 2 * sum(card.size for card in missing)
    free = free_bytes(data)
    message = f"{_gb(free)} free for models in {data}"
    if free < needed:
        names = ", ".join(card.id for card in missing)
        message += f"; to pull {names} takes {_gb(needed)} meanwhile"
        yield Finding("disk", "problem", message, "FACTCHECK_HOME=FOLDER on a larger disk")
    else:
        yield Finding("disk", "ok", message)
    if store is not None and free_bytes(store) < NEARLY_FULL:
        message = f"only {_gb(free_bytes(store))} free where the store is, {store}"
        yield Finding("disk", "warning", message, "a --store on a larger disk")


def free_bytes(folder: Path) -> int:
    """Free bytes on the disk of a folder, or of the nearest one above that is there."""
    folder = folder.resolve()
    return shutil.disk_usage(next(f for f in (folder, *folder.parents) if f.is_dir())).free


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
