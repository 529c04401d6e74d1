"""A score depends on its pair alone: not on company, order, batches or threads.

The tolerances are those that docs/replay.md states.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.core.types import Answer, Atom, Context
from factcheck_local.models import encoder, llama_context
from factcheck_local.models.cards import find_card
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.onnx_encoder import OnnxNliEncoder
from factcheck_local.models.registry import DEFAULT_ENCODER
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.relation import CalibratedRelationModel, Calibration, Premise
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.llm import LlmPairScorer
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import to_dict
from factcheck_local.report.replay import changes
from tests.models.tiny_bert import random_bert, save_with_tokenizer

pytestmark = pytest.mark.long

PASSAGE = (
    "Full-time staff get 25 days of annual leave a year. Up to five days may be carried over, and "
    "lapse at the end of March. Requests go to the line manager two weeks ahead."
)
CLAIMS = [
    "Full-time staff get 25 days of annual leave a year.",
    "Leave is 30 days.",
    "Up to five days may be carried over, and they lapse at the end of March of the next year.",
    "Lunch is free.",
]
PAIRS = [(PASSAGE, c) for c in CLAIMS] + [("Short.", CLAIMS[0]), (PASSAGE * 3, CLAIMS[1])]

#: How far a number of an encoder in transformers may be off in other company, and any with
#: another count of threads.
PADDED, THREADS = 1e-5, 1e-5


def alone(model: Any) -> npt.NDArray[np.float64]:  # noqa: ANN401
    return np.concatenate([model.classify([pair]) for pair in PAIRS])


# ------------------------------------------------------------------- batches


def test_the_onnx_encoder_in_any_company_and_any_threads() -> None:
    card = find_card(DEFAULT_ENCODER, "encoder")
    found = []
    for threads in (1, 2, 4):
        model = OnnxNliEncoder(card.id, card.sha256, card.folder, n_threads=threads)
        found += [alone(model), model.classify(PAIRS), model.classify(PAIRS[::-1])[::-1]]
    assert all(np.array_equal(found[0], other) for other in found)


def test_an_encoder_in_batches_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bert = random_bert(outputs=3)
    bert.config.id2label = {0: "entailment", 1: "contradiction", 2: "neutral"}
    model = encoder.NliEncoder("n", "0" * 64, save_with_tokenizer(bert, tmp_path), max_tokens=64)
    separate = alone(model)
    assert np.ptp(separate, axis=0).max() > 0.01, "the pairs are told apart"
    for size in (1, 2, 3, 16):
        monkeypatch.setattr(encoder, "BATCH_PAIRS", size)
        assert model.classify(PAIRS) == pytest.approx(separate, abs=PADDED)


def test_an_embedding_depends_on_its_text_alone(minilm: SentenceTransformerEmbedder) -> None:
    texts = [t for pair in PAIRS for t in pair]
    together = minilm.embed(texts)
    for text, row in zip(texts, together, strict=True):
        assert np.array_equal(minilm.embed([text])[0], row)


def score(model: LlamaCppModel, claims: list[str]) -> npt.NDArray[np.float64]:
    return LlmPairScorer(model).score(Premise("Leave", PASSAGE), claims)


def test_the_llm_in_any_company_and_order(smollm: LlamaCppModel) -> None:
    separate = []
    for claim in CLAIMS:
        smollm.forget()
        separate.append(score(smollm, [claim])[0])
    assert np.array_equal(score(smollm, CLAIMS), separate)
    assert np.array_equal(score(smollm, CLAIMS[::-1])[::-1], separate)


@pytest.mark.parametrize(("threads", "batch"), [(1, 512), (2, 512), (2, 96)])
def test_the_llm_with_any_threads_and_batches(
    smollm: LlamaCppModel, monkeypatch: pytest.MonkeyPatch, threads: int, batch: int
) -> None:
    monkeypatch.setattr(llama_context, "BATCH_TOKENS", batch)
    card = find_card("smollm2-135m", "llm")
    path = card.folder / card.files[0].path
    other = LlamaCppModel(
        card.id, card.sha256, path, context_length=2048, template="chatml", n_threads=threads
    )
    try:
        found = score(other, CLAIMS[:2])
    finally:
        other.close()
    monkeypatch.undo()
    assert found == pytest.approx(score(smollm, CLAIMS[:2]), abs=THREADS)


# ------------------------------------------------------------------ verdicts


def verified(embedder: SentenceTransformerEmbedder, relation: Any) -> dict[str, Any]:  # noqa: ANN401
    """Four claims over two passages, one of which is neither read nor taken for unrelated."""
    contexts = (
        Context("p", "leave.md", "Leave", PASSAGE, 0.95),
        Context("q", "old.md", "Leave", "Staff get 30 days of leave.", 0.6),
    )
    atoms = tuple(
        Atom(f"a{i}", text, text, context_ids=("p", "q")) for i, text in enumerate(CLAIMS)
    )
    record = Record(Answer("\n".join(CLAIMS)), atoms, contexts)
    settings = Settings(relation="encoder", min_similarity=-1.0)
    checker = FactChecker(settings, embedder=embedder, relation_model=relation)
    found: dict[str, Any] = json.loads(json.dumps(to_dict(checker.verify(record))))
    return found


def test_a_run_repeats_itself_with_one_thread_and_two(
    minilm: SentenceTransformerEmbedder,
) -> None:
    import torch

    card = find_card(DEFAULT_ENCODER, "encoder")
    calibration = Calibration.from_card(card.calibration, "encoder")
    before, runs = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 1):
            torch.set_num_threads(threads)
            model = OnnxNliEncoder(card.id, card.sha256, card.folder, n_threads=threads)
            relation = CalibratedRelationModel(EncoderPairScorer(model), calibration)
            runs.append(verified(minilm, relation))
    finally:
        torch.set_num_threads(before)
    assert len({a["verdict"] for a in runs[0]["atoms"]}) >= 2
    assert changes(runs[0], runs[2]) == []
    assert changes(runs[0], runs[1], tolerance=THREADS) == []


def test_verdicts_of_an_llm_with_one_thread_and_two(
    minilm: SentenceTransformerEmbedder,
) -> None:
    card = find_card("smollm2-135m", "llm")
    path = card.folder / card.files[0].path
    runs = []
    for threads in (1, 2):
        model = LlamaCppModel(
            card.id, card.sha256, path, context_length=2048, template="chatml", n_threads=threads
        )
        try:
            relation = CalibratedRelationModel(LlmPairScorer(model), Calibration())
            runs.append(verified(minilm, relation))
        finally:
            model.close()
    assert changes(*runs, tolerance=THREADS) == []
