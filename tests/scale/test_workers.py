"""Answers over two nodes of Ray on this machine: real workers, store, embedder and encoder.

One node dies on the way.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core import egress
from factcheck_local.core.errors import FactcheckError
from factcheck_local.core.types import Answer
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.settings import Settings
from factcheck_local.scale import worker
from factcheck_local.scale.pool import ATTEMPTS, USAGE, Pool, connected
from factcheck_local.scale.worker import Outcome, Plan, Task, Worker
from tests.cli.helpers import factcheck, refused

COUNT = 24
OPTIONS = ("verify", "a.jsonl", "--relation", "encoder", "--set", "assessor=fr1")

PAGES = {
    "leave.md": "Full-time staff get 25 days of leave a year.\n\nLeave lapses at the end of March.",
    "pay.md": "Pay comes at the end of the month.\n\nOvertime is paid with the next pay.",
}


def record(number: int) -> dict[str, Any]:
    """Claims that differ from answer to answer, so that no score is known before."""
    claims = [
        f"Staff number {number} gets {number} days of leave.",
        f"Leave of {number} days lapses in March.",
        f"Pay number {number} comes at the end of the month.",
        f"Overtime of {number} hours is paid at once.",
    ]
    atoms = [{"id": f"a{i}", "text": text} for i, text in enumerate(claims)]
    return {"output": " ".join(claims), "atoms": atoms}


class Running:
    """A cluster whose second node can be killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        head = {"ray_client_server_port": port, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.second = self.cluster.add_node(include_dashboard=False)
        self.address = f"ray://127.0.0.1:{port}"

    def kill(self) -> None:
        """End the second node as a power cut would."""
        self.cluster.remove_node(self.second, allow_graceful=False)


@pytest.fixture(scope="module")
def ray() -> Iterator[Running]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(USAGE, "0")
        running = Running()
        yield running
        running.cluster.shutdown()


@pytest.fixture(scope="module")
def desk(
    tmp_path_factory: pytest.TempPathFactory, minilm: SentenceTransformerEmbedder
) -> Iterator[Path]:
    """A store, answers, and the reports that a plain run makes of them."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "docs").mkdir()
    for name, text in PAGES.items():
        (folder / "docs" / name).write_text(text)
    with Store.create(folder / ".factcheck", Fingerprint.of(minilm)) as store:
        sync([folder / "docs"], store, minilm)
    lines = [json.dumps(record(n)) for n in range(COUNT)]
    (folder / "a.jsonl").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        plain = factcheck(*OPTIONS, "--output", "plain", "--no-cache")
        assert plain.code == 0, plain.err
        yield folder


def reports(folder: Path) -> dict[str, Any]:
    """Every file by name; of an assessment all but its times."""
    found: dict[str, Any] = {}
    for path in folder.iterdir():
        found[path.name] = path.read_text()
        if path.suffix == ".json" and path.stem != "summary":
            found[path.name] = json.loads(found[path.name])
            del found[path.name]["run"]["started"], found[path.name]["run"]["seconds"]
    return found


def test_a_node_dies_on_the_way(ray: Running, desk: Path) -> None:
    """Everything is there, nothing doubled, and as the plain run made it."""
    out = desk / "out"

    def kill() -> None:
        while len(list(out.glob("a-*.json"))) < 2:
            time.sleep(0.01)
        ray.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    done = factcheck(*OPTIONS, "--output", "out", "--workers", ray.address, "--no-cache")
    killer.join()
    print(done.err)
    assert done.code == 0
    assert done.err.splitlines()[0] == "0 answers were unchanged; 1 workers were lost"
    assert f"{COUNT} answers verified, 0 failed" in done.err
    assert reports(out) == reports(desk / "plain")
