"""The real MiniLM: unit vectors that do not depend on their neighbours."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from factcheck_local.core.errors import ModelError
from factcheck_local.models.cards import find_card
from factcheck_local.models.embedder import (
    BATCH_TEXTS,
    SentenceTransformerEmbedder,
    for_passages,
)
from factcheck_local.models.fake import FakeEmbedder

pytestmark = pytest.mark.long

TEXTS = [
    "Staff get 25 days of leave a year.",
    "How many holidays do employees have?",
    "Bananas are yellow.",
    "",
    "😀 日本語 \0 \x1b[31m",
    "The office in Kiel opens at nine on weekdays. " * 60,
]

#: For bfloat16, which takes a hundred times as long where the processor only emulates it: the
#: long text is of two steps of length, where the one above fills the model.
SHORTER = [TEXTS[0], *TEXTS[3:5], "The office in Kiel opens at nine on weekdays. " * 5]


def test_rows_are_unit_vectors(minilm: SentenceTransformerEmbedder) -> None:
    vectors = minilm.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), minilm.dimension) == (6, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6), abs=1e-5)
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert near > far + 0.2


def test_no_texts(minilm: SentenceTransformerEmbedder) -> None:
    assert minilm.embed([]).shape == (0, 384)
    assert minilm.embed([]).dtype == np.float32


@pytest.mark.parametrize("fast", [False, True])
def test_a_vector_does_not_depend_on_its_batch(
    minilm: SentenceTransformerEmbedder, fast: bool
) -> None:
    embedder, texts = (minilm.in_bfloat16(), SHORTER) if fast else (minilm, TEXTS)
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.array_equal(together, alone)
    assert np.array_equal(embedder.embed(texts[::-1])[::-1], together)
    many = [f"item {i}" for i in range(BATCH_TEXTS)] + texts
    assert np.array_equal(embedder.embed(many)[BATCH_TEXTS:], together)


def test_the_fast_arithmetic_gives_nearly_the_same_vectors(
    minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = minilm.embed(SHORTER)
    monkeypatch.setattr("factcheck_local.models.embedder.has_native_bfloat16", lambda: True)
    fast = for_passages(minilm)
    assert (fast.id, fast.sha256, fast.dimension) == (minilm.id, minilm.sha256, minilm.dimension)
    found = fast.embed(SHORTER)
    assert not np.array_equal(found, exact)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(SHORTER)), abs=1e-5)
    assert np.einsum("ij,ij->i", found, exact).min() > 0.998
    # The model itself stays as it was.
    assert np.array_equal(minilm.embed(SHORTER), exact)


def test_no_fast_arithmetic_on_other_processors(
    minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck_local.models.embedder.has_native_bfloat16", lambda: False)
    assert for_passages(minilm) is minilm
    assert for_passages(embedder := FakeEmbedder()) is embedder


def test_only_the_beginning_of_a_long_text_counts(minilm: SentenceTransformerEmbedder) -> None:
    # More than 256 tokens, all the same up to there.
    one, other = minilm.embed([TEXTS[5], TEXTS[5] + "Bananas are yellow."])
    assert one == pytest.approx(other, abs=1e-6)


def test_identity(minilm: SentenceTransformerEmbedder) -> None:
    assert (minilm.id, minilm.sha256) == ("all-minilm-l6-v2", find_card("all-minilm-l6-v2").sha256)


def test_no_model_at_all(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a sentence-transformers model") as caught:
        SentenceTransformerEmbedder("x", "0", tmp_path, max_tokens=256)
    assert str(tmp_path) in str(caught.value)


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    shutil.copytree(find_card("all-minilm-l6-v2").folder, folder)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="not a sentence-transformers model"):
        SentenceTransformerEmbedder("x", "0", folder, max_tokens=256)
