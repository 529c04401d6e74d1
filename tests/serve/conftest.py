"""A small store with access labels, and a server over it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from factcheck_local import Store, sync
from factcheck_local.pipeline.settings import Settings
from factcheck_local.serve.app import create_app
from factcheck_local.serve.service import Config, Service
from factcheck_local.serve.worker import Worker

DOCS = {
    "leave.md": "# Leave\n\nFull-time staff get 27 days of paid leave a year.\n",
    "parking.md": "# Parking\n\nThe car park opens at seven in the morning.\n",
    "board.md": "---\naccess: [board]\n---\n# Board\n\nThe board meets in Lisbon in March.\n",
}

#: The small models of the tests; claims are given, so that no LLM is needed.
SETTINGS = Settings(llm="smollm2-135m", relation="encoder")


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, to be copied."""
    folder = tmp_path_factory.mktemp("served")
    docs = folder / "docs"
    docs.mkdir()
    for name, text in DOCS.items():
        (docs / name).write_text(text)
    with Store.create(folder / ".factcheck") as store:
        sync([docs], store)
    return folder


@pytest.fixture
def config(indexed: Path, tmp_path: Path) -> Config:
    shutil.copytree(indexed, tmp_path / "at")
    return Config(
        tmp_path / "at" / ".factcheck",
        tmp_path / "data",
        SETTINGS,
        hosts=frozenset({"testserver"}),
    )


@pytest.fixture
def serve(config: Config) -> Iterator[Callable[..., TestClient]]:
    """Starts a server without the process with the models; what may be changed of its set-up.

    The one before is stopped: a folder is one server's at a time.
    """
    running: list[TestClient] = []

    def stop() -> None:
        while running:
            running.pop().__exit__(None, None, None)

    def start(**changes: object) -> TestClient:
        stop()
        app = create_app(replace(config, **changes), worker=False)  # type: ignore[arg-type]
        client = TestClient(app, raise_server_exceptions=False)
        client.__enter__()
        running.append(client)
        return client

    yield start
    stop()


def service_of(client: TestClient) -> Service:
    found: Service = client.app.state.service  # type: ignore[attr-defined]
    return found


def work(client: TestClient) -> None:
    """Do what waits, in this process."""
    service = service_of(client)
    worker = Worker(service.jobs, service.config.store, service.config.settings)
    while worker.do_next():
        pass


def asked(*claims: str, **more: object) -> dict[str, object]:
    """A check of claims that are given."""
    record = {
        "output": " ".join(claims),
        "atoms": [{"id": f"a{n}", "text": c, "original": c} for n, c in enumerate(claims)],
    }
    return {"record": record, **more}
