"""``python -m llama_cpp.server`` with SmolLM2, for as long as a test needs it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from factcheck_local.models.cards import find_card

#: ``python -m llama_cpp.server`` with weights that are not repacked: read by the kernels for
#: AMX, SmolLM2's file crashes llama.cpp 0.3.36 on a processor that has them.
_SERVER = """
import runpy
import llama_cpp.llama_cpp as lib

default = lib.llama_model_default_params

def plain():
    params = default()
    params.use_extra_bufts = False
    return params

lib.llama_model_default_params = plain
runpy.run_module("llama_cpp.server", run_name="__main__")
"""

START_SECONDS = 120


@contextmanager
def llama_server(folder: Path, *options: str) -> Iterator[str]:
    """The address of one on loopback, ending in ``/v1``.

    Args:
        folder: for its log.
        options: of its command line.
    """
    found = find_card("smollm2-135m")
    weights = found.folder / found.files[0].path
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / f"log-{port}"
    command = [sys.executable, "-c", _SERVER, "--model", str(weights)]
    command += ["--model_alias", "smollm", "--host", "127.0.0.1", "--port", str(port)]
    # One thread each: on a busy machine llama.cpp's threads mostly wait for each other.
    command += ["--n_threads", "1", "--n_threads_batch", "1", "--verbose", "false", *options]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}/v1"
    try:
        _wait_for(url, process, log)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with direct.open(f"{url}/models", timeout=5) as reply:
                assert json.load(reply)["data"]
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    pytest.fail(f"no server: {log.read_text()[-2000:]}")
