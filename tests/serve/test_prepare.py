"""Passages that a server's model reads while no check waits."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from factcheck_local import Store, sync
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.pipeline.settings import Settings
from factcheck_local.serve.service import Config
from factcheck_local.serve.worker import Worker

from .conftest import SETTINGS, asked, service_of
from .test_server import Running, until

pytestmark = pytest.mark.long


@pytest.fixture
def worker(config: Config, keeping_llm: LlamaCppModel, serve: Callable[..., TestClient]) -> Worker:
    settings = Settings(llm=keeping_llm.id, relation="llm")
    service = service_of(serve(settings=settings))
    return Worker(service.jobs, config.store, settings, llm=keeping_llm)


def kept(config: Config) -> int:
    with Store.open(config.store) as store:
        assert store.states is not None
        return len(list(store.states.glob("*/*.state")))


def test_passages_are_read_until_a_check_waits_and_the_rest_later(
    worker: Worker,
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    waiting = iter([False, True])
    with monkeypatch.context() as patch:
        patch.setattr(worker._jobs, "waits", lambda: next(waiting))
        worker.prepare()
    assert kept(config) == 1
    with caplog.at_level(logging.INFO):
        worker.prepare()
    assert kept(config) == 3
    assert "2 passages read ahead, 0 left" in caplog.text


def test_a_store_is_gone_through_again_when_it_has_changed(
    worker: Worker, config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    worker.prepare()
    assert kept(config) == 3
    with caplog.at_level(logging.INFO):
        worker.prepare()
    assert not caplog.text
    docs = config.store.parent / "docs"
    (docs / "pets.md").write_text("# Pets\n\nDogs are allowed on Fridays.\n")
    with Store.open(config.store) as store:
        sync([docs], store)
    worker.prepare()
    assert kept(config) == 4


def test_a_check_that_waits_is_seen(serve: Callable[..., TestClient]) -> None:
    client = serve()
    jobs = service_of(client).jobs
    assert not jobs.waits()
    assert client.post("/v1/checks", json=asked("Dogs are allowed.")).status_code == 202
    assert jobs.waits()
    assert jobs.claim() is not None
    assert not jobs.waits()


def test_what_cannot_be_read_ahead_is_said_and_checks_go_on(
    config: Config, serve: Callable[..., TestClient], caplog: pytest.LogCaptureFixture
) -> None:
    client = serve()
    jobs = service_of(client).jobs
    worker = Worker(jobs, config.store, SETTINGS)
    worker.prepare()
    assert "no passages are read ahead: relation=encoder" in caplog.text
    client.post("/v1/checks", json=asked("Full-time staff get 27 days of paid leave a year."))
    assert worker.do_next()
    assert jobs.counts() == {"done": 1}
    Worker(jobs, config.store / "nowhere", SETTINGS).prepare()
    assert "nowhere" in caplog.text


def test_the_option_reaches_the_process_with_the_models(
    config: Config, capfd: pytest.CaptureFixture[str]
) -> None:
    server = Running(config, "--prepare")
    said = ""

    def told() -> bool:
        nonlocal said
        said += capfd.readouterr().err
        return "no passages are read ahead: relation=encoder" in said

    try:
        until(told)
    finally:
        server.process.kill()
        server.process.wait()
