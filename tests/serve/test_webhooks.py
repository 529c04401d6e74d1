"""Webhooks: signed, without content, told at least once whoever stops when, at last given up."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from factcheck_local.cli import cli
from factcheck_local.core import egress
from factcheck_local.core.errors import EgressError, InputError, StoreError
from factcheck_local.serve import webhooks as module
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.outbox import Delivery, Outbox
from factcheck_local.serve.service import Config
from factcheck_local.serve.webhooks import Webhooks, address_of, secret_from, signed

from .conftest import asked, work
from .test_server import until

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KEY = secret_from(SECRET)


class Receiver:
    """What a host gets; answers one status after the other, the last one on and on."""

    def __init__(self, *statuses: int) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.pause = 0.0
        receiver, left = self, list(statuses)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                time.sleep(receiver.pause)
                status = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                if status == 302:
                    self.send_header("location", receiver.url)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def said(self) -> list[Any]:
        return [json.loads(body) for _, body in self.got]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(module, "LOOK", 0.02)


@pytest.fixture
def receiver(request: pytest.FixtureRequest) -> Iterator[Receiver]:
    made = Receiver(*getattr(request, "param", (200,)))
    yield made
    made.close()


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path / "checks.sqlite")


def cancelled(jobs: Jobs, digest: str = "x") -> str:
    """A job that has ended without a result."""
    return jobs.cancel(jobs.submit("ann", {"body": {}}, digest, most=9).id).id


def test_the_signature_is_that_of_the_specification() -> None:
    """The example of its reference implementations."""
    headers = signed(KEY, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_check_that_has_ended_is_told_without_its_content(
    serve: Callable[..., TestClient], receiver: Receiver
) -> None:
    client = serve(webhooks=(receiver.url,), webhook_key=KEY)
    claim = "Full-time staff get 27 days of paid leave a year."
    id_ = client.post("/v1/checks", json=asked(claim, name="hr.md")).json()["id"]
    work(client)
    state = client.app.state  # type: ignore[attr-defined]
    with Webhooks({"check": state.service.jobs}, [receiver.url], KEY):
        until(lambda: len(receiver.got) >= 1)
    ((headers, body),) = receiver.got
    said = json.loads(body)
    assert (said["type"], said["data"]["id"], said["data"]["state"]) == ("check.done", id_, "done")
    assert said["data"]["counts"]["supported"] == 1
    report = client.get(f"/v1/checks/{id_}/report.json").content
    assert said["data"]["report_sha256"] == hashlib.sha256(report).hexdigest()
    assert b"leave" not in body
    assert b"hr.md" not in body
    # As a receiver proves it.
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    mac = hmac.new(base64.b64decode(SECRET.removeprefix("whsec_")), text, "sha256").digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(mac).decode()}"


@pytest.mark.parametrize("receiver", [(500, 302, 200)], indirect=True)
def test_what_was_not_taken_is_tried_again_under_its_id(jobs: Jobs, receiver: Receiver) -> None:
    Outbox(jobs).address([receiver.url])
    id_ = cancelled(jobs)
    # The server that was to tell it is another by now.
    with Webhooks({"check": Jobs(jobs.path)}, [receiver.url], KEY):
        until(lambda: Outbox(jobs).due(receiver.url) == [] and len(receiver.got) == 3)
    assert [one["data"] for one in receiver.said()] == [{"id": id_, "state": "cancelled"}] * 3
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1


@pytest.mark.parametrize("receiver", [(503,)], indirect=True)
def test_what_nobody_takes_is_given_up(
    jobs: Jobs,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(module, "ATTEMPTS", 3)
    nobody = "http://127.0.0.1:9/hook"
    Outbox(jobs).address([receiver.url, nobody])
    cancelled(jobs)
    with Webhooks({"check": jobs}, [receiver.url, nobody], KEY):
        until(lambda: caplog.text.count("given up") == 2)
    assert len(receiver.got) == 3
    assert "given up, answered 503" in caplog.text
    assert "given up, ConnectError" in caplog.text


def test_what_the_guard_refuses_is_given_up_like_what_nobody_takes(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "ATTEMPTS", 1)

    def refuse(*_: object, **__: object) -> None:
        raise EgressError("refused")

    monkeypatch.setattr(httpx.Client, "stream", refuse)
    url = "http://127.0.0.1:9/hook"
    Outbox(jobs).address([url])
    cancelled(jobs)
    with Webhooks({"check": jobs}, [url], KEY):
        until(lambda: "given up, EgressError" in caplog.text)


def test_whatever_goes_wrong_the_next_is_told(
    jobs: Jobs,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    Outbox(jobs).address([receiver.url])
    cancelled(jobs)
    due, failures = Outbox.due, [RuntimeError("of a text"), StoreError("disk full")]

    def failing(outbox: Outbox, url: str) -> list[Delivery]:
        if failures:
            raise failures.pop(0)
        return due(outbox, url)

    monkeypatch.setattr(Outbox, "due", failing)
    with Webhooks({"check": jobs}, [receiver.url], KEY):
        until(lambda: len(receiver.got) == 1)
    assert "webhooks: RuntimeError" in caplog.text
    assert "of a text" not in caplog.text


def test_who_is_no_longer_named_is_no_longer_told(jobs: Jobs, receiver: Receiver) -> None:
    other = "http://127.0.0.1:9/other"
    Outbox(jobs).address([other])
    cancelled(jobs, "before")
    assert len(Outbox(jobs).due(other)) == 1
    with Webhooks({"check": jobs}, [receiver.url], KEY):
        after = cancelled(jobs, "after")
        until(lambda: len(receiver.got) == 1)
    assert Outbox(jobs).due(other) == []
    assert [one["data"]["id"] for one in receiver.said()] == [after]
    # Without any nothing is kept.
    Webhooks({"check": jobs}, [], b"")
    cancelled(jobs, "later")
    assert Outbox(jobs).due(receiver.url) == []


def test_an_address_that_is_named_twice_is_told_once(jobs: Jobs, receiver: Receiver) -> None:
    receiver.pause = 0.5
    with Webhooks({"check": jobs}, [receiver.url, receiver.url], KEY):
        cancelled(jobs)
        until(lambda: Outbox(jobs).due(receiver.url) == [])
    assert len(receiver.got) == 1


def test_indexing_is_told_by_its_counts(jobs: Jobs, receiver: Receiver) -> None:
    Outbox(jobs).address([receiver.url])
    jobs.submit("ann", {"folder": "house"}, "house", most=9)
    claimed = jobs.claim()
    assert claimed is not None
    failed = [{"source": "secret.pdf", "reason": "is empty"}]
    jobs.finish(claimed, {"indexed": 2, "failed": failed, "digest": "d" * 64})
    with Webhooks({"index": jobs}, [receiver.url], KEY):
        until(lambda: len(receiver.got) == 1)
    ((_, body),) = receiver.got
    assert json.loads(body)["data"] == {
        "id": claimed.check.id,
        "state": "done",
        "counts": {"indexed": 2, "failed": 1},
        "index_sha256": "d" * 64,
    }


def test_only_the_named_host_may_be_reached(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a test before this one named stays named as long as the process lives.
    monkeypatch.setattr(egress._rule, "named", set())
    Webhooks({"check": jobs}, ["https://hooks.example:8443/x"], KEY)
    assert egress._rule.may_reach("hooks.example", 8443)
    assert not egress._rule.may_reach("hooks.example", 443)
    assert not egress._rule.may_reach("other.example", 8443)


def test_a_host_that_is_no_ascii_name_is_named_as_it_is_reached() -> None:
    assert address_of("https://Bücher.example/x") == ("xn--bcher-kva.example", 443)
    assert address_of("https://[::1]:8443/x") == ("::1", 8443)
    with pytest.raises(InputError, match="Invalid IDNA hostname"):
        address_of("https://a\u200bb.example/")


@pytest.mark.parametrize(
    "url", ["hooks.example", "http://hooks.example/x", "ftp://a.example", "https://a:b@c.example/"]
)
def test_addresses_without_tls_and_others_are_refused(url: str) -> None:
    with pytest.raises(InputError, match="expected https"):
        address_of(url)
    with pytest.raises(InputError):
        address_of("https://hooks.example:99999/")


@pytest.mark.parametrize(
    "secret",
    ["", "whsec_", "whsec_c2hvcnQ=", SECRET[6:], "whsec_?", f"{SECRET}é", f"\udcff{SECRET}"],
)
def test_a_secret_that_is_none_is_refused_and_not_repeated(
    secret: str, config: Config, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_bytes(os.fsencode(secret))
    done = CliRunner().invoke(
        cli,
        [
            *("serve", "--store", str(config.store), "--data", str(config.folder)),
            *("--webhook", "https://hooks.example/", "--webhook-secret", str(tmp_path / "secret")),
        ],
    )
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith("the secret of webhooks: expected whsec_")
    assert len(secret) < 7 or secret not in str(done.exception)


def test_a_secret_without_a_webhook_is_refused(config: Config, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    place = ("--store", str(config.store), "--data", str(config.folder))
    done = CliRunner().invoke(cli, ["serve", *place, "--webhook-secret", str(tmp_path / "secret")])
    assert (done.exit_code, "--webhook-secret goes with --webhook" in done.output) == (2, True)
