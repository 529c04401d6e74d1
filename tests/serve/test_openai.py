"""The pass-through to a model server: a real one, and faults that only a scripted one has."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from click.testing import CliRunner
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.cli import cli
from factcheck_local.core import egress
from factcheck_local.core.errors import ModelError
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.openai_server.options import ServerOptions
from factcheck_local.serve import routes_openai, upstream
from factcheck_local.serve.service import Config
from factcheck_local.serve.worker import Worker
from tests.models.llama_server import llama_server
from tests.models.scripted_server import Answer, Script, ScriptedServer

from .conftest import service_of
from .test_any_request import EXAMPLES, any_json

pytestmark = pytest.mark.long

Serve = Callable[..., TestClient]
Behind = Callable[..., ScriptedServer]

WRONG = "Full-time staff get 30 days of paid leave a year."
CHAT = {"model": "any", "messages": [{"role": "user", "content": "How many days of leave?"}]}
PATH = "/v1/chat/completions"
STREAM = {"Content-Type": "text/event-stream"}


@pytest.fixture
def behind() -> Iterator[Behind]:
    """Starts scripted model servers."""
    running: list[ScriptedServer] = []

    def start(script: Script) -> ScriptedServer:
        running.append(ScriptedServer(script))
        return running[-1]

    yield start
    for server in running:
        server.close()


@contextmanager
def working(client: TestClient, llm: Callable[[Any], str] | None = None) -> Iterator[None]:
    """Checks are done meanwhile; each sentence is taken for a claim."""
    service, stop = service_of(client), threading.Event()
    split = llm or (lambda turns: turns[-1].content.rsplit("Sentence: ", 1)[-1])
    worker = Worker(
        service.jobs, service.config.store, service.config.settings, llm=FakeChatModel(split)
    )

    def work() -> None:
        while not stop.is_set():
            if not worker.do_next():
                time.sleep(0.02)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def completion(content: object, reason: str = "stop", **more: object) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "c1", "choices": [choice], **more}


def chunk(content: str, **more: object) -> str:
    delta = {"index": 0, "delta": {"content": content}, "finish_reason": None}
    shown = {"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    return f"data: {json.dumps({**shown, 'choices': [delta], **more})}\n\n"


def ending(reason: str) -> str:
    return chunk("", choices=[{"index": 0, "delta": {}, "finish_reason": reason}])


def events(text: str) -> list[Any]:
    """What a stream said, in order."""
    told = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data:")]
    return [one if one == "[DONE]" else json.loads(one) for one in told]


def check_refuted(found: dict[str, Any]) -> None:
    assert (found["state"], len(found["id"])) == ("done", 32)
    (claim,) = found["claims"]
    assert (claim["text"], claim["verdict"]) == (WRONG, "contradicted")
    assert claim["citations"][0]["source"] == "leave.md"
    assert "27 days" in claim["citations"][0]["quote"]


def test_a_real_server_plain_and_streamed(serve: Serve, tmp_path: Path) -> None:
    # One sentence, whole.
    asked = CHAT | {"model": "smollm", "max_tokens": 60, "temperature": 0, "stop": ["."]}
    with llama_server(tmp_path, "--n_ctx", "256") as url:
        client = serve(openai=ServerOptions(url))
        assert client.get("/v1/models").json()["data"][0]["id"] == "smollm"
        with working(client):
            plain = client.post(PATH, json=asked, params={"wait": 120})
            streamed = client.post(PATH, json=asked | {"stream": True}, params={"wait": 120})
    assert plain.status_code == streamed.status_code == 200
    answer = plain.json()
    assert answer["object"] == "chat.completion"
    assert answer["usage"]["completion_tokens"] > 0
    assert streamed.headers["content-type"].startswith("text/event-stream")
    *told, last, done = events(streamed.text)
    assert done == "[DONE]"
    assert len(told) > 2
    assert (last["id"], last["object"]) == (told[0]["id"], "chat.completion.chunk")
    assert last["choices"][0]["delta"] == {}
    deltas = [one["choices"][0]["delta"].get("content") or "" for one in told]
    texts = (answer["choices"][0]["message"]["content"], "".join(deltas))
    for text, found in zip(texts, (answer["factcheck"], last["factcheck"]), strict=True):
        assert found["state"] == "done"
        assert found["claims"]
        for claim in found["claims"]:
            assert text[claim["span"]["start"] : claim["span"]["end"]].strip()
    assert all("factcheck" not in one for one in told)


def test_what_goes_on_and_what_comes_back(
    serve: Serve, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_KEY", "upstream-key")
    sent = completion(WRONG, usage={"total_tokens": 3}, factcheck="all is well")
    server = behind(lambda _asked: Answer(sent))
    client = serve(openai=ServerOptions(server.url, api_key_env="TEAM_KEY"), needs_key=True)
    keys = service_of(client).keys
    mine = {"Authorization": f"Bearer {keys.add('ann', ['check'], None)}"}
    raw = b'{"messages":[ {"role":"user","content":[{"type":"text","text":"Leave?"}]}],"x":1e2}'
    with working(client):
        headers = mine | {"Content-Type": "application/json", "X-Secret": "s"}
        answered = client.post(PATH, content=raw, headers=headers)
    body = answered.json()
    check_refuted(body.pop("factcheck"))
    assert body == {name: value for name, value in sent.items() if name != "factcheck"}
    (asked,) = server.asked
    assert (asked.raw, asked.path) == (raw, PATH)
    assert asked.headers["authorization"] == "Bearer upstream-key"
    assert "x-secret" not in asked.headers
    (check,) = service_of(client).jobs.latest("ann")
    assert check.request["body"]["question"] == "Leave?"
    # Whose key is not for checks, or who has none, gets nothing from the model server.
    other = {"Authorization": f"Bearer {keys.add('bob', ['search'], None)}"}
    assert client.post(PATH, json=CHAT).status_code == 401
    assert client.get("/v1/models").status_code == 401
    assert client.post(PATH, json=CHAT, headers=other).status_code == 403
    assert client.post(PATH, json=[], headers=mine).status_code == 422
    assert len(server.asked) == 1


def test_chunks_pass_as_they_come(
    serve: Serve, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes_openai, "ALIVE", 0.05)
    seen = threading.Event()

    def script(_asked: object) -> Answer:
        def parts() -> Iterator[str]:
            first = chunk(WRONG[:20])
            yield ": alive\n\n" + first[:9]  # a part ends anywhere
            yield first[9:]
            assert seen.wait(30), "the first chunk has to come before the second is there"
            # A line ends at a line feed, and not at what else Python takes for an end.
            yield chunk(WRONG[20:], note="\u2028", factcheck="all is well")
            yield "data: [DONE]\n\n"

        return Answer(parts(), headers=STREAM)

    client = serve(openai=ServerOptions(behind(script).url))
    config = uvicorn.Config(client.app, port=0, lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}{PATH}"
        headers = {"Host": "testserver"}
        with (
            working(client),
            httpx.stream("POST", url, json=CHAT, headers=headers, trust_env=False) as reply,
        ):
            text = ""
            for part in reply.iter_text():
                text += part
                if WRONG[:20] in text:
                    seen.set()
    finally:
        server.should_exit = True
        thread.join()
    assert text.startswith(": alive\n\n")
    assert "\n\n:\n\n" in text, "while it waits for the check"
    first, second, last, done = events(text)
    assert [e["choices"][0]["delta"]["content"] for e in (first, second)] == [
        WRONG[:20],
        WRONG[20:],
    ]
    assert second["note"] == "\u2028"
    assert "factcheck" not in second
    check_refuted(last["factcheck"])
    assert (last["id"], last["created"], done) == ("c1", 7, "[DONE]")


def test_a_check_never_costs_the_answer(serve: Serve, behind: Behind) -> None:
    said: list[object] = [WRONG]
    server = behind(lambda _asked: Answer(completion(said[0])))
    client = serve(openai=ServerOptions(server.url), queue=1)

    def answer(wait: float = 0) -> dict[str, Any]:
        answered = client.post(PATH, json=CHAT, params={"wait": wait}).json()
        assert answered["choices"][0]["message"]["content"] == said[0]
        found: dict[str, Any] = answered["factcheck"]
        return found

    waiting = answer()
    assert set(waiting) == {"id", "state"}
    assert waiting["state"] == "queued"
    said[0] = "Another answer."
    assert answer() == {"state": "failed", "problem": "1 checks wait already"}
    for said[0] in (None, " ", [{"type": "text"}]):
        assert answer() == {"state": "skipped", "problem": "the answer has no text"}
    said[0] = "long " * 50_000
    assert "at most 200000 characters" in answer()["problem"]
    said[0] = "half a \ud83d"
    assert answer()["state"] == "failed"

    def fail(_turns: object) -> str:
        raise RuntimeError("of the model")

    said[0] = WRONG
    with working(client, fail):
        failed = answer(60)
    assert client.get(f"/v1/checks/{failed['id']}").json()["state"] == failed["state"] == "failed"
    assert failed["problem"] == "an error of the server: RuntimeError"
    audit = service_of(client).config.folder / "audit.jsonl"
    audit.unlink()
    audit.mkdir()
    before = service_of(client).jobs.counts()
    unlogged = answer()
    assert (unlogged["state"], "audit.jsonl" in unlogged["problem"]) == ("failed", True)
    assert service_of(client).jobs.counts() == before


def broken(_asked: object) -> Answer:
    return Answer(iter([chunk("Full-time ")]), headers=STREAM, drop=True)


def test_a_stream_that_breaks_off_says_so(serve: Serve, behind: Behind) -> None:
    client = serve(openai=ServerOptions(behind(broken).url))
    first, error = events(client.post(PATH, json=CHAT).text)
    assert first["choices"][0]["delta"]["content"] == "Full-time "
    assert error == {"error": {"message": "the model server broke off", "code": 502}}
    assert service_of(client).jobs.counts() == {}


def test_a_stream_that_says_its_end_by_its_reason_alone_is_checked(
    serve: Serve, behind: Behind
) -> None:
    parts = [chunk(WRONG), ending("stop").rstrip()]
    client = serve(openai=ServerOptions(behind(lambda _: Answer(iter(parts), headers=STREAM)).url))
    *_, last = events(client.post(PATH, json=CHAT, params={"wait": 0}).text)
    assert last["factcheck"]["state"] == "queued"


DONE = "data: [DONE]\n\n"
FAILED = f"data: {json.dumps({'error': {'message': 'out of memory'}})}\n\n"
HALVES = {
    "no end": ([chunk(WRONG)], "the model server's stream has no end"),
    "an error": ([chunk(WRONG), FAILED, DONE], "the model server broke off with an error"),
    "an error alone": ([FAILED, DONE], "the model server broke off with an error"),
    "its length": (
        [chunk(WRONG), ending("length"), chunk("", choices=[]), DONE],
        "the answer was cut off (finish_reason length)",
    ),
}


@pytest.mark.parametrize("half", HALVES)
def test_half_an_answer_is_not_checked(serve: Serve, behind: Behind, half: str) -> None:
    parts, why = HALVES[half]
    client = serve(openai=ServerOptions(behind(lambda _: Answer(iter(parts), headers=STREAM)).url))
    text = client.post(PATH, json=CHAT, params={"wait": 0}).text
    assert text.startswith("".join(parts).removesuffix(DONE)), "it comes, all the same"
    found = [one["factcheck"] for one in events(text) if "factcheck" in one]
    assert found == [{"state": "skipped", "problem": why}]
    assert service_of(client).jobs.counts() == {}


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_cut_off_is_not_checked(
    serve: Serve, behind: Behind, reason: str
) -> None:
    sent = completion(WRONG, reason)
    client = serve(openai=ServerOptions(behind(lambda _asked: Answer(sent)).url))
    answered = client.post(PATH, json=CHAT, params={"wait": 0}).json()
    why = f"the answer was cut off (finish_reason {reason})"
    assert answered.pop("factcheck") == {"state": "skipped", "problem": why}
    assert answered == sent
    assert service_of(client).jobs.counts() == {}


LIMITED = Answer({"error": {"message": "slow down"}}, 429, {"Retry-After": "3"})
FAULTS = {
    "no JSON": (Answer("<p>hello</p>"), 502, "is no JSON object"),
    "a list": (Answer([1]), 502, "is no JSON object"),
    "elsewhere": (
        Answer(status=307, headers={"Location": "http://far.example/"}),
        502,
        "redirects",
    ),
    "gone": (Answer(drop=True), 502, "cannot be reached"),
    "broken off": (Answer(iter(['{"choices"']), drop=True), 502, "broke off"),
    "too much": (Answer("x" * 70_000), 502, "more than 65536 bytes"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_model_server(
    serve: Serve, behind: Behind, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(upstream, "MOST_BYTES", 65_536)
    sent, status, said = FAULTS[fault]
    answered = serve(openai=ServerOptions(behind(lambda _: sent).url)).post(PATH, json=CHAT)
    assert answered.status_code == status
    assert answered.headers["content-type"] == "application/problem+json"
    assert said in answered.json()["detail"]


def test_its_own_errors_come_as_they_are(serve: Serve, behind: Behind) -> None:
    client = serve(openai=ServerOptions(behind(lambda _: LIMITED).url))
    answered = client.post(PATH, json=CHAT)
    assert (answered.status_code, answered.json()) == (429, LIMITED.body)
    assert answered.headers["retry-after"] == "3"


@pytest.mark.parametrize("status", [200, 500])
def test_nothing_of_it_is_a_page_of_ours(serve: Serve, status: int) -> None:
    page = Answer("<script>alert(1)</script>", status, {"Content-Type": "text/html"})
    models = ScriptedServer(lambda _asked: page, page)
    try:
        client = serve(openai=ServerOptions(models.url))
        answers = [client.get("/v1/models"), client.post(PATH, json=CHAT)]
    finally:
        models.close()
    assert [a.headers["content-type"].partition(";")[0] for a in answers] == [
        "application/json",
        "application/problem+json" if status == 200 else "application/json",
    ]


def test_one_that_is_silent_or_slow(
    serve: Serve, behind: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()

    def late(asked: object) -> Answer:
        def parts() -> Iterator[str]:
            yield chunk("Full-time ")
            let_go.wait(30)

        if getattr(asked, "number", 0):
            return Answer(parts(), headers=STREAM)
        let_go.wait(30)
        return Answer({})

    client = serve(openai=ServerOptions(behind(late).url, timeout_seconds=0.3))
    silent = client.post(PATH, json=CHAT)
    assert (silent.status_code, silent.json()["detail"]) == (
        504,
        "the model server does not answer",
    )
    _, error = events(client.post(PATH, json=CHAT).text)
    assert error["error"] == {"message": "the model server fell silent", "code": 504}
    let_go.set()
    monkeypatch.setattr(upstream, "LONGEST", -1.0)
    slow = serve(openai=ServerOptions(behind(lambda _: Answer({})).url)).post(PATH, json=CHAT)
    assert (slow.status_code, "took more than" in slow.json()["detail"]) == (504, True)


def test_whatever_both_sides_send(serve: Serve, behind: Behind) -> None:
    replies: list[Any] = []
    server = behind(lambda _asked: replies[0])
    client = serve(openai=ServerOptions(server.url), queue=10**9, per_minute=1e9)
    messages = st.fixed_dictionaries({"role": st.just("user"), "content": any_json})
    choices = st.fixed_dictionaries({}, optional={"message": any_json, "delta": any_json})

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(
        st.fixed_dictionaries({"messages": st.lists(messages | any_json, max_size=2) | any_json}),
        st.fixed_dictionaries({"choices": st.lists(choices | any_json, max_size=2) | any_json}),
        st.booleans(),
    )
    def one(body: object, reply: object, streams: bool) -> None:
        told = json.dumps(reply)
        answer = Answer(f"data: {told}\n\ndata: [DONE]\n", headers=STREAM)
        replies[:] = [answer if streams else Answer(told)]
        sent = {"content": json.dumps(body), "headers": {"Content-Type": "application/json"}}
        answered = client.post(PATH, params={"wait": 0}, **sent)  # type: ignore[arg-type]
        assert answered.status_code == 200
        (found,) = events(answered.text)[-2:-1] if streams else [answered.json()]
        assert found["factcheck"]["state"] in ("queued", "skipped", "failed")

    one()


def test_only_the_named_address_is_opened(serve: Serve) -> None:
    client = serve(openai=ServerOptions("http://gpu.example:9001/v1"))
    assert egress._rule.may_reach("gpu.example", 9001)
    assert not egress._rule.may_reach("gpu.example", 9002)
    assert client.post(PATH, json=CHAT).status_code == 502
    assert serve().post(PATH, json=CHAT).status_code == 404


def test_the_command_line(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    place = ["serve", "--store", str(config.store), "--data", str(config.folder)]
    refused = CliRunner().invoke(cli, [*place, "--api-key-env", "TEAM_KEY"])
    assert (refused.exit_code, "goes with --openai" in refused.output) == (2, True)
    monkeypatch.delenv("TEAM_KEY", raising=False)
    for address, variable, said in (
        ("gpu:8080", "TEAM_KEY", "expected an address such as"),
        ("http://gpu:8080/v1", "TEAM_KEY", "TEAM_KEY, named for its key, is not set"),
    ):
        options = ["--openai", address, "--api-key-env", variable]
        found = CliRunner().invoke(cli, [*place, *options]).exception
        assert isinstance(found, ModelError)
        assert said in str(found)
