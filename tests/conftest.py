"""Real models for the tests, loaded once: SmolLM2-135M and MiniLM."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import load_model

go_offline()


@pytest.fixture(scope="session")
def smollm() -> Iterator[LlamaCppModel]:
    model: LlamaCppModel = load_model("smollm2-135m", "llm")
    yield model
    model.close()


@pytest.fixture(scope="session")
def minilm() -> SentenceTransformerEmbedder:
    model: SentenceTransformerEmbedder = load_model("all-minilm-l6-v2", "embedder")
    return model
