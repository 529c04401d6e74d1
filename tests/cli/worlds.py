"""A real store over a few pages, and the pipeline with scripted models in its commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.contracts import Message
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer

Reply = Callable[[str], str]


def index(docs: Path, store: Path) -> None:
    """Bring the store up to date with the folder."""
    embedder = FakeEmbedder()
    with Store.create(store, Fingerprint.of(embedder)) as made:
        sync([docs], made, embedder)


def write(docs: Path, **pages: str) -> None:
    docs.mkdir(exist_ok=True)
    for name, text in pages.items():
        (docs / f"{name}.md").write_text(text)


def by_number(premise: str, hypothesis: str) -> tuple[float, float, float]:
    """Compares the numbers of two texts that share a word of five letters or more."""
    words, numbers = re.compile(r"[a-z]{5,}"), re.compile(r"\d+")
    if not set(words.findall(premise.lower())) & set(words.findall(hypothesis.lower())):
        return 0.02, 0.02, 0.96
    same = set(numbers.findall(hypothesis)) <= set(numbers.findall(premise))
    return (0.9, 0.05, 0.05) if same else (0.05, 0.9, 0.05)


def scripted(
    made: list[FactChecker],
    correct: Reply = lambda _turn: "",
    split: Reply = lambda sentence: sentence,
) -> type[FactChecker]:
    """The pipeline with scripted models.

    Args:
        made: where each one is put.
        correct: answers the prompt that asks for a correction.
        split: makes a sentence's claims, a line each.
    """

    def reply(messages: Sequence[Message]) -> str:
        turn = messages[-1].content
        if "Sentence: " in turn and "Source: " not in turn:
            return split(turn.rsplit("Sentence: ", 1)[1])
        return correct(turn)

    class Faked(FactChecker):
        def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
            super().__init__(
                *arguments,
                llm=FakeChatModel(reply),
                embedder=FakeEmbedder(),
                relation_model=CalibratedRelationModel(
                    EncoderPairScorer(FakePairClassifier(by_number))
                ),
                **options,
            )
            made.append(self)

    return Faked


def fake(
    monkeypatch: pytest.MonkeyPatch,
    *modules: Any,  # noqa: ANN401
    **script: Reply,
) -> list[FactChecker]:
    """Put ``scripted`` in the place of the pipeline in some commands; returns those made."""
    made: list[FactChecker] = []
    for module in modules:
        monkeypatch.setattr(module, "FactChecker", scripted(made, **script))
    return made
