"""The routes: checks from asking to the report, and who may see what."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fastapi.testclient import TestClient

from factcheck_local import Store, sync
from factcheck_local.core.errors import InputError, StoreError
from factcheck_local.models.add import add_server
from factcheck_local.models.cards import data_directory
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline import loaded as loaded_module
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report.events import event_json_schema
from factcheck_local.serve import requests as requests_module
from factcheck_local.serve import service as service_module
from factcheck_local.serve import worker as worker_module
from factcheck_local.serve.access import Keys
from factcheck_local.serve.app import create_app
from factcheck_local.serve.audit import verified
from factcheck_local.serve.outbox import Outbox
from factcheck_local.serve.service import Config
from factcheck_local.serve.worker import Worker
from tests.indexer.helpers import HashingEmbedder
from tests.models.scripted_server import ScriptedServer, chat_completion

from .conftest import SETTINGS, asked, service_of, work

Serve = Callable[..., TestClient]

LEAVE = "Full-time staff get 27 days of paid leave a year."
BOARD = "The board meets in Lisbon in March."


def key(
    client: TestClient, name: str, *scopes: str, groups: tuple[str, ...] | None = None
) -> dict[str, str]:
    """Headers of somebody with a key."""
    made = service_of(client).keys.add(name, scopes, groups)
    return {"Authorization": f"Bearer {made}"}


def submit(client: TestClient, body: dict[str, object], **headers: str) -> str:
    answered = client.post("/v1/checks", json=body, headers=headers)
    assert answered.status_code == 202, answered.text
    assert answered.headers["location"] == f"/v1/checks/{answered.json()['id']}"
    return str(answered.json()["id"])


def test_a_check_from_asking_to_its_report(serve: Serve) -> None:
    client = serve()
    first = submit(client, asked(LEAVE, name="hr.md"))
    second = submit(client, asked("The car park opens at nine in the morning."))
    assert client.get(f"/v1/checks/{second}").json()["ahead"] == 1
    assert client.get(f"/v1/checks/{first}/report.md").status_code == 409
    work(client)
    shown = client.get(f"/v1/checks/{first}").json()
    assert (shown["state"], shown["name"], shown["owner"]) == ("done", "hr.md", "local")
    (claim,) = shown["result"]["atoms"]
    assert claim["verdict"] == "supported"
    assert claim["evidence"][0]["quote"]["text"] == LEAVE
    kinds = {"html": "text/html", "md": "text/markdown", "sarif": "application/sarif+json"}
    for ending, kind in kinds.items():
        report = client.get(f"/v1/checks/{first}/report.{ending}")
        assert report.status_code == 200
        assert report.headers["content-type"].startswith(kind)
        assert "hr.md" in report.text
        assert ("27 days" in report.text) == (ending != "sarif"), "SARIF has what is wrong alone"
        assert "default-src 'none'" in report.headers["content-security-policy"]
    assert client.get(f"/v1/checks/{first}/report.json").json() == shown["result"]
    assert client.get(f"/v1/checks/{first}/report.pdf").status_code == 404
    again = client.post("/v1/checks?wait=5", json=asked(LEAVE, name="hr.md"))
    assert (again.status_code, again.json()["id"]) == (200, first)
    assert again.json()["result"] == shown["result"]


def test_what_is_indexed_meanwhile_makes_another_check(serve: Serve) -> None:
    client = serve()
    first = submit(client, asked(LEAVE))
    work(client)
    store = service_of(client).config.store
    (store.parent / "docs" / "leave.md").write_text("# Leave\n\nStaff get 30 days of paid leave.\n")
    with Store.open(store) as opened:
        sync([store.parent / "docs"], opened)
    second = submit(client, asked(LEAVE))
    assert second != first
    work(client)
    quotes = [
        row["quote"]["text"]
        for atom in client.get(f"/v1/checks/{second}").json()["result"]["atoms"]
        for row in atom["evidence"]
    ]
    assert LEAVE not in quotes
    found = client.post("/v1/search", json={"query": "days of leave", "k": 1}).json()["passages"]
    assert "30 days" in found[0]["text"]


def test_a_check_again_says_what_changed_since(serve: Serve) -> None:
    client = serve()
    first = submit(client, asked(LEAVE, BOARD))
    service = service_of(client)
    worker = Worker(service.jobs, service.config.store, service.config.settings)
    assert worker.do_next()
    same = client.post(f"/v1/checks/{first}/again")
    assert (same.status_code, same.json()["id"]) == (202, first), "nothing has changed"
    store = service.config.store
    (store.parent / "docs" / "board.md").write_text("# Board\n\nThe board meets in May.\n")
    with Store.open(store) as opened:
        sync([store.parent / "docs"], opened)
    second = client.post(f"/v1/checks/{first}/again").json()["id"]
    assert second != first
    changes = f"/v1/checks/{second}/changes"
    assert client.get(changes, params={"since": first}).status_code == 409, "not done yet"
    assert worker.do_next()
    found = client.get(changes, params={"since": first}).json()
    assert (found["same"], found["made_with"]) == (False, [])
    assert found["index"]["old"] != found["index"]["new"]
    board = next(claim for claim in found["claims"] if claim["new"]["text"] == BOARD)
    assert board["old"]["verdict"] == "supported" != board["new"]["verdict"]
    assert board["evidence"][0]["source"] == "board.md"
    assert client.get(changes, params={"since": "none"}).status_code == 404


def test_past_checks_are_searched_without_regard_to_case(serve: Serve) -> None:
    client = serve(needs_key=True)
    ann, bob = key(client, "ann", "check"), key(client, "bob", "check")
    question = "Was gilt für die STRASSE?"
    named = submit(client, asked(LEAVE, name="Über_uns.md"), **ann)
    questioned = submit(client, asked(BOARD, question=question), **ann)
    plain = client.post("/v1/checks", json={"answer": "100% of it."}, headers=ann).json()["id"]

    def found(q: str, who: dict[str, str] = ann) -> list[str]:
        rows = client.get("/v1/checks", params={"q": q}, headers=who).json()["checks"]
        return [row["id"] for row in rows]

    assert found("über_UNS") == [named]
    assert found("straße") == [questioned]
    assert found("LISBON") == [questioned], "the output of a record is its answer"
    assert found("100%") == [plain], "no character stands for others"
    assert found("überXuns") == found("27 days", bob) == []
    assert found("") == [plain, questioned, named]
    jobs = service_of(client).jobs
    claimed = jobs.claim()
    assert claimed is not None
    jobs.finish(claimed, {"summary": {"counts": {"supported": 1}}})
    rows = client.get("/v1/checks", headers=ann).json()["checks"]
    assert [row["begins"] for row in rows] == ["100% of it.", BOARD, LEAVE]
    assert rows[0]["verdicts"] is None
    assert rows[2]["verdicts"] == {"supported": 1}


def test_conflicts_are_those_of_the_callers_own_checks(serve: Serve) -> None:
    client = serve(needs_key=True)
    ann, bob = key(client, "ann", "check"), key(client, "bob", "check")
    id_ = submit(client, asked(LEAVE, BOARD), **ann)
    sides = (("entailment", "new.md"), ("entailment", "new.md"), ("contradiction", "old.md"))
    contexts = [{"id": str(n), "source": source} for n, (_, source) in enumerate(sides)]
    evidence = [{"context": str(n), "relation": said} for n, (said, _) in enumerate(sides)]
    about = {"verdict": "supported", "probability": 0.8}
    atoms = [
        {"id": "a0", "text": LEAVE, "evidence": evidence, **about},
        {"id": "a1", "text": BOARD, "evidence": evidence[:2], **about},
    ]
    jobs = service_of(client).jobs
    claimed = jobs.claim()
    assert claimed is not None
    jobs.finish(claimed, {"contexts": contexts, "atoms": atoms})
    (row,) = client.get("/v1/conflicts", headers=ann).json()["claims"]
    assert (row["check"], row["claim"], row["text"]) == (id_, "a0", LEAVE)
    assert (row["support"], row["contradict"]) == (["new.md"], ["old.md"])
    assert client.get("/v1/conflicts", headers=bob).json() == {"claims": []}


def test_who_asks_is_told(serve: Serve) -> None:
    assert serve().get("/v1/me").json() == {
        "name": "local",
        "scopes": ["check", "search", "review", "index", "admin"],
        "groups": None,
        "keys": False,
    }
    client = serve(needs_key=True)
    staff = key(client, "ann", "review", groups=("staff",))
    told = client.get("/v1/me", headers=staff).json()
    assert told == {"name": "ann", "scopes": ["review"], "groups": ["staff"], "keys": True}


@pytest.mark.parametrize("name", ["calibration.json", "risk.json"])
def test_what_is_fitted_meanwhile_makes_another_check(serve: Serve, name: str) -> None:
    client = serve()
    first = submit(client, asked(LEAVE))
    assert submit(client, asked(LEAVE)) == first
    (service_of(client).config.store / name).write_text("[]")
    assert submit(client, asked(LEAVE)) != first


def test_a_check_stands_for_the_documents_that_it_was_done_with(serve: Serve) -> None:
    client = serve()
    store = service_of(client).config.store
    leave = store.parent / "docs" / "leave.md"
    before = leave.read_text()

    def index(text: str) -> None:
        leave.write_text(text)
        with Store.open(store) as opened:
            sync([store.parent / "docs"], opened)

    first = submit(client, asked(LEAVE))
    index("# Leave\n\nStaff get 30 days of paid leave.\n")
    work(client)
    assert client.post("/v1/checks", json=asked(LEAVE)).json()["id"] == first
    index(before)
    assert submit(client, asked(LEAVE)) != first


@pytest.mark.parametrize("front", ["owner: Legal", "date: 2024-03-01", "superseded_by: parking.md"])
def test_what_a_document_states_meanwhile_makes_another_check(serve: Serve, front: str) -> None:
    client = serve()
    store = service_of(client).config.store
    leave = store.parent / "docs" / "leave.md"

    def index(text: str) -> str:
        leave.write_text(text)
        with Store.open(store) as opened:
            sync([store.parent / "docs"], opened)
            return opened.digest()

    before = leave.read_text()
    index(f"---\nstatus: new\n---\n{before}")
    first = submit(client, asked(LEAVE))
    evidence = service_of(client).digest()
    work(client)
    assert client.post("/v1/checks", json=asked(LEAVE)).json()["id"] == first
    assert index(f"---\n{front}\n---\n{before}") == evidence
    second = submit(client, asked(LEAVE))
    assert second != first
    work(client)
    assert client.post("/v1/checks", json=asked(LEAVE)).json()["id"] == second


#: What ``factcheck index --rebuild`` does, in a process of its own.
REBUILD = """
import sys
from pathlib import Path
from factcheck_local import Store, sync
from factcheck_local.indexer.fingerprint import Fingerprint
from tests.indexer.helpers import HashingEmbedder

place, other = Path(sys.argv[1]), HashingEmbedder()
Store.erase(place)
with Store.create(place, Fingerprint.of(other)) as store:
    sync([place.parent / "docs"], store, other)
"""


def test_a_rebuilt_store_is_searched_by_its_own_embedder(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve()
    config = service_of(client).config
    asks = {"query": "days of leave", "k": 1}
    (first,) = client.post("/v1/search", json=asks).json()["passages"]
    other, loaded = HashingEmbedder(), []

    def load(id_: str, _role: str) -> HashingEmbedder:
        loaded.append(id_)
        return other

    monkeypatch.setattr(service_module, "load_model", load)
    # The documents are the same, and so are passages and digest.
    subprocess.run([sys.executable, "-c", REBUILD, str(config.store)], check=True)
    for _ in range(2):
        (found,) = client.post("/v1/search", json=asks).json()["passages"]
        assert loaded == [other.id]
        assert found["similarity"] != first["similarity"]


CARD = """
id = "{id}"
title = "Own"
role = "{role}"
licence = "none"
backend = "llama_cpp"

[options]
context_length = 2048
chat_format = "{chat_format}"

[[files]]
path = "model.gguf"
size = 1
sha256 = "{sha256}"
"""


def test_a_rebuilt_store_is_checked_by_its_own_embedder(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").symlink_to(data_directory() / "models")
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path))
    other = HashingEmbedder()
    (tmp_path / "cards").mkdir()
    values = {"role": "embedder", "chat_format": "chatml", "sha256": other.sha256}
    card = CARD.format(id=other.id, **values).replace("context_length", "max_tokens")
    (tmp_path / "cards" / "hashing.toml").write_text(card)

    def load(id_: str, role: str | None = None) -> object:
        return other if id_ == other.id else load_model(id_, role)

    monkeypatch.setattr(loaded_module, "load_model", load)
    client = serve()
    service = service_of(client)
    worker = Worker(service.jobs, service.config.store, service.config.settings)

    def used(id_: str) -> list[str]:
        assert worker.do_next()
        report = client.get(f"/v1/checks/{id_}/report.json").json()
        return [m["id"] for m in report["run"]["models"] if m["role"] == "embedder"]

    first = submit(client, asked(LEAVE))
    assert used(first) == ["all-minilm-l6-v2"]
    subprocess.run([sys.executable, "-c", REBUILD, str(service.config.store)], check=True)
    second = submit(client, asked(LEAVE))
    assert second != first
    assert used(second) == [other.id]
    assert client.post("/v1/checks", json=asked(LEAVE)).json()["id"] == second


@pytest.mark.parametrize(
    ("setting", "role", "other"),
    [
        ("rerank", "reranker", {"sha256": "1" * 64}),
        ("rerank", "encoder", {"sha256": "1" * 64}),
        ("llm", "llm", {"chat_format": "llama3"}),
    ],
)
def test_another_model_of_the_same_name_makes_another_check(
    serve: Serve,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    role: str,
    other: dict[str, str],
) -> None:
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path))
    card = tmp_path / "cards" / "own.toml"
    card.parent.mkdir()
    values = {"id": "own", "role": role, "chat_format": "chatml", "sha256": "0" * 64}
    card.write_text(CARD.format(**values))
    client = serve(settings=replace(SETTINGS, **{setting: "own"}))  # type: ignore[arg-type]
    first = submit(client, asked(LEAVE))
    assert submit(client, asked(LEAVE)) == first
    card.write_text(CARD.format(**values | other))
    assert submit(client, asked(LEAVE)) != first


def test_a_model_on_a_server_is_asked_again(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody here sees whether it holds the same as before."""
    (tmp_path / "models").symlink_to(data_directory() / "models")
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path))
    models = {"data": [{"id": "served", "root": "small"}]}
    top = {"A": -0.1, "B": -4.0, "C": -3.0}
    server = ScriptedServer(lambda _: chat_completion("A", top), models)
    try:
        add_server("team", server.url)
        client = serve(settings=Settings(llm="team", relation="llm"))
        service = service_of(client)
        worker = Worker(service.jobs, service.config.store, service.config.settings)
        first = submit(client, asked(LEAVE))
        assert submit(client, asked(LEAVE)) == first, "it is yet to be done"
        assert worker.do_next()
        models["data"][0]["root"] = "large"
        second = submit(client, asked(LEAVE))
        assert second != first
        assert worker.do_next()
    finally:
        server.close()

    def used(id_: str) -> set[str]:
        report = client.get(f"/v1/checks/{id_}/report.json").json()
        return {m["sha256"] for m in report["run"]["models"] if m["role"] == "relation"}

    assert used(first) != used(second)


def test_what_cannot_be_logged_is_not_done(serve: Serve) -> None:
    client = serve()
    (service_of(client).config.folder / "audit.jsonl").mkdir()
    for method, path, body in (
        ("POST", "/v1/checks", asked(LEAVE)),
        ("POST", "/v1/search", {"query": "leave"}),
    ):
        answered = client.request(method, path, json=body)
        assert answered.status_code == 503
        assert "audit.jsonl: cannot be written" in answered.json()["detail"]
        assert "27 days" not in answered.text
    assert service_of(client).jobs.counts() == {}


def test_events_tell_what_happens_and_go_on_behind_one(serve: Serve) -> None:
    client = serve()
    id_ = submit(client, asked(LEAVE))
    work(client)

    def told(**headers: str) -> list[tuple[int, str, Any]]:
        text = client.get(f"/v1/checks/{id_}/events", headers=headers).text
        blocks = [
            dict(line.split(": ", 1) for line in b.splitlines()) for b in text.split("\n\n") if b
        ]
        return [(int(b["id"]), b["event"], json.loads(b["data"])) for b in blocks]

    everything = told()
    assert [event[1] for event in everything][:2] == ["queued", "running"]
    assert everything[-1][1:] == ("done", {})
    assert {"retrieve", "relate"} <= {d["stage"] for _, name, d in everything if name == "stage"}
    (claim,) = [data for _, name, data in everything if name == "claim"]
    jsonschema.validate(claim, json.loads(event_json_schema()))
    assert (claim["provisional"], claim["claim"]["verdict"]) == (True, "supported")
    assert told(**{"Last-Event-ID": "2"}) == everything[2:]


def test_a_cancelled_check_is_not_done(serve: Serve) -> None:
    client = serve()
    id_ = submit(client, asked(LEAVE))
    assert client.delete(f"/v1/checks/{id_}").json()["state"] == "cancelled"
    work(client)
    shown = client.get(f"/v1/checks/{id_}").json()
    assert (shown["state"], shown["result"]) == ("cancelled", None)
    assert client.delete("/v1/checks/none").status_code == 404


def test_what_a_cancelled_check_asked_for_is_not_kept(serve: Serve) -> None:
    client = serve()
    body = {"answer": f"{LEAVE} In secret.", "question": "In secret?", "name": "hr.md"}
    id_ = client.post("/v1/checks", json=body).json()["id"]
    client.delete(f"/v1/checks/{id_}")
    shown = client.get(f"/v1/checks/{id_}").json()
    assert (shown["name"], shown["question"], shown["begins"]) == ("hr.md", None, "")
    assert client.get("/v1/checks", params={"q": "secret"}).json()["checks"] == []
    (row,) = client.get("/v1/checks").json()["checks"]
    assert row["id"] == id_
    again = client.post(f"/v1/checks/{id_}/again")
    assert (again.status_code, "is not kept" in again.json()["detail"]) == (409, True)
    with service_of(client).jobs.connected() as db:
        assert "secret" not in "\n".join(db.iterdump())
    assert client.post("/v1/checks", json=body).json()["id"] != id_


def test_only_what_is_read_of_a_record_is_kept(serve: Serve) -> None:
    client = serve()
    more = {"more": [[["deep"]]]}
    atom = {"id": "a", "text": LEAVE, "original": LEAVE, "contexts": ["c"]}
    context = {"id": "c", "text": "Staff get 27 days.", "title": "Leave"}
    plain = {"input": "How many?", "output": LEAVE, "atoms": [atom], "contexts": [context]}
    full = plain | {"atoms": [atom | more], "contexts": [context | more]} | more
    id_ = submit(client, {"record": full})
    assert service_of(client).jobs.find(id_).request["body"]["record"] == plain
    assert submit(client, {"record": plain}) == id_


@pytest.mark.parametrize(("assessor", "status"), [("fr1", 202), ("fr2", 202), ("fr4", 422)])
def test_a_record_of_too_many_pairs_is_refused(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, assessor: str, status: int
) -> None:
    monkeypatch.setattr(requests_module, "MOST_POSSIBLE", 20)
    # Of two claims with nine passages: 4 are named, 18 are possible, 90 with passages in pairs.
    contexts = [{"id": f"c{n}", "text": f"Text {n}."} for n in range(9)]
    atoms = [{"id": f"a{n}", "text": BOARD, "contexts": ["c0", "c1"]} for n in range(2)]
    record = {"output": BOARD, "atoms": atoms, "contexts": contexts}
    body = {"record": record, "settings": {"assessor": assessor}}
    answered = serve().post("/v1/checks", json=body)
    assert answered.status_code == status
    if status == 422:
        said = "answer: 90 pairs of texts with assessor=fr4, at most 20 are taken"
        assert answered.json()["detail"] == said


def test_a_check_that_comes_to_too_many_pairs_fails(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "MOST_PAIRS", 1)
    client = serve()
    id_ = submit(client, asked(LEAVE, BOARD))
    work(client)
    shown = client.get(f"/v1/checks/{id_}").json()
    assert shown["state"] == "failed"
    assert "steps, at most 1 are taken by this server" in shown["problem"]


def test_a_check_that_cannot_be_done_says_why(serve: Serve) -> None:
    client = serve()
    # Valid when it was asked for, and no longer when it is done.
    id_ = submit(client, asked(LEAVE, settings={"where": ["owner=Legal"]}))
    service = service_of(client)
    (service.config.store / "store.json").write_text("{}")
    work(client)
    shown = client.get(f"/v1/checks/{id_}").json()
    assert shown["state"] == "failed"
    assert "store.json" in shown["problem"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "expected either an answer or a record"),
        ({"answer": "A.", "record": {"output": "A."}}, "expected either an answer or a record"),
        ({"answer": "  "}, "the answer is empty"),
        ({"answer": "A.", "extra": 1}, "extra"),
        ({"record": {"output": ""}}, "answer: expected 'output' to be a non-empty text"),
        ({"answer": "A.", "settings": {"colour": 1}}, "unknown setting 'colour'"),
        ({"answer": "A.", "settings": {"llm": "other"}}, "llm is the server's"),
        ({"answer": "A.", "settings": {"rerank": "llm"}}, "unknown model 'llm'"),
        ({"answer": "A.", "settings": {"as_groups": ["board"]}}, "as_groups is the server's"),
        (
            {"answer": "A.", "settings": {"relation": "llm+other"}},
            "names a model that is not loaded",
        ),
        ({"answer": "A.", "settings": {"rerank": "other"}}, "names a model that is not loaded"),
        ({"answer": "A.", "settings": {"k": 0}}, "k: expected"),
        ({"answer": "A.", "settings": {"k": 10**9}}, "k: expected a whole number from 1 to 1000"),
        ({"answer": "A.", "settings": {"assessor": "factscore"}}, "is there to be compared with"),
        ({"answer": "A.", "settings": {"budget": 3}}, "budget: has no effect"),
        ({"answer": "A.", "settings": {"where": ["nonsense"]}}, "expected a condition"),
        (
            {"answer": "A.", "settings": {"where": ["owner=Legal"] * 21}},
            "settings: where: 21 conditions, at most 20 are taken",
        ),
        ({"record": {"output": "A.", "atoms": [{"id": str(n)} for n in range(1001)]}}, "atom 0"),
        (
            {"record": {"output": "A.", "atoms": [{"id": "a" * 201, "text": "A."}]}},
            "answer: the id of atom 0 has 201 characters, at most 200 are taken",
        ),
        (
            {"record": {"output": "A.", "contexts": [{"id": "c" * 201, "text": "A."}]}},
            "answer: the id of context 0 has 201 characters, at most 200 are taken",
        ),
        ({"record": {"output": "A.", "more": ["\ud800"]}}, "half a character"),
        ({"record": {"output": "A.", "\ud800": 1}}, "half a character"),
        ({"record": {"output": "A.", "more": float("nan")}}, "a number that JSON does not know"),
        ({"answer": "A.", "settings": {"where": ["source=\ud800"]}}, "half a character"),
        ({"answer": "A.", "settings": {"strong": float("inf")}}, "that JSON does not know"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_one_line(
    serve: Serve, body: dict[str, object], said: str
) -> None:
    client = serve()
    # Python's own JSON, since the client's would not send all of these.
    headers = {"Content-Type": "application/json"}
    answered = client.post("/v1/checks", content=json.dumps(body), headers=headers)
    assert answered.status_code == 422
    assert answered.headers["content-type"] == "application/problem+json"
    problem = answered.json()
    assert (problem["status"], problem["title"]) == (422, HTTPStatus(422).phrase)
    assert said in problem["detail"]
    assert "\n" not in problem["detail"]
    assert service_of(client).jobs.counts() == {}


def test_an_idempotency_key_with_another_answer_is_refused(serve: Serve) -> None:
    client = serve()
    headers = {"Idempotency-Key": "k"}
    first = client.post("/v1/checks", json=asked(LEAVE), headers=headers)
    assert (
        client.post("/v1/checks", json=asked(LEAVE), headers=headers).json()["id"]
        == first.json()["id"]
    )
    assert client.post("/v1/checks", json=asked(BOARD), headers=headers).status_code == 409
    # What is asked is the same, whatever became of the documents.
    store = service_of(client).config.store
    (store.parent / "docs" / "leave.md").write_text("# Leave\n\nStaff get 30 days.\n")
    with Store.open(store) as opened:
        sync([store.parent / "docs"], opened)
    again = client.post("/v1/checks", json=asked(LEAVE), headers=headers)
    assert (again.status_code, again.json()["id"]) == (202, first.json()["id"])


def test_a_full_queue_says_when_to_come_again(serve: Serve) -> None:
    client = serve(queue=1)
    submit(client, asked(LEAVE))
    answered = client.post("/v1/checks", json=asked(BOARD))
    assert (answered.status_code, answered.headers["retry-after"]) == (429, "30")


def test_one_key_does_not_fill_the_queue(serve: Serve) -> None:
    client = serve(needs_key=True, queue=3)
    ann, bob = key(client, "ann", "check"), key(client, "bob", "check")
    for n in range(2):
        submit(client, asked(f"{LEAVE} {n}"), **ann)
    refused = client.post("/v1/checks", json=asked(BOARD), headers=ann)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
    assert refused.json()["detail"] == "2 of your checks wait already"
    submit(client, asked(BOARD), **bob)


async def unfinished(
    client: TestClient, path: str, headers: dict[str, str], method: str = "POST"
) -> int:
    """The status for a request whose body does not end."""
    sent: list[Any] = []

    async def receive() -> dict[str, object]:
        if len(sent) > 0:
            return {"type": "http.disconnect"}
        await asyncio.sleep(60)
        raise AssertionError("the body was waited for")

    async def send(message: Any) -> None:  # noqa: ANN401
        sent.append(message)

    given = {"host": "testserver", "content-type": "application/json", "content-length": "9"}
    raw = [(n.lower().encode(), v.encode()) for n, v in (given | headers).items()]
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "method": method,
        "path": path,
    }
    scope |= {"query_string": b"", "headers": raw, "client": ("10.0.0.9", 1)}
    await client.app(scope, receive, send)
    return int(sent[0]["status"])


def test_no_body_is_read_of_who_has_no_key(serve: Serve) -> None:
    client = serve(needs_key=True, per_minute=6.0)
    for path in ("/v1/checks", "/v1/search", "/v1/none", "/"):
        assert asyncio.run(unfinished(client, path, {})) == 401
    assert asyncio.run(unfinished(client, "/", {}, "GET")) == 401, "open, but not to a body"
    wrong = {"Authorization": "Bearer fck_guess"}
    statuses = [asyncio.run(unfinished(client, "/v1/checks", wrong)) for _ in range(30)]
    assert (statuses[0], statuses[-1]) == (401, 429)
    # A key counts by itself, and its request once.
    ann = key(client, "ann", "check")
    found = [client.get("/v1/checks", headers=ann).status_code for _ in range(30)]
    assert found[:20] == [200] * 20
    assert asyncio.run(unfinished(client, "/v1/checks", ann)) == 429
    # In JSON that is none, the key is looked at first, too.
    headers = {"Content-Type": "application/json"}
    assert client.post("/v1/checks", content=b"{", headers=headers).status_code in (401, 429)


def test_what_needs_no_key_is_open_to_read(serve: Serve) -> None:
    client = serve(needs_key=True, per_minute=6.0)
    for path in ("/", "/checks/x", "/docs", "/web/api.js", "/healthz", "/openapi.json"):
        assert {client.get(path).status_code for _ in range(25)} == {200}, path
    assert client.get("/readyz").status_code == 503
    assert client.post("/", json={}).status_code == 401
    assert client.get("/v1/none").status_code == 401


def kept_key(**changes: object) -> str:
    """A file of keys with one that is not as it was written."""
    kept = {"name": "ann", "sha256": "0" * 64, "scopes": ["check"], "groups": None, "created": 0.0}
    return json.dumps([kept | changes])


@pytest.mark.parametrize(
    "kept",
    [
        "{",
        "[" * 200_000,
        kept_key(sha256=7),
        kept_key(sha256="\u00e9" * 64),
        kept_key(name=["ann"]),
        kept_key(scopes=[["check"]]),
    ],
    ids=lambda kept: kept[:40],
)
def test_keys_that_cannot_be_read_are_no_fault_of_the_caller_s(serve: Serve, kept: str) -> None:
    client = serve(needs_key=True)
    (service_of(client).config.folder / "keys.json").write_text(kept)
    answered = client.get("/v1/checks", headers={"Authorization": "Bearer fck_guess"})
    assert answered.status_code == 503
    assert answered.headers["content-type"] == "application/problem+json"


def test_a_revoked_key_does_not_come_back(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    client = serve(needs_key=True)
    key(client, "ann", "check")
    keys = service_of(client).keys
    write = Keys._write

    def meanwhile(self: Keys, rows: Any) -> None:  # noqa: ANN401
        """Another command revokes a key between reading and writing."""
        monkeypatch.setattr(Keys, "_write", write)
        with pytest.raises(StoreError, match="another command is changing it"):
            Keys(keys._path).revoke("ann")
        write(self, rows)

    monkeypatch.setattr(Keys, "_write", meanwhile)
    Keys(keys._path).add("bob", ["check"], None)
    keys.revoke("ann")
    assert [key.name for key in keys.all()] == ["bob"]


@pytest.mark.parametrize("name", ["local", "server", "console"])
def test_no_key_is_named_as_somebody_without_one_is_logged(tmp_path: Path, name: str) -> None:
    keys = Keys(tmp_path / "keys.json")
    with pytest.raises(InputError, match=f"'{name}' is somebody without a key in the audit log"):
        keys.add(name, ["check"], None)
    assert keys.all() == ()


def test_each_route_needs_a_key_of_its_scope(serve: Serve) -> None:
    client = serve(needs_key=True)
    holders = {
        "check": key(client, "checker", "check"),
        "search": key(client, "searcher", "search"),
        "review": key(client, "reviewer", "review"),
        "index": key(client, "indexer", "index"),
        "admin": key(client, "admin", "admin"),
    }
    routes = [
        ("POST", "/v1/checks", asked(LEAVE), "check"),
        ("GET", "/v1/checks", None, "check"),
        ("GET", "/v1/checks/x", None, "check"),
        ("DELETE", "/v1/checks/x", None, "check"),
        ("GET", "/v1/checks/x/events", None, "check"),
        ("GET", "/v1/checks/x/report.md", None, "check"),
        ("POST", "/v1/search", {"query": "leave"}, "search"),
        ("GET", "/v1/sources", None, "search"),
        ("GET", "/v1/passages/x", None, "search"),
        ("POST", "/v1/checks/x/claims/a/review", {"verdict": "supported"}, "review"),
        ("GET", "/v1/checks/x/reviews", None, "review"),
        ("GET", "/v1/reviews", None, "review"),
        ("GET", "/v1/reviews.jsonl", None, "review"),
        ("GET", "/v1/index", None, "index"),
        ("POST", "/v1/index", {"folder": "house"}, "index"),
        ("GET", "/v1/index/x", None, "index"),
        ("DELETE", "/v1/index/x", None, "index"),
        ("GET", "/v1/index/x/events", None, "index"),
        ("GET", "/metrics", None, "admin"),
        ("POST", "/v1/checks/x/again", None, "check"),
        ("GET", "/v1/checks/x/changes?since=y", None, "check"),
        ("GET", "/v1/conflicts", None, "check"),
        ("GET", "/v1/me", None, "any"),
    ]
    reviewed = [
        ("GET", "/v1/checks/x"),
        ("GET", "/v1/checks/x/report.md"),
        ("GET", "/v1/checks/x/changes?since=y"),
    ]
    open_routes = {"/healthz", "/readyz", "/openapi.json"}
    listed = {
        (method, path)
        for path, methods in client.get("/openapi.json").json()["paths"].items()
        for method in map(str.upper, methods)
        if path not in open_routes
    }
    assert len(listed) == len(routes), "a route that is not tried here"
    for method, path, body, scope in routes:
        for name, headers in {"nobody": {}, **holders}.items():
            status = client.request(method, path, json=body, headers=headers).status_code
            if name == "nobody":
                assert status == 401, path
            elif (
                scope == "any"
                or name in (scope, "admin")
                or (name == "review" and (method, path) in reviewed)
            ):
                assert status not in (401, 403), path
            else:
                assert status == 403, path
    for wrong in ("Bearer fck_guess", "Basic abc", "Bearer", "bearer "):
        assert client.get("/v1/checks", headers={"Authorization": wrong}).status_code == 401


def test_nobody_sees_the_checks_of_another(serve: Serve) -> None:
    client = serve(needs_key=True)
    ann, bob = key(client, "ann", "check"), key(client, "bob", "check")
    id_ = submit(client, asked(LEAVE), **ann)
    assert submit(client, asked(LEAVE), **bob) != id_
    work(client)
    for path in ("", "/events", "/report.html"):
        assert client.get(f"/v1/checks/{id_}{path}", headers=bob).status_code == 404
        assert client.get(f"/v1/checks/{id_}{path}", headers=ann).status_code == 200
    assert client.delete(f"/v1/checks/{id_}", headers=bob).status_code == 404
    assert id_ not in client.get("/v1/checks", headers=bob).text
    admin = key(client, "root", "admin")
    assert id_ in client.get("/v1/checks", headers=admin).text


def test_nobody_sees_a_check_that_could_see_more_than_they(serve: Serve) -> None:
    client = serve(needs_key=True)
    everything = key(client, "ann", "check")
    wide = submit(client, asked(BOARD), **everything)
    service_of(client).keys.revoke("ann")
    board = key(client, "ann", "check", groups=("board",))
    narrow = submit(client, asked(BOARD), **board)
    service_of(client).keys.revoke("ann")
    work(client)
    holders = {
        "staff of the same name": key(client, "ann", "check", groups=("staff",)),
        "staff's admin": key(client, "boss", "admin", groups=("staff",)),
        "board's admin": key(client, "head", "admin", groups=("board", "staff")),
        "admin": key(client, "root", "admin"),
    }

    def seen(headers: dict[str, str]) -> list[str]:
        listed = client.get("/v1/checks", headers=headers).text
        conflicts = client.get("/v1/conflicts", headers=headers)
        assert conflicts.status_code == 200
        found = []
        for name, id_ in (("wide", wide), ("narrow", narrow)):
            paths = ("", "/events", "/report.md", f"/changes?since={id_}")
            answers = [client.get(f"/v1/checks/{id_}{p}", headers=headers) for p in paths]
            shown = {answer.status_code == 200 for answer in answers} | {id_ in listed}
            assert len(shown) == 1
            found += [name] * shown.pop()
        return found

    assert {name: seen(headers) for name, headers in holders.items()} == {
        "staff of the same name": [],
        "staff's admin": [],
        "board's admin": ["narrow"],
        "admin": ["wide", "narrow"],
    }
    assert client.delete(f"/v1/checks/{wide}", headers=holders["staff's admin"]).status_code == 404


def test_a_conflict_in_a_check_that_could_see_more_is_not_listed(serve: Serve) -> None:
    client = serve(needs_key=True)
    submit(client, asked(BOARD), **key(client, "ann", "check"))
    jobs = service_of(client).jobs
    sides = [{"context": "0", "relation": said} for said in ("entailment", "contradiction")]
    atom = {"id": "a0", "text": BOARD, "evidence": sides, "verdict": "conflicting"}
    claimed = jobs.claim()
    assert claimed is not None
    jobs.finish(claimed, {"contexts": [{"id": "0", "source": "board.md"}], "atoms": [atom]})
    boss = key(client, "boss", "admin", groups=("staff",))
    assert client.get("/v1/conflicts", headers=boss).json() == {"claims": []}
    root = key(client, "root", "admin")
    assert len(client.get("/v1/conflicts", headers=root).json()["claims"]) == 1


def test_who_has_no_groups_sees_what_the_server_s_allow(serve: Serve) -> None:
    client = serve(settings=replace(SETTINGS, as_groups=("staff",)))
    asks = {"query": "the board meets in Lisbon", "k": 3}

    found = client.post("/v1/search", json=asks).json()["passages"]
    listed = client.get("/v1/sources").json()["sources"]

    assert {p["source"] for p in found} == {"leave.md", "parking.md"}
    assert {r["source"] for r in listed} == {"leave.md", "parking.md"}


def test_a_key_sees_what_its_groups_may(serve: Serve) -> None:
    client = serve(needs_key=True)
    staff = key(client, "staff", "check", "search", groups=("staff",))
    board = key(client, "member", "check", "search", groups=("board",))
    everything = key(client, "all", "check", "search")

    def seen(headers: dict[str, str]) -> tuple[bool, bool, bool, str]:
        sources = client.get("/v1/sources", headers=headers).text
        found = client.post("/v1/search", json={"query": BOARD, "k": 9}, headers=headers).text
        id_ = submit(client, asked(BOARD), **headers)
        work(client)
        check = client.get(f"/v1/checks/{id_}", headers=headers).text
        verdict = json.loads(check)["result"]["atoms"][0]["verdict"]
        return "board.md" in sources, "Lisbon" in found, "board.md" in check, verdict

    assert seen(staff) == (False, False, False, "not_found")
    assert seen(board) == seen(everything) == (True, True, True, "supported")
    (hit,) = client.post("/v1/search", json={"query": BOARD, "k": 1}, headers=board).json()[
        "passages"
    ]
    passage = f"/v1/passages/{hit['id']}"
    assert client.get(passage, headers=board).json()["text"] == hit["text"]
    assert client.get(passage, headers=staff).status_code == 404
    assert client.get("/v1/passages/none", headers=board).status_code == 404


def test_a_successor_that_groups_may_not_see_is_not_named(serve: Serve) -> None:
    client = serve(needs_key=True)
    staff = key(client, "staff", "check", "search", groups=("staff",))
    board = key(client, "member", "check", "search", groups=("board",))
    store = service_of(client).config.store
    docs = store.parent / "docs"
    (docs / "leave.md").write_text(f"---\nsuperseded_by: board.md\n---\n# Leave\n\n{LEAVE}\n")
    (docs / "reliability.toml").write_text("superseded = 0.3\n")
    with Store.open(store) as opened:
        sync([docs], opened)

    def told(headers: dict[str, str]) -> list[tuple[object, object, str]]:
        """Prior, successor and rule of the source and its passage, wherever they are shown."""
        asks = {"query": LEAVE, "k": 1, "where": ["source=leave.md"]}
        (hit,) = client.post("/v1/search", json=asks, headers=headers).json()["passages"]
        sources = client.get("/v1/sources", headers=headers).json()["sources"]
        id_ = submit(client, asked(LEAVE), **headers)
        work(client)
        report = client.get(f"/v1/checks/{id_}/report.json", headers=headers).json()
        shown = [
            hit,
            client.get(f"/v1/passages/{hit['id']}", headers=headers).json(),
            *(s | {"prior_rule": s["rule"]} for s in sources if s["source"] == "leave.md"),
            *(c for c in report["contexts"] if c["source"] == "leave.md"),
        ]
        return [(row["prior"], row.get("superseded_by"), row["prior_rule"]) for row in shown]

    assert told(staff) == [(0.3, None, "default")] * 4
    assert told(board) == [(0.3, "board.md", "default; superseded by board.md")] * 4


def test_a_revoked_key_is_refused_at_once(serve: Serve) -> None:
    client = serve(needs_key=True)
    ann = key(client, "ann", "check")
    assert client.get("/v1/checks", headers=ann).status_code == 200
    kept = service_of(client).config.folder / "keys.json"
    assert ann["Authorization"].split()[1] not in kept.read_text(), "only its hash is kept"
    assert kept.stat().st_mode & 0o077 == 0
    service_of(client).keys.revoke("ann")
    assert client.get("/v1/checks", headers=ann).status_code == 401


def test_too_many_requests_have_to_wait(serve: Serve) -> None:
    client = serve(per_minute=6.0)
    answers = [client.get("/v1/checks") for _ in range(30)]
    late = [a for a in answers if a.status_code == 429]
    assert late
    assert all(1 <= int(a.headers["retry-after"]) <= 11 for a in late)
    # Who guesses keys is slowed, too, whatever the keys are.
    guarded = serve(per_minute=6.0, needs_key=True)
    guesses = [
        guarded.get("/v1/checks", headers={"Authorization": f"Bearer fck_{n}"}).status_code
        for n in range(30)
    ]
    assert set(guesses) == {401, 429}


def test_the_audit_log_says_who_did_what_and_no_text(serve: Serve) -> None:
    client = serve(needs_key=True)
    ann = key(client, "ann", "check", "search")
    id_ = submit(client, asked(LEAVE), **ann)
    submit(client, asked(LEAVE), **ann)
    work(client)
    client.get(f"/v1/checks/{id_}/report.md", headers=ann)
    client.post("/v1/search", json={"query": "leave in secret"}, headers=ann)
    client.delete(f"/v1/checks/{id_}", headers=ann)
    log = service_of(client).config.folder / "audit.jsonl"
    entries = list(verified(log))
    assert [(e["who"], e["what"]) for e in entries] == [
        ("ann", "check.submitted"),
        ("ann", "report.read"),
        ("ann", "search"),
    ]
    assert entries[0]["about"]["check"] == id_
    assert not any(word in log.read_text() for word in ("27 days", "secret", "Leave"))


def test_a_folder_is_one_server_s_at_a_time(serve: Serve, config: Config) -> None:
    told = {"webhooks": ("https://hooks.example/",), "webhook_key": bytes(24)}
    service = service_of(client := serve(**told))
    id_ = submit(client, asked(LEAVE))
    assert service.jobs.claim() is not None
    with pytest.raises(StoreError, match="data: another server uses this folder"):
        create_app(config)
    # It was refused before it took anything over.
    assert service.jobs.find(id_).state == "running"
    service.jobs.cancel(id_)
    assert len(Outbox(service.jobs).due("https://hooks.example/")) == 1
    client = serve()
    assert client.get(f"/v1/checks/{id_}").json()["state"] == "cancelled"


def test_what_nobody_foresaw_is_a_problem_without_its_words(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_caller: object) -> None:
        raise LookupError("the words of a document")

    client = serve()
    monkeypatch.setattr(service_of(client), "sources", broken)
    answered = client.get("/v1/sources")
    assert answered.status_code == 500
    assert answered.headers["content-type"] == "application/problem+json"
    assert answered.json()["detail"] == "an error of the server"


def test_operations(serve: Serve) -> None:
    client = serve()
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").status_code == 503, "there is no process with the models"
    submit(client, asked(LEAVE))
    metrics = client.get("/metrics").text
    assert 'factcheck_checks{state="queued"} 1.0' in metrics
    assert 'factcheck_checks{state="done"} 0.0' in metrics
    for path in ("/web/none.js", "/redoc", "/v2", "/v1/checks/../../etc/passwd"):
        answered = client.get(path)
        assert answered.status_code == 404
        assert answered.headers["content-type"] == "application/problem+json"
    assert client.put("/v1/checks").status_code == 405
