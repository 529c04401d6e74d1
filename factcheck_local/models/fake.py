"""Models that reply from a script: for our tests, and for yours.

They keep the contracts of ``contracts`` to the letter, so that code tested
with them meets no surprise with a real model.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from factcheck_local.models.contracts import FloatArray, Message


def _first(_messages: Sequence[Message], _ending: str, labels: Sequence[str]) -> str:
    return labels[0]


class FakeChatModel:
    """A ``ChatModel`` whose replies and label probabilities are functions of the chat.

    Args:
        reply: the assistant's turn, without ``start``.
        label: the label that gets nearly all of the probability; by default
            the first.
    """

    id = "fake-chat-model"
    sha256 = "0" * 64

    def __init__(
        self,
        reply: Callable[[Sequence[Message]], str],
        label: Callable[[Sequence[Message], str, Sequence[str]], str] = _first,
    ) -> None:
        self._reply = reply
        self._label = label
        self.calls: list[tuple[Message, ...]] = []

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        start: str = "",  # noqa: ARG002
        temperature: float = 0.0,  # noqa: ARG002
        seed: int = 0,  # noqa: ARG002
    ) -> str:
        """Reply by script, cut as a real model's text is."""
        self.calls.append(tuple(messages))
        text = " ".join(self._reply(messages).split(" ")[:max_tokens])
        for mark in stop:
            text = text.split(mark, 1)[0]
        return text

    def score_labels(
        self, messages: Sequence[Message], endings: Sequence[str], labels: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Log probabilities by script: 0.98 for the label, the rest shared out."""
        scores = np.full((len(endings), len(labels)), 0.02 / max(len(labels) - 1, 1))
        for row, ending in enumerate(endings):
            scores[row, labels.index(self._label(messages, ending, labels))] = 0.98
        found: npt.NDArray[np.float64] = np.log(scores / scores.sum(axis=1, keepdims=True))
        return found


class FakePairClassifier:
    """A ``PairClassifier`` whose probabilities are a function of the pair."""

    id = "fake-classifier"
    sha256 = "0" * 64

    def __init__(self, score: Callable[[str, str], tuple[float, float, float]]) -> None:
        self._score = score
        self.calls: list[tuple[str, str]] = []

    def classify(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Score by script; shape (n, 3)."""
        self.calls += pairs
        return np.array([self._score(p, h) for p, h in pairs], dtype=np.float64).reshape(-1, 3)


class FakeEmbedder:
    """An ``Embedder`` over hashed words: texts that share words are similar."""

    id = "fake-embedder"
    sha256 = "0" * 64

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.calls: list[str] = []

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape (len(texts), dimension)."""
        self.calls += texts
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            # A bias keeps a text without words from being the zero vector.
            vectors[row, 0] = 1e-3
            for word in re.findall(r"\w+", text.lower()):
                digest = hashlib.sha256(word.encode()).digest()
                vectors[row, int.from_bytes(digest[:4]) % self.dimension] += 1.0
        unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit
