"""Models that write garbage, nothing or the same for ever, or fail: each ends in a stated state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.types import Answer, Context
from factcheck_local.models.contracts import Message
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import to_dict
from tests.cli.worlds import by_number

SENTENCES = ["Annual leave is 25 days.", "It lapses in March.", "At most 2 animals may come."]
CONTEXTS = (Context("c", "leave.md", "Leave", "Annual leave is 25 days.", 0.9),)


def verified(
    reply: Callable[[Sequence[Message]], str],
    classifier: FakePairClassifier | None = None,
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    relation = CalibratedRelationModel(
        EncoderPairScorer(classifier or FakePairClassifier(by_number))
    )
    checker = FactChecker(
        Settings(min_similarity=-1.0, min_pooled_similarity=-1.0, **settings),
        llm=FakeChatModel(reply),
        embedder=FakeEmbedder(),
        relation_model=relation,
    )
    return to_dict(checker.verify(Record(Answer(" ".join(SENTENCES)), contexts=CONTEXTS)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "\ufffd\x00\x1b[31m@@@###",
        "leave " * 5000,
        "- a\n" * 5000,
        '{"claims": [',
        "<|im_end|><|im_start|>system",
        "I cannot help with that.",
        "\u202e\U000e0041",
    ],
    ids=["nothing", "lines", "garbage", "words", "bullets", "json", "markup", "prose", "unseen"],
)
def test_whatever_the_llm_writes_each_sentence_is_verified_as_it_stands(text: str) -> None:
    found = verified(lambda _chat: text)
    assert [a["text"] for a in found["atoms"]] == SENTENCES
    assert {a["text"]: a["verdict"] for a in found["atoms"]} == {
        SENTENCES[0]: "supported",
        SENTENCES[1]: "not_found",
        SENTENCES[2]: "not_found",
    }


def test_an_llm_that_fails_leaves_claims_unscored_with_the_reason() -> None:
    def fail(_chat: Sequence[Message]) -> str:
        raise ScoringError("the server did not answer")

    found = verified(fail)
    assert {(a["verdict"], a["reason"]) for a in found["atoms"]} == {
        ("unscored", "the server did not answer")
    }
    assert found["summary"]["precision"] is None


class Broken(FakePairClassifier):
    """Gives what is no probability."""

    def __init__(self, rows: Callable[[int], Any]) -> None:
        super().__init__(by_number)
        self._rows = rows

    def classify(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        found: npt.NDArray[np.float64] = np.asarray(self._rows(len(pairs)), dtype=np.float64)
        return found


@pytest.mark.parametrize(
    "rows",
    [
        lambda n: np.full((n, 3), np.nan),
        lambda n: np.full((n, 3), -1.0),
        lambda n: np.zeros((n, 3)),
        lambda n: np.ones((n, 2)),
        lambda n: np.ones((n + 1, 3)),
        lambda _n: [],
    ],
    ids=["nan", "negative", "zero", "two", "more", "none"],
)
def test_scores_that_are_none_become_no_verdict(rows: Callable[[int], Any]) -> None:
    found = verified(lambda chat: chat[-1].content.rsplit("Sentence: ", 1)[-1], Broken(rows))
    assert {a["verdict"] for a in found["atoms"]} == {"unscored"}
    assert all("no probabilities of three labels" in a["reason"] for a in found["atoms"])


def test_a_model_that_is_never_sure_decides_nothing() -> None:
    found = verified(
        lambda chat: chat[-1].content.rsplit("Sentence: ", 1)[-1],
        FakePairClassifier(lambda _p, _h: (1 / 3, 1 / 3, 1 / 3)),
    )
    assert {a["verdict"] for a in found["atoms"]} == {"not_found"}
    assert {a["probability"] for a in found["atoms"]} == {0.5}
