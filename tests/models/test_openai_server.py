"""A model server that answers by script: what is sent, what is read, how it fails."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.models.contracts import Message
from factcheck_local.models.openai_server import client
from factcheck_local.models.openai_server.client import ATTEMPTS
from factcheck_local.models.openai_server.model import TOP_LOGPROBS, ServerModel

from .scripted_server import (
    MODELS,
    Answer,
    Asked,
    Json,
    ScriptedServer,
    chat_completion,
    completion,
)

Serve = Callable[..., ScriptedServer]
Connect = Callable[..., ServerModel]

CHAT = [Message("system", "Judge."), Message("user", "Passage. ")]
LABELS = ("A", "B", "C")
#: Probabilities 0.5, 0.25, 0.05 of the labels, 0.2 of another word.
TOP = {"A": math.log(0.5), "So": math.log(0.2), "B": math.log(0.25), "C": math.log(0.05)}
RENORMALISED = pytest.approx(np.array([50, 25, 5]) / 80)


def always(answer: Answer | Json) -> Callable[[Asked], Answer | Json]:
    return lambda _asked: answer


# ------------------------------------------------------------------ requests


def test_a_named_format_is_written_here(serve: Serve, connect: Connect) -> None:
    server = serve(always(completion(" orange.<|im_end|>\nmore")))
    model = connect(server.url)
    text = model.generate(CHAT, max_tokens=7, stop=("\n\n",), start="Red,")
    assert text == " orange."
    (asked,) = server.asked
    assert asked.path == "/v1/completions"
    assert asked.body == {
        "model": "served",
        "stream": False,
        "temperature": 0,
        "seed": 0,
        "max_tokens": 7,
        "stop": ["\n\n", "<|im_end|>"],
        "prompt": "<|im_start|>system\nJudge.<|im_end|>\n<|im_start|>user\nPassage. <|im_end|>\n"
        "<|im_start|>assistant\nRed,",
    }


def test_without_a_format_the_server_has_the_template(serve: Serve, connect: Connect) -> None:
    # This one gives the whole turn back, its beginning too.
    server = serve(always(chat_completion("Red, orange. Done.")))
    model = connect(server.url, chat_format=None)
    assert model.generate(CHAT, max_tokens=7, stop=(".",), start="Red,") == " orange"
    assert model.generate(CHAT, max_tokens=7) == "Red, orange. Done."
    first, second = server.asked
    assert first.path == "/v1/chat/completions"
    turns = [{"role": m.role, "content": m.content} for m in CHAT]
    assert first.body["messages"] == [*turns, {"role": "assistant", "content": "Red,"}]
    assert first.body["continue_final_message"] is True
    assert first.body["add_generation_prompt"] is False
    assert second.body["messages"] == turns
    assert not {"continue_final_message", "add_generation_prompt", "stop"} & set(second.body)


def test_no_room_asks_nothing(serve: Serve, connect: Connect) -> None:
    server = serve(always(completion("text")))
    assert connect(server.url).generate(CHAT, max_tokens=0) == ""
    assert server.asked == []


@pytest.mark.parametrize("template", ["chatml", None])
def test_scores_are_renormalised(serve: Serve, connect: Connect, template: str | None) -> None:
    reply = completion if template else chat_completion
    server = serve(always(reply("A", TOP)))
    model = connect(server.url, chat_format=template)
    assert model.note == ""
    scores = model.score_labels(CHAT, ["one", "two"], LABELS)
    assert scores.shape == (2, 3)
    assert scores.dtype == np.float64
    assert np.exp(scores[0]) == RENORMALISED
    assert np.exp(scores[1]) == RENORMALISED
    assert model.note == "label probabilities from the server's logprobs"
    body = server.asked[0].body
    assert body["max_tokens"] == 1
    wanted = {"logprobs": body.get("logprobs"), "top_logprobs": body.get("top_logprobs")}
    asked_for_chat = {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    asked_for_text = {"logprobs": TOP_LOGPROBS, "top_logprobs": None}
    assert wanted == (asked_for_text if template else asked_for_chat)
    for asked, ending in zip(server.asked, ("one", "two"), strict=True):
        assert f"Passage. {ending}" in str(asked.body)
    assert model.score_labels(CHAT, [], LABELS).shape == (0, 3)
    assert len(server.asked) == 2


def test_endings_run_at_once_and_come_in_order(serve: Serve, connect: Connect) -> None:
    """Ending i gives label A the log-odds i against B; the later it came, the sooner it is done."""

    def script(asked: Asked) -> Json:
        which = int(asked.body["prompt"].split("ending ")[1].split("<")[0])
        time.sleep(0.02 * (9 - which))
        return completion("A", {"A": -1.0, "B": -1.0 - which})

    server = serve(script)
    scores = connect(server.url, concurrency=3).score_labels(
        CHAT, [f"ending {i}" for i in range(9)], ("A", "B")
    )
    assert scores[:, 0] - scores[:, 1] == pytest.approx(np.arange(9))
    assert server.most_at_once == 3
    assert "ending 0" in server.asked[0].body["prompt"], "alone, to fill the server's cache"
    one_by_one = serve(script)
    connect(one_by_one.url, concurrency=1).score_labels(CHAT, ["ending 8"] * 3, ("A", "B"))
    assert one_by_one.most_at_once == 1


def test_labels_that_look_alike(serve: Serve, connect: Connect) -> None:
    model = connect(serve(always(completion("A", TOP))).url)
    with pytest.raises(ModelError, match=r"\['a', 'A'\] do not differ but in case"):
        model.score_labels(CHAT, [""], ["a", "A"])
    with pytest.raises(ModelError, match="an empty label"):
        model.score_labels(CHAT, [""], ["A", " "])


# ------------------------------------------------------------------ sampling

#: What is said at seeds 0 to 9: A seven times, B twice, nothing that counts once.
SAID = ["A", "A.", " a", "A\nsince", "(A)", "A", "**A**", "B", "b)", "A passage says so"]
#: (7 + ½, 2 + ½, 0 + ½) of 9 + 3/2.
VOTED = pytest.approx(np.array([7.5, 2.5, 0.5]) / 10.5)


def sampled(first: Answer | Json) -> Callable[[Asked], Answer | Json]:
    """Gives ``first`` where logprobs are asked for, else a reply by its seed."""
    return lambda asked: first if "logprobs" in asked.body else completion(SAID[asked.body["seed"]])


@pytest.mark.parametrize(
    "first",
    [
        completion("A"),
        {"choices": [{"text": "A"}]},
        {"choices": [{"text": "A", "logprobs": {"top_logprobs": None, "content": None}}]},
        completion("A", {"A": -0.1}),
        completion("A", {"A": 0.0, "B": -9999.0, "C": -math.inf}),
        Answer({"error": {"message": "logprobs is not supported for models so made"}}, 500),
        Answer({"detail": "Unsupported parameter: 'logprobs'"}, 400),
    ],
)
def test_a_server_without_a_distribution_is_sampled(
    serve: Serve, connect: Connect, first: Answer | Json
) -> None:
    server = serve(sampled(first))
    model = connect(server.url)
    scores = np.exp(model.score_labels(CHAT, ["one", "two"], LABELS))
    assert scores[0] == VOTED
    assert scores[1] == VOTED
    assert model.note == "label probabilities from 10 samples (no logprobs)"
    samples = server.asked[1:]
    assert sorted(a.body["seed"] for a in samples) == sorted(list(range(10)) * 2)
    assert {a.body["temperature"] for a in samples} == {0.7}
    for ending in ("one", "two"):
        assert sum(ending in a.body["prompt"] for a in samples) == 10
    model.score_labels(CHAT, ["three"], LABELS)
    assert sum("logprobs" in a.body for a in server.asked) == 1, "decided once"


def test_threads_that_begin_together_ask_for_logprobs_once(serve: Serve, connect: Connect) -> None:
    """Those that waited for the first reply's word on it do not ask again, and fail."""
    refused = Answer({"error": {"message": "logprobs is not supported"}}, 500)

    def script(asked: Asked) -> Answer | Json:
        if "logprobs" in asked.body:
            time.sleep(0.3)
        return sampled(refused)(asked)

    server = serve(script)
    model = connect(server.url)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda which: model.score_labels(CHAT, [which], LABELS), "abcd"))
    assert all(np.exp(scores[0]) == VOTED for scores in found)
    assert sum("logprobs" in a.body for a in server.asked) == 1


def test_samples_that_give_no_label(serve: Serve, connect: Connect) -> None:
    server = serve(always(completion("That depends.")))
    model = connect(server.url, samples=3)
    with pytest.raises(ScoringError, match="none of 3 sampled replies is one of the labels") as e:
        model.score_labels(CHAT, [""], LABELS)
    assert server.url in str(e.value)


def test_logprobs_that_stop_coming(serve: Serve, connect: Connect) -> None:
    """What was decided holds: scores of two kinds are not mixed in one run."""
    server = serve(lambda a: completion("A", TOP if a.number == 0 else None))
    model = connect(server.url)
    with pytest.raises(ScoringError, match="a reply without logprobs"):
        model.score_labels(CHAT, ["one", "two"], LABELS)
    assert model.note.endswith("logprobs")


def test_an_empty_reply_decides_nothing(serve: Serve, connect: Connect) -> None:
    empty: Json = {"choices": [{"text": "", "logprobs": {"top_logprobs": []}}]}
    server = serve(lambda a: empty if a.number == 0 else completion("A", TOP))
    model = connect(server.url)
    with pytest.raises(ScoringError, match="the reply is empty"):
        model.score_labels(CHAT, [""], LABELS)
    assert model.note == ""
    assert np.exp(model.score_labels(CHAT, [""], LABELS)[0]) == RENORMALISED


# ------------------------------------------------------------------ failures


@pytest.mark.parametrize(
    "busy", [Answer("wait", 429), Answer("", 503, {"Retry-After": "0"}), Answer(drop=True)]
)
def test_a_busy_server_is_asked_again(serve: Serve, connect: Connect, busy: Answer) -> None:
    server = serve(lambda a: busy if a.number < ATTEMPTS - 1 else completion("yes"))
    model = connect(server.url)
    assert model.generate(CHAT, max_tokens=3) == "yes"
    assert len(server.asked) == ATTEMPTS


@pytest.mark.parametrize(
    ("answer", "message", "requests"),
    [
        (Answer("wait", 429), "status 429, 'wait'", ATTEMPTS),
        (Answer(drop=True), "Server disconnected", ATTEMPTS),
        (Answer({"error": {"message": "out of\nmemory"}}, 500), "status 500, 'out of memory'", 1),
        (Answer({"error": "too long"}, 400), "status 400, 'too long'", 1),
        (Answer("<html>" + "x" * 900), r"expected JSON, got '<html>x{193}…'", 1),
        (Answer([1, 2]), r"expected a JSON object, got '\[1, 2\]'", 1),
        (Answer({"choices": []}), "the reply is no completion: IndexError", 1),
        (Answer({"choices": [{"text": 3}]}), "its text is none", 1),
        (Answer({"choices": "none"}), "the reply is no completion", 1),
        (Answer("[" * 200_000), r"expected JSON, got '\[{199}…'", 1),
        (Answer("[" * 200_000, 500), r"status 500, '\[{199}…'", 1),
    ],
)
def test_failures_of_one_item(
    serve: Serve, connect: Connect, answer: Answer, message: str, requests: int
) -> None:
    server = serve(always(answer))
    model = connect(server.url)
    with pytest.raises(ScoringError, match=message) as caught:
        model.generate(CHAT, max_tokens=3)
    assert str(caught.value).startswith(f"model team: {server.url}")
    assert "\n" not in str(caught.value)
    assert len(server.asked) == requests


@pytest.mark.parametrize(
    "logprobs",
    [
        {"top_logprobs": 3},
        {"content": [{}]},
        {"top_logprobs": [{"A": 10**400, "B": -0.1}]},
        {},
        [7],
    ],
)
def test_malformed_logprobs(serve: Serve, connect: Connect, logprobs: object) -> None:
    """The last two: falsy is none at all, and a list has no names to look up."""
    server = serve(
        lambda a: (
            {"choices": [{"text": "A", "logprobs": logprobs}]}
            if "logprobs" in a.body
            else completion("A")
        )
    )
    model = connect(server.url)
    if logprobs == {}:
        assert model.score_labels(CHAT, [""], LABELS).argmax() == 0
        assert "samples" in model.note
        return
    with pytest.raises(ScoringError, match="logprobs are malformed"):
        model.score_labels(CHAT, [""], LABELS)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_no_request_would_get_past(serve: Serve, connect: Connect, status: int) -> None:
    server = serve(always(Answer({"error": {"message": "no"}}, status)))
    with pytest.raises(ModelError, match=f"status {status}, 'no'"):
        connect(server.url).generate(CHAT, max_tokens=3)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [301, 307, 308])
def test_redirects_are_refused(serve: Serve, connect: Connect, status: int) -> None:
    elsewhere = serve(always(completion("yes")))
    target = {"Location": f"{elsewhere.url}/completions"}
    server = serve(always(Answer("", status, target)))
    with pytest.raises(ModelError, match=f"redirects to '{elsewhere.url}/completions', which is n"):
        connect(server.url).generate(CHAT, max_tokens=3)
    assert elsewhere.asked == []


def test_a_slow_server(serve: Serve, connect: Connect) -> None:
    def script(_asked: Asked) -> Json:
        time.sleep(0.6)
        return completion("late")

    server = serve(script)
    begun = time.monotonic()
    with pytest.raises(ScoringError, match=r"no answer within 0\.2 s"):
        connect(server.url, timeout_seconds=0.2).generate(CHAT, max_tokens=3)
    assert time.monotonic() - begun < 0.6
    assert len(server.asked) == 1, "it is still at work on this one"


def test_a_server_that_takes_no_connection(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait for that is shorter than the one for a reply."""
    model = connect(serve(always(completion("yes"))).url)

    def refuse(*_: object, **__: object) -> None:
        raise httpx.ConnectTimeout("timed out")

    monkeypatch.setattr(httpx.Client, "stream", refuse)
    with pytest.raises(ScoringError, match=r"/completions: no connection within 10 s$"):
        model.generate(CHAT, max_tokens=3)


def test_a_reply_that_does_not_end(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def dripping() -> Iterator[str]:
        while not over.wait(0.02):
            yield " "

    def flooding() -> Iterator[str]:
        while not over.is_set():
            yield " " * 10_000

    server = serve(lambda a: Answer(dripping() if a.number == 0 else flooding()))
    monkeypatch.setattr(client, "MOST_BYTES", 100_000)
    model = connect(server.url, timeout_seconds=0.5)
    try:
        with pytest.raises(ScoringError, match=r"no answer within 0\.5 s"):
            model.generate(CHAT, max_tokens=3)
        with pytest.raises(ScoringError, match="the reply has more than 100000 bytes"):
            model.generate(CHAT, max_tokens=3)
    finally:
        over.set()
    assert len(server.asked) == 2


def test_no_server_there(serve: Serve, connect: Connect) -> None:
    # No connection is kept, or the server would go on answering on it.
    server = serve(always(completion("x")), Answer(MODELS, headers={"Connection": "close"}))
    url = server.url
    model = connect(url)
    server.close()
    with pytest.raises(ScoringError, match=f"model team: {url}/completions: "):
        model.generate(CHAT, max_tokens=3)
    with pytest.raises(ModelError, match=f"model team: {url}/models: ") as caught:
        connect(url)
    assert caught.value.hint == "is the server running?"


def test_proxies_of_the_environment_are_not_used(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve(always(completion("through the proxy")))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    server = serve(always(completion("straight")))
    assert connect(server.url).generate(CHAT, max_tokens=3) == "straight"
    assert proxy.asked == []


# ----------------------------------------------------------------- key, name


def test_the_key_is_sent_and_never_shown(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_KEY", "sk-secret-7391\n")
    answers: list[Answer] = [
        Answer(completion("yes")),
        Answer({"error": {"message": "wrong key sk-secret-7391"}}, 401),
        Answer("sk-secret-7391 " * 40, 500),
        Answer("not JSON: sk-secret-7391"),
        Answer("", 302, {"Location": "http://127.0.0.1:1/?key=sk-secret-7391"}),
    ]
    server = serve(lambda a: answers[a.number])
    model = connect(server.url, api_key_env="TEAM_KEY")
    assert model.generate(CHAT, max_tokens=3) == "yes"
    assert server.asked[0].headers["authorization"] == "Bearer sk-secret-7391"
    for _ in answers[1:]:
        with pytest.raises((ModelError, ScoringError)) as caught:
            model.generate(CHAT, max_tokens=3)
        assert "secret" not in str(caught.value)
        assert "…" in str(caught.value)
    keyless = serve(always(completion("yes")))
    connect(keyless.url).generate(CHAT, max_tokens=3)
    assert "authorization" not in keyless.asked[0].headers


@pytest.mark.parametrize("key", [None, "", "two words", "clé", "a\nb"])
def test_no_usable_key(
    serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    monkeypatch.delenv("TEAM_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("TEAM_KEY", key)
    server = serve(always(completion("yes")))
    with pytest.raises(ModelError, match="TEAM_KEY") as caught:
        connect(server.url, api_key_env="TEAM_KEY")
    if key:
        assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"data": [{"id": "one"}, {"id": "two"}]}, "which model. it lists one, two"),
        ({"data": []}, "which model. it lists none"),
        ({"models": 3}, "which model. it lists none"),
        (Answer("no", 404), "status 404"),
        (Answer("no", 401), "status 401"),
        (Answer("<html>"), "expected JSON, got '<html>'"),
    ],
)
def test_a_model_that_is_not_named(
    serve: Serve, connect: Connect, models: object, message: str
) -> None:
    server = serve(always(completion("yes")), models)
    with pytest.raises(ModelError, match=message):
        connect(server.url)
    if isinstance(models, dict):
        named = connect(server.url, model="two")
        named.generate(CHAT, max_tokens=3)
        assert server.asked[0].body["model"] == "two"


def test_the_hash_names_the_server(serve: Serve, connect: Connect) -> None:
    """It depends on the address, the name and what lasts of the listing, not on a date."""

    def listing(created: int, **said: object) -> dict[str, object]:
        return {"data": [{"id": "served", "created": created, **said}, {"id": "other"}]}

    listed = listing(1, meta={"n_params": 7})
    server = serve(always(completion("x")), listed)
    first = connect(server.url, model="served").sha256
    assert len(bytes.fromhex(first)) == 32
    listed["data"] = listing(2, meta={"n_params": 7})["data"]
    assert connect(server.url, model="served", concurrency=1).sha256 == first
    other_name = connect(server.url, model="other").sha256
    listed["data"] = listing(2, meta={"n_params": 8})["data"]
    other_weights = connect(server.url, model="served").sha256
    other_address = connect(serve(always(completion("x")), listed).url, model="served").sha256
    assert len({first, other_name, other_weights, other_address}) == 4


def test_the_hash_says_how_it_is_asked(serve: Serve, connect: Connect) -> None:
    """Kept scores of another format, or of so many samples, are no longer this model's."""
    offers = False

    def script(asked: Asked) -> Json:
        reply = chat_completion if "messages" in asked.body else completion
        return reply("A", TOP if offers and "logprobs" in asked.body else None)

    server = serve(script)
    names = {
        connect(server.url, **options).sha256
        for options in ({}, {"chat_format": None}, {"chat_format": "llama3"}, {"samples": 50})
    }
    offers = True
    with_logprobs = connect(server.url)
    names |= {with_logprobs.sha256, connect(server.url, chat_format=None).sha256}
    assert len(names) == 6
    assert connect(server.url, samples=50).sha256 == with_logprobs.sha256, "none were drawn"


def test_the_hash_costs_one_question(serve: Serve, connect: Connect) -> None:
    server = serve(sampled(completion("A", TOP)))
    model = connect(server.url)
    assert model.sha256 == model.sha256
    (asked,) = server.asked
    assert "Is water wet?" in asked.body["prompt"]
    scored = connect(server.url)
    scored.score_labels(CHAT, [""], LABELS)
    assert scored.sha256 == model.sha256
    assert len(server.asked) == 2, "what was scored has told it"


def test_a_server_that_fails_has_a_hash_nevertheless(serve: Serve, connect: Connect) -> None:
    """A model that only writes needs no labels."""
    reply: Answer | Json = Answer("no", 500)
    server = serve(lambda _asked: reply)
    model = connect(server.url)
    open_ = model.sha256
    assert (len(bytes.fromhex(open_)), model.note) == (32, "")
    asked = len(server.asked)
    assert (model.sha256, len(server.asked)) == (open_, asked), "asked once"
    reply = completion("A", TOP)
    model.score_labels(CHAT, [""], LABELS)
    assert model.sha256 != open_, "known since"
    assert model.sha256 == connect(server.url).sha256
