"""The real MiniLM: unit vectors that do not depend on their neighbours."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from factcheck_local.errors import ModelError
from factcheck_local.models.cards import find_card
from factcheck_local.models.embedder import BATCH_TEXTS, SentenceTransformerEmbedder

TEXTS = [
    "Staff get 25 days of leave a year.",
    "How many holidays do employees have?",
    "Bananas are yellow.",
    "",
    "😀 日本語 \0 \x1b[31m",
    "The office in Kiel opens at nine on weekdays. " * 60,
]


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


def test_a_vector_does_not_depend_on_its_batch(minilm: SentenceTransformerEmbedder) -> None:
    together = minilm.embed(TEXTS)
    alone = np.concatenate([minilm.embed([text]) for text in TEXTS])
    assert together == pytest.approx(alone, abs=1e-5)
    assert minilm.embed(TEXTS[::-1])[::-1] == pytest.approx(together, abs=1e-5)
    many = [f"item {i}" for i in range(BATCH_TEXTS)] + TEXTS
    assert minilm.embed(many)[BATCH_TEXTS:] == pytest.approx(together, abs=1e-5)


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
