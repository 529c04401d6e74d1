"""How many requests a server gets at once: as many as it takes, and none is lost."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from factcheck_local.models.contracts import Message
from factcheck_local.models.openai_server.limit import BEGIN, Limit
from factcheck_local.models.openai_server.model import ServerModel
from factcheck_local.models.openai_server.options import ServerOptions

from .scripted_server import Answer, Asked, Json, ScriptedServer


def test_it_grows_by_one_for_as_many_replies_as_are_allowed() -> None:
    limit = Limit(16)
    assert limit.allowed == BEGIN
    for _ in range(BEGIN + 1):
        limit.heed(200, 0)
    assert limit.allowed == BEGIN + 1
    limit.heed(503, 0)
    assert limit.allowed == BEGIN + 1, "it failed, which is no matter of how many"
    for _ in range(1000):
        limit.heed(200, 0)
    assert limit.allowed == 16
    limit.heed(429, 0)
    assert limit.allowed == 14
    limit.heed(429, 0)
    assert limit.allowed == 14, "it was under way when the other one was refused"
    for _ in range(14):
        limit.heed(200, 0)
    assert limit.allowed == 14, "from now on with care"
    for cuts in range(1, 100):
        with limit.turn() as begun:
            assert begun == cuts
        limit.heed(429, begun)
    assert limit.allowed == 1
    assert Limit(2).allowed == 2


def test_no_more_threads_than_allowed_have_a_turn() -> None:
    limit = Limit(3)
    seen: list[int] = []
    inside = 0
    lock = threading.Lock()

    def work(_: int) -> None:
        nonlocal inside
        with limit.turn():
            with lock:
                inside += 1
                seen.append(inside)
            time.sleep(0.002)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(40)))
    assert (len(seen), max(seen)) == (40, 3)


def test_a_turn_ends_with_an_error_too() -> None:
    limit = Limit(1)
    with pytest.raises(ValueError, match="no"), limit.turn():
        raise ValueError("no")
    with limit.turn():
        pass


def test_a_server_that_takes_few_at_once_answers_all() -> None:
    """It refuses whoever comes as a fourth; each question is answered, once for its asker."""
    taken = threading.Semaphore(3)

    def script(asked: Asked) -> Answer | Json:
        if not taken.acquire(blocking=False):
            return Answer({"error": "busy"}, 429)
        try:
            time.sleep(0.01)
            number = int(asked.body["messages"][-1]["content"].split()[-1])
            p = (number + 1) / 100
            top = [{"token": t, "logprob": float(np.log(q))} for t, q in (("A", p), ("B", 1 - p))]
            logprobs = {"content": [{"token": "A", "logprob": 0.0, "top_logprobs": top}]}
            return {"choices": [{"message": {"content": "A"}, "logprobs": logprobs}]}
        finally:
            taken.release()

    server = ScriptedServer(script)
    model = ServerModel("m", ServerOptions(server.url, concurrency=16), pause=0.02)
    try:

        def ask(number: int) -> float:
            chat = [Message("user", "Which?")]
            (row,) = model.score_labels(chat, [f" {number}"], ("A", "B"))
            return float(np.exp(row[0]))

        with ThreadPoolExecutor(model.at_once) as pool:
            found = list(pool.map(ask, range(60)))
    finally:
        model.close()
        server.close()
    assert found == pytest.approx([(n + 1) / 100 for n in range(60)], abs=1e-6)
    assert server.most_at_once > 3, "it was asked for more than it takes"
    refused = len(server.asked) - 60
    assert 0 < refused < 60
