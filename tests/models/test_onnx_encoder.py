"""The ONNX backend against transformers, on an encoder made and exported on the spot."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from transformers import BertForSequenceClassification

from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.models.onnx_encoder import LABELS_KEY, MODEL_FILE, OnnxNliEncoder
from factcheck_local.models.windows import windows
from training.encoder import export

from .test_encoder import LONG, PAIRS, encoder, save
from .test_encoder import bert as bert  # a fixture


@pytest.fixture(scope="module")
def checkpoint(
    bert: BertForSequenceClassification,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A checkpoint whose labels are not in our order."""
    return save(tmp_path_factory.mktemp("onnx") / "checkpoint", bert, order=(2, 0, 1))


@pytest.fixture(scope="module")
def exported(checkpoint: Path) -> dict[str, Path]:
    """It as ONNX with 32-bit and with 8-bit weights."""
    folders = {"full": checkpoint.parent / "full", "int8": checkpoint.parent / "int8"}
    for name, folder in folders.items():
        flags = ["--full"] if name == "full" else []
        export.main([str(checkpoint), "--out", str(folder), *flags], standalone_mode=False)
    return folders


def load(folder: Path, max_tokens: int = 64, n_threads: int = 2) -> OnnxNliEncoder:
    return OnnxNliEncoder("tiny", "0" * 64, folder, max_tokens=max_tokens, n_threads=n_threads)


def test_the_same_probabilities_as_transformers(
    checkpoint: Path, exported: dict[str, Path]
) -> None:
    expected = encoder(checkpoint).classify(PAIRS)
    assert load(exported["full"]).classify(PAIRS) == pytest.approx(expected, abs=1e-5)
    assert load(exported["int8"]).classify(PAIRS) == pytest.approx(expected, abs=0.1)


def test_a_score_depends_on_nothing_but_the_pair(exported: dict[str, Path]) -> None:
    model = load(exported["int8"])
    together = model.classify([*PAIRS, *PAIRS[::-1]])
    assert np.array_equal(together[:3], together[:2:-1])
    for pair, row in zip(PAIRS, together, strict=False):
        assert np.array_equal(model.classify([pair])[0], row)
    assert np.array_equal(load(exported["int8"], n_threads=1).classify(PAIRS), together[:3])


def test_no_pairs(exported: dict[str, Path]) -> None:
    assert load(exported["int8"]).classify([]).shape == (0, 3)


def test_a_long_premise_is_read_in_windows_and_a_long_claim_refused(
    exported: dict[str, Path],
) -> None:
    model = load(exported["int8"], max_tokens=32)
    ends = [m.span() for m in re.finditer(r"\S+", LONG)]
    pieces = windows(LONG, ends, 32 - 3 - 3)
    assert len(pieces) > 1
    each = model.classify([(piece, "no leave .") for piece in pieces])
    (found,) = model.classify([(LONG, "no leave .")])
    assert np.array_equal(found, each[each[:, 2].argmin()])
    with pytest.raises(ScoringError, match="a claim does not fit in 29 tokens"):
        model.classify([PAIRS[0], ("no leave .", LONG)])


def test_a_folder_that_holds_no_encoder(exported: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not an ONNX encoder"):
        load(tmp_path)
    shutil.copytree(exported["int8"], tmp_path / "cut")
    whole = (tmp_path / "cut" / MODEL_FILE).read_bytes()
    (tmp_path / "cut" / MODEL_FILE).write_bytes(whole[:500])
    with pytest.raises(ModelError, match="not an ONNX encoder"):
        load(tmp_path / "cut")


@pytest.mark.parametrize("labels", [None, ["yes", "no", "maybe"]])
def test_labels_are_never_guessed(
    exported: dict[str, Path], tmp_path: Path, labels: list[str] | None
) -> None:
    shutil.copytree(exported["int8"], tmp_path / "model")
    model = onnx.load(tmp_path / "model" / MODEL_FILE)
    del model.metadata_props[:]
    if labels:
        onnx.helper.set_model_props(model, {LABELS_KEY: json.dumps(labels)})
    onnx.save(model, tmp_path / "model" / MODEL_FILE)
    with pytest.raises(ModelError):
        load(tmp_path / "model")
