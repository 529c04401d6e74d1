"""What is real and shared by tests: SmolLM2-135M and MiniLM, and a Chroma server.

Every assessment that a test makes is checked against the JSON Schema that is shipped.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

from factcheck_local import Run, report
from factcheck_local.models import prompt_states
from factcheck_local.models.cards import find_card
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.relation import llm as relation_llm

go_offline()

_SCHEMA = jsonschema.Draft202012Validator(json.loads(report.json_schema()))
_to_dict = report.to_dict


def _checked_to_dict(run: Run) -> dict[str, Any]:
    """As ``report.to_dict``; what JSON makes of it has to be as the schema says."""
    made = _to_dict(run)
    _SCHEMA.validate(json.loads(json.dumps(made, allow_nan=False)))
    return made


# Before a test imports what takes it from there.
report.to_dict = _checked_to_dict

# A test that takes long would find lines of progress on stderr.
os.environ["FACTCHECK_PROGRESS_SECONDS"] = "inf"

# A shell starts what it runs in the background with interrupts ignored, and so would be
# every program that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: What the console script `chroma` does, without importing all of Chroma.
_CHROMA = (
    "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(['chroma', *sys.argv[1:]])"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with the mark ``long`` first, in their order."""
    long = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long)


def pytest_configure(config: pytest.Config) -> None:
    """Give each of several workers a core of its own, which its subprocesses inherit.

    Threads of two models that share the cores would wait for each other most of the time.
    """
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    if worker and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        number = int(worker["workerid"].removeprefix("gw"))
        os.sched_setaffinity(0, {cores[number % len(cores)]})


class RunningChroma:
    """``chroma run`` in a process of its own; it can be killed and started again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        place = ("--path", str(self.path), "--host", "127.0.0.1", "--port", str(self.port))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CHROMA, "run", *place],
            cwd=self.path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            assert self.process.poll() is None, "the server did not start"
            try:
                httpx.get(f"{self.url}/api/v2/heartbeat", trust_env=False).raise_for_status()
                return
            except httpx.HTTPError:
                time.sleep(0.05)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="session")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningChroma]:
    """A server for all tests; each uses names of its own."""
    running = RunningChroma(tmp_path_factory.mktemp("chroma"))
    yield running
    running.kill()


@pytest.fixture(scope="session")
def smollm() -> Iterator[LlamaCppModel]:
    model: LlamaCppModel = load_model("smollm2-135m", "llm")
    yield model
    model.close()


@pytest.fixture
def keeping_llm(monkeypatch: pytest.MonkeyPatch, smollm: LlamaCppModel) -> LlamaCppModel:
    """A model that is asked as one with an adapter is, and keeps short passages, too."""
    monkeypatch.setattr(relation_llm, "PROMPT", relation_llm.ADAPTED_PROMPT)
    monkeypatch.setattr(prompt_states, "MIN_TOKENS", 8)
    return smollm


@pytest.fixture(scope="session")
def minilm() -> SentenceTransformerEmbedder:
    """The model itself; commands embed queries by what was exported of it, see its tests."""
    card = find_card("all-minilm-l6-v2", "embedder")
    card.check()
    return SentenceTransformerEmbedder.from_card(card)
