"""FACTCHECK_DEVICE: what it may say, what of it is here, and who computes there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
import torch

from factcheck_local.core.errors import ModelError
from factcheck_local.models.cards import ModelCard, ModelFile, find_card
from factcheck_local.models.cross_encoder import CrossEncoderScorer
from factcheck_local.models.device import found_devices, torch_device
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.encoder import NliEncoder
from factcheck_local.pipeline.run import environment
from tests.cli.helpers import refused

from .tiny_bert import random_bert, save_with_tokenizer


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)


def test_the_processor_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU is taken only where it is asked for."""
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.delenv("FACTCHECK_DEVICE", raising=False)
    assert torch_device() == "cpu"
    assert environment()["device"] == "cpu"
    monkeypatch.setenv("FACTCHECK_DEVICE", "cuda")
    assert torch_device() == "cuda"
    assert environment()["device"] == "cuda"


@pytest.mark.parametrize("device", ["gpu", "", "CUDA", "cuda:", "cuda:-1", "cuda:x", "0", "mps:0"])
def test_no_device(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTCHECK_DEVICE", device)
    with pytest.raises(ModelError, match=r"FACTCHECK_DEVICE is .*: expected cpu, cuda, cuda:N or"):
        torch_device()


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize("device", ["cpu", "cuda", "cuda:0", "cuda:1"])
def test_devices_that_are_here(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTCHECK_DEVICE", device)
    assert torch_device() == device


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize("device", ["cuda:2", "mps"])
def test_devices_that_are_not(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTCHECK_DEVICE", device)
    with pytest.raises(ModelError, match=r"torch finds no such device, only cpu, cuda:0, cuda:1$"):
        torch_device()


def test_apple_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: True)
    assert found_devices() == ["cpu", "mps"]
    monkeypatch.setenv("FACTCHECK_DEVICE", "mps")
    assert torch_device() == "mps"


def _card(folder: Path, role: Literal["encoder", "reranker"], backend: str) -> ModelCard:
    return ModelCard(
        id="x",
        title="",
        role=role,
        licence="",
        backend=backend,
        files=(ModelFile("model.safetensors", 0, "f" * 64),),
        options={"max_tokens": 32},
        location=folder,
    )


def test_all_three_compute_where_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minilm: SentenceTransformerEmbedder
) -> None:
    """On torch's device without memory, where the shapes alone are computed."""
    for module in ("encoder", "cross_encoder", "embedder"):
        monkeypatch.setattr(f"factcheck_local.models.{module}.torch_device", lambda: "meta")
    judge = random_bert(3)
    judge.config.id2label = {0: "entailment", 1: "neutral", 2: "contradiction"}
    judge.config.label2id = {name: n for n, name in judge.config.id2label.items()}
    nli = save_with_tokenizer(judge, tmp_path / "nli")
    ranks = save_with_tokenizer(random_bert(1), tmp_path / "ranks")
    models = (
        NliEncoder.from_card(_card(nli, "encoder", "transformers"))._model,
        CrossEncoderScorer.from_card(_card(ranks, "reranker", "cross_encoder"))._model,
        SentenceTransformerEmbedder.from_card(find_card(minilm.id))._model,
    )
    assert {model.device for model in models} == {torch.device("meta")}


def test_a_device_that_is_not_here_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    monkeypatch.setenv("FACTCHECK_DEVICE", "cuda")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("Leave is 25 days.")
    assert refused("index", "a.md").startswith("FACTCHECK_DEVICE is 'cuda': torch finds no such")
