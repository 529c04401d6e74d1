"""A cross-encoder made on the spot: its own number for each pair, and nothing else accepted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification, BertTokenizer

from factcheck_local.core.errors import ChecksumError, ModelError
from factcheck_local.core.types import Context
from factcheck_local.models.add import add_model
from factcheck_local.models.cross_encoder import BATCH_PAIRS, CrossEncoderScorer
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.relation import load_relation_model
from factcheck_local.pipeline.retrieval.rerank import reorder
from factcheck_local.pipeline.retrieval.rerankers import load_reranker

from .tiny_bert import random_bert, save_with_tokenizer

PAIRS = [
    ("staff get 25 days .", "staff get 25 days of leave a year ."),
    ("staff get 25 days .", "the office opens at nine ."),
    ("no leave .", "staff get 30 days of leave a year ."),
]


def save(folder: Path, outputs: int = 1) -> tuple[Path, BertForSequenceClassification]:
    """A random cross-encoder with so many outputs, in a folder."""
    model = random_bert(outputs)
    return save_with_tokenizer(model, folder), model


def test_the_number_is_the_models_own(tmp_path: Path) -> None:
    folder, bert = save(tmp_path / "m")
    scorer = CrossEncoderScorer("tiny", "0" * 64, folder, max_tokens=64)
    found = scorer.relevance(PAIRS)
    assert found.dtype == np.float64
    tokenizer = BertTokenizer.from_pretrained(folder)
    for score, (query, text) in zip(found, PAIRS, strict=True):
        with torch.inference_mode():
            logit = bert(**tokenizer(query, text, return_tensors="pt")).logits[0, 0]
        assert score == pytest.approx(float(logit), abs=1e-5)
    assert len(set(found.round(3))) == 3


def test_any_number_of_pairs(tmp_path: Path) -> None:
    scorer = CrossEncoderScorer("tiny", "0" * 64, save(tmp_path / "m")[0], max_tokens=64)
    assert scorer.relevance([]).shape == (0,)
    many = PAIRS * BATCH_PAIRS
    assert scorer.relevance(many) == pytest.approx(
        np.tile(scorer.relevance(PAIRS), BATCH_PAIRS), abs=1e-5
    )
    long = " ".join(["staff get 25 days of leave a year ."] * 40)
    assert np.isfinite(scorer.relevance([("no leave .", long), (long, "no leave .")])).all()


@pytest.mark.parametrize("outputs", [2, 3])
def test_more_than_one_number(tmp_path: Path, outputs: int) -> None:
    with pytest.raises(ModelError, match=f"that gives one number, got {outputs}"):
        CrossEncoderScorer("tiny", "0" * 64, save(tmp_path / "m", outputs)[0])


def test_no_model_and_pickled_weights(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="not a cross-encoder"):
        CrossEncoderScorer("tiny", "0" * 64, tmp_path / "empty")
    folder, bert = save(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    torch.save(bert.state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="not a cross-encoder"):
        CrossEncoderScorer("tiny", "0" * 64, folder)


def test_an_added_reranker_orders_by_its_score_alone(home: Path, tmp_path: Path) -> None:
    assert home.is_dir()
    folder, _ = save(tmp_path / "m")
    card = add_model("tiny", folder, "reranker")
    scorer = load_model("tiny", "reranker")
    reranker = load_reranker("tiny")
    assert (reranker.id, reranker.sha256) == ("tiny", card.sha256)
    claim, texts = "staff get 25 days .", [text for _, text in PAIRS]
    found = [Context(id=t, source="a", title="no leave", text=t, prior=0.9) for t in texts]
    scores = scorer.relevance([(claim, f"no leave\n{text}") for text in texts])
    assert reranker.scores([(claim, c) for c in found]) == pytest.approx(scores.tolist())
    (order,), unread = reorder([claim], [found], reranker)
    assert unread == 0
    assert [c.id for c in order] == [texts[i] for i in np.argsort(-scores)]
    with pytest.raises(ModelError, match="tiny is of role reranker; encoder is needed here"):
        load_relation_model("tiny", default_llm="none")
    (folder / "config.json").write_text((folder / "config.json").read_text() + " ")
    with pytest.raises(ChecksumError, match=r"config\.json"):
        load_reranker("tiny")
