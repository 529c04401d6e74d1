"""Reading the best passages again, with scripted encoders and the one that is shipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.core.progress import Progress
from factcheck_local.core.types import Context
from factcheck_local.models.cards import find_card
from factcheck_local.models.fake import FakePairClassifier
from factcheck_local.models.registry import DEFAULT_ENCODER, DEFAULT_LLM
from factcheck_local.pipeline.relation import Premise
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.load import load_pair_scorer
from factcheck_local.pipeline.retrieval.rerank import reorder
from factcheck_local.pipeline.retrieval.rerankers import EncoderReranker, load_reranker

CLAIM = "Guests pay 12 euros for lunch."


def passages(*texts: str) -> list[Context]:
    return [Context(id=t, source="a.md", title="Canteen", text=t, prior=0.9) for t in texts]


def ids(found: Sequence[Context]) -> str:
    return "".join(c.id for c in found)


class Scripted:
    """A ``Reranker`` that scores a passage by a table; what is not in it cannot be read."""

    id = "scripted"
    sha256 = "0" * 64

    def __init__(self, scores: dict[str, float], search_weight: int = 0) -> None:
        self._scores = scores
        self.search_weight = search_weight

    def scores(
        self,
        pairs: Sequence[tuple[str, Context]],
        progress: Progress = lambda _done, _all: None,
    ) -> list[float | None]:
        progress(len(pairs), len(pairs))
        return [self._scores.get(context.id) for _, context in pairs]


def reader(
    score: Callable[[str, str], tuple[float, float, float]],
) -> tuple[EncoderReranker, FakePairClassifier]:
    classifier = FakePairClassifier(score)
    return EncoderReranker(EncoderPairScorer(classifier)), classifier


def test_by_score_alone_and_fused_by_hand() -> None:
    scores = {"a": 0.1, "b": 0.1, "c": 0.2, "d": 0.9}
    (alone,), _ = reorder([CLAIM], [passages(*"abcd")], Scripted(scores))
    # Of equal scores the one that was found first.
    assert ids(alone) == "dcab"
    # Ranks of the search 1 2 3 4, twice, and of the scores 3 4 2 1, each 1 / (1 + rank):
    # a 2/2 + 1/4 = 1.25, b 2/3 + 1/5 = 0.87, c 2/4 + 1/3 = 0.83, d 2/5 + 1/2 = 0.9.
    (fused,), _ = reorder([CLAIM], [passages(*"abcd")], Scripted(scores, search_weight=2))
    assert ids(fused) == "adbc"


def test_what_cannot_be_read_stays_in_order() -> None:
    reranker = Scripted({"a": 0.1, "b": 0.9})
    found, unread = reorder(["x", "y", "z"], [passages(*"ab"), passages(*"abz"), []], reranker)
    assert [ids(f) for f in found][1:] == ["abz", ""]
    assert unread == 1


def test_both_sides_count() -> None:
    reranker, classifier = reader(
        lambda p, _h: {
            "Canteen. no": (0.1, 0.1, 0.8),
            "Canteen. for": (0.7, 0.1, 0.2),
            "Canteen. against": (0.0, 0.9, 0.1),
        }[p]
    )
    pairs = [(CLAIM, c) for c in passages("no", "for", "against")]
    assert reranker.scores(pairs) == pytest.approx([0.2, 0.8, 0.9])
    assert (reranker.id, reranker.sha256) == (classifier.id, classifier.sha256)


def test_a_pair_is_read_once_and_a_passage_at_a_time() -> None:
    reranker, classifier = reader(lambda p, h: (0.0, 0.0, 1.0) if p[-1] == h else (0.0, 1.0, 0.0))
    one, other = passages("x", "y")
    told: list[tuple[int, int]] = []
    found = reranker.scores(
        [("x", one), ("x", other), ("y", one), ("x", one)],
        lambda done, count: told.append((done, count)),
    )
    assert found == [0.0, 1.0, 1.0, 0.0]
    assert classifier.calls == [("Canteen. x", "x"), ("Canteen. x", "y"), ("Canteen. y", "x")]
    assert told == [(3, 4), (4, 4)]


def test_a_claim_that_is_too_long_takes_no_other_with_it() -> None:
    def score(_premise: str, hypothesis: str) -> tuple[float, float, float]:
        if hypothesis == "long":
            raise ScoringError("does not fit")
        return (0.5, 0.0, 0.5)

    reranker, _ = reader(score)
    (passage,) = passages("x")
    assert reranker.scores([("a", passage), ("long", passage), ("b", passage)]) == [0.5, None, 0.5]
    assert reranker.scores([]) == []


def test_the_shipped_encoder_puts_the_passage_that_bears_on_the_claim_first() -> None:
    found = passages(
        "Lunch is served from noon, and the kitchen closes at two.",
        "The canteen was rebuilt two years ago, with a terrace for guests.",
        "Visitors sign in at the gate and wear a badge.",
        "Guests pay 9 euros for lunch.",
    )
    reranker = load_reranker("encoder")
    assert reranker.id == DEFAULT_ENCODER
    scores = reranker.scores([(CLAIM, c) for c in found])
    assert scores[3] == max(s for s in scores if s is not None)
    assert all(s is not None and 0 <= s <= 1 for s in scores)
    (again,), unread = reorder([CLAIM], [found], reranker)
    assert unread == 0
    # Last in the search and first in the scores, 2/5 + 1/2, goes before the third, which
    # has 2/4 + 1/3 at most.
    assert again.index(found[3]) < again.index(found[2])
    assert reorder([CLAIM], [found], reranker)[0] == [again]


def unloadable(name: str) -> object:
    raise AssertionError(f"{name} was loaded though every score is there")


def test_what_is_read_is_kept_in_the_store(tmp_path: Path) -> None:
    pairs = [(CLAIM, c) for c in passages("Guests pay 9 euros for lunch.")]
    first = load_reranker("encoder", cache_dir=tmp_path).scores(pairs)
    kept = (tmp_path / "pair-scores.sqlite").stat().st_size
    assert load_reranker("encoder", cache_dir=tmp_path).scores(pairs) == first
    assert (tmp_path / "pair-scores.sqlite").stat().st_size == kept
    assert load_reranker("encoder").scores(pairs) == first
    # The relation model of the same name has nothing left to read.
    scorer = load_pair_scorer(find_card(DEFAULT_ENCODER), cache_dir=tmp_path, load=unloadable)
    (row,) = scorer.score(Premise("Canteen", pairs[0][1].text), [CLAIM])
    assert first == [pytest.approx(np.exp(row[:2]).sum())]


def test_only_an_encoder_or_a_reranker_will_do() -> None:
    with pytest.raises(ModelError, match=f"{DEFAULT_LLM} is of role llm; encoder or reranker is"):
        load_reranker(DEFAULT_LLM)
    with pytest.raises(ModelError, match="unknown model 'nowhere'"):
        load_reranker("nowhere")
