"""The fakes keep the contracts that the real models keep."""

from __future__ import annotations

import numpy as np
import pytest

from factcheck_local.models.contracts import ChatModel, Embedder, Message, PairClassifier
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier

CHAT = [Message("user", "one two three")]


def echo(messages: object) -> str:
    assert messages == CHAT
    return "red green\nblue END more"


def test_chat_model_generates() -> None:
    fake = FakeChatModel(echo)
    model: ChatModel = fake
    assert model.generate(CHAT, max_tokens=100) == "red green\nblue END more"
    assert model.generate(CHAT, max_tokens=1) == "red"
    assert model.generate(CHAT, max_tokens=0) == ""
    assert model.generate(CHAT, max_tokens=100, stop=["END", "\n"]) == "red green"
    assert (
        model.generate(CHAT, max_tokens=100, stop=["~"], start="red") == "red green\nblue END more"
    )
    assert fake.calls == [tuple(CHAT)] * 5


def test_chat_model_scores() -> None:
    model: ChatModel = FakeChatModel(echo, lambda _chat, ending, labels: labels["b" in ending])
    scores = model.score_labels(CHAT, ["b", "a"], ["yes", "no", "maybe"])
    assert scores.shape == (2, 3)
    assert np.exp(scores).sum(axis=1) == pytest.approx(np.ones(2), abs=1e-12)
    assert np.exp(scores) == pytest.approx(np.array([[0.01, 0.98, 0.01], [0.98, 0.01, 0.01]]))
    assert model.score_labels(CHAT, [], ["yes", "no"]).shape == (0, 2)
    first: ChatModel = FakeChatModel(echo)
    assert first.score_labels(CHAT, ["x"], ["yes", "no"]).argmax() == 0
    assert first.score_labels(CHAT, ["x"], ["yes"]) == pytest.approx(np.zeros((1, 1)))


def test_pair_classifier() -> None:
    fake = FakePairClassifier(lambda p, h: (1.0, 0.0, 0.0) if p == h else (0.0, 0.25, 0.75))
    model: PairClassifier = fake
    found = model.classify([("a", "a"), ("a", "b")])
    assert found.tolist() == [[1, 0, 0], [0, 0.25, 0.75]]
    assert found.dtype == np.float64
    assert model.classify([]).shape == (0, 3)
    assert fake.calls == [("a", "a"), ("a", "b")]


def test_embedder() -> None:
    fake = FakeEmbedder(dimension=32)
    model: Embedder = fake
    texts = ["the office opens at nine", "The office, at nine!", "bananas", "", "!?"]
    vectors = model.embed(texts)
    assert vectors.shape == (5, model.dimension) == (5, 32)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-6)
    assert vectors[0] @ vectors[1] > 0.8 > vectors[0] @ vectors[2]
    assert np.array_equal(model.embed(texts[1:2])[0], vectors[1])
    assert model.embed([]).shape == (0, 32)
    assert fake.calls == [*texts, texts[1]]


@pytest.mark.parametrize("fake", [FakeChatModel(echo), FakeEmbedder()])
def test_identity(fake: FakeChatModel | FakeEmbedder) -> None:
    assert fake.id.startswith("fake-")
    assert len(fake.sha256) == 64
