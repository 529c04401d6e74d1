"""What is exported of MiniLM: the same vectors, without torch, and only as long as it is whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from factcheck_local.cli import cli
from factcheck_local.core.errors import ModelError
from factcheck_local.models import embedder_export
from factcheck_local.models.cards import data_directory, find_card
from factcheck_local.models.embedder import (
    SentenceTransformerEmbedder,
    for_passages,
    load_embedder,
)
from factcheck_local.models.embedder_export import PROBES, export_embedder
from factcheck_local.models.onnx_embedder import TOLERANCE, OnnxEmbedder, exported_file

CARD = "all-minilm-l6-v2"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> OnnxEmbedder:
    """Made anew, in a folder of its own."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "models").symlink_to(data_directory() / "models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FACTCHECK_HOME", str(folder))
        assert export_embedder(find_card(CARD))
        model = load_embedder(find_card(CARD))
    assert isinstance(model, OnnxEmbedder)
    return model


def test_vectors_are_those_of_the_model(
    exported: OnnxEmbedder, minilm: SentenceTransformerEmbedder
) -> None:
    texts = [*PROBES, "How many days of leave are there?", "x " * 400]
    found = exported.embed(texts)
    assert np.abs(found - minilm.embed(texts)).max() <= TOLERANCE
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-6)
    assert (exported.id, exported.sha256) == (minilm.id, minilm.sha256)
    assert found.dtype == np.float32
    assert exported.dimension == minilm.dimension
    assert exported.embed([]).shape == (0, minilm.dimension)


def test_a_vector_depends_on_its_text_alone(exported: OnnxEmbedder) -> None:
    together = exported.embed(PROBES)
    alone = np.concatenate([exported.embed([text]) for text in PROBES])
    assert np.array_equal(together, alone)
    assert np.array_equal(exported.embed(PROBES[::-1])[::-1], together)


def test_passages_get_the_model_itself(exported: OnnxEmbedder) -> None:
    whole = for_passages(exported)
    assert isinstance(whole, SentenceTransformerEmbedder)
    assert (whole.id, whole.sha256) == (exported.id, exported.sha256)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with the models and what was exported of them, to be harmed."""
    source = data_directory()
    (tmp_path / "models").symlink_to(source / "models")
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path))
    card = find_card(CARD)
    assert export_embedder(card)
    return tmp_path


def test_a_damaged_file_is_not_used_and_made_anew(home: Path) -> None:
    card = find_card(CARD)
    (path,) = (home / "exported").iterdir()
    assert exported_file(card) == path
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert exported_file(card) is None
    assert isinstance(load_embedder(card), SentenceTransformerEmbedder)
    assert export_embedder(card)
    assert exported_file(card) is not None


@pytest.mark.usefixtures("home")
def test_a_gpu_that_was_named_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTCHECK_DEVICE", "cuda:99")
    with pytest.raises(ModelError, match="torch finds no such device"):
        load_embedder(find_card(CARD))


def test_what_gives_other_vectors_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").symlink_to(data_directory() / "models")
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path))
    monkeypatch.setattr(embedder_export, "TOLERANCE", 0.0)
    assert not export_embedder(find_card(CARD))
    assert list((tmp_path / "exported").iterdir()) == []

    def broken(_model: object, path: Path) -> None:
        path.write_bytes(b"no graph")

    monkeypatch.setattr(embedder_export, "_write", broken)
    assert not export_embedder(find_card(CARD))
    assert list((tmp_path / "exported").iterdir()) == []
    assert isinstance(load_embedder(find_card(CARD)), SentenceTransformerEmbedder)


def test_other_models_are_left_alone() -> None:
    assert not export_embedder(find_card("mpnet-l6-nli"))


def test_pull_makes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(find_card(CARD).folder, tmp_path / "models" / CARD)
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path))
    done = CliRunner().invoke(cli, ["models", "pull", CARD])
    assert done.output == f"{CARD}: already here, checked\n"
    assert exported_file(find_card(CARD)) is not None


def test_a_search_loads_no_torch() -> None:
    """What it is for."""
    program = (
        "import sys\nfrom factcheck_local.models.registry import load_model\n"
        "load_model('all-minilm-l6-v2', 'embedder').embed(['leave'])\n"
        "sys.exit(sum(name in sys.modules for name in ('torch', 'sentence_transformers')))"
    )
    assert export_embedder(find_card(CARD))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
