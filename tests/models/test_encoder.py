"""NLI encoders made on the spot: columns by name, whatever the checkpoint's order."""

from __future__ import annotations

import json
import re
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer, ByT5Tokenizer

from factcheck_local.core.errors import ChecksumError, ModelError, ScoringError
from factcheck_local.models.add import add_model
from factcheck_local.models.encoder import BATCH_PAIRS, NliEncoder
from factcheck_local.models.labels import label_columns
from factcheck_local.models.registry import load_model
from factcheck_local.models.windows import windows

from .tiny_bert import random_bert, save_with_tokenizer

LABELS = ("entailment", "contradiction", "neutral")
PAIRS = [
    ("staff get 25 days of leave a year .", "staff get 25 days ."),
    ("the office opens at nine .", "the office opens at nine ."),
    ("no leave .", "staff get 30 days of leave a year ."),
]
LONG = " ".join(["staff get 25 days of leave a year ."] * 40)


@pytest.fixture(scope="module")
def bert() -> BertForSequenceClassification:
    """A random encoder that gives each label a different probability."""
    return random_bert(outputs=3)


def save(
    folder: Path,
    bert: BertForSequenceClassification,
    names: tuple[str, ...] = LABELS,
    order: tuple[int, ...] = (0, 1, 2),
) -> Path:
    """The model with its classifier's rows in another order, and their names to fit."""
    model = BertForSequenceClassification(BertConfig(**bert.config.to_dict()))
    model.load_state_dict(bert.state_dict())
    rows = list(order)
    with torch.no_grad():
        model.classifier.weight.copy_(bert.classifier.weight[rows])
        model.classifier.bias.copy_(bert.classifier.bias[rows])
    model.config.id2label = {column: names[row] for column, row in enumerate(rows)}
    model.config.label2id = {names[row]: column for column, row in enumerate(rows)}
    return save_with_tokenizer(model, folder)


def encoder(folder: Path, max_tokens: int = 64) -> NliEncoder:
    return NliEncoder("tiny", "0" * 64, folder, max_tokens=max_tokens)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_columns_follow_the_names(
    tmp_path: Path, bert: BertForSequenceClassification, order: tuple[int, ...]
) -> None:
    model = encoder(save(tmp_path / "m", bert, order=order), max_tokens=64)
    found = model.classify(PAIRS)
    assert found.shape == (3, 3)
    assert found.dtype == np.float64
    assert found.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    # The classifier as it was made has the columns in our order.
    tokenizer = BertTokenizer.from_pretrained(tmp_path / "m")
    for row, (premise, hypothesis) in zip(found, PAIRS, strict=True):
        with torch.inference_mode():
            logits = bert(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
        assert row == pytest.approx(torch.softmax(logits.double(), 0).numpy(), abs=1e-5)
    assert len(set(found[0].round(3))) == 3, "a wrong order would show"


def test_any_number_of_pairs(tmp_path: Path, bert: BertForSequenceClassification) -> None:
    model = encoder(save(tmp_path / "m", bert), max_tokens=64)
    assert model.classify([]).shape == (0, 3)
    many = (PAIRS * BATCH_PAIRS)[: 2 * BATCH_PAIRS + 1]
    found = model.classify(many)
    assert found.shape == (len(many), 3)
    for i in (0, 1, 2, BATCH_PAIRS, 2 * BATCH_PAIRS):
        assert found[i] == pytest.approx(model.classify([many[i]])[0], abs=1e-5)


def test_a_long_premise_is_read_in_windows(
    tmp_path: Path, bert: BertForSequenceClassification
) -> None:
    model = encoder(save(tmp_path / "m", bert), max_tokens=64)
    hypothesis = "staff get 30 days ."
    found, short = model.classify([(LONG, hypothesis), PAIRS[0]])
    # 64 tokens: [CLS] premise [SEP] hypothesis [SEP].
    ends = [m.span() for m in re.finditer(r"\S+", LONG)]
    pieces = windows(LONG, ends, 64 - 3 - len(hypothesis.split()))
    assert len(pieces) > 1
    each = model.classify([(piece, hypothesis) for piece in pieces])
    assert found == pytest.approx(each[each[:, 2].argmin()], abs=1e-6)
    assert short == pytest.approx(model.classify(PAIRS[:1])[0], abs=1e-6)


def test_a_hypothesis_too_long_for_the_model(
    tmp_path: Path, bert: BertForSequenceClassification
) -> None:
    model = encoder(save(tmp_path / "m", bert), max_tokens=64)
    with pytest.raises(ScoringError, match="tiny: a claim does not fit in 64 tokens"):
        model.classify([PAIRS[0], ("no leave .", LONG)])
    assert model.classify(PAIRS[:1]).shape == (1, 3)


@pytest.mark.parametrize(
    "names",
    [
        ("entailment", "not_entailment", "neutral"),
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("positive", "negative", "neutral"),
    ],
)
def test_unknown_labels(
    tmp_path: Path, bert: BertForSequenceClassification, names: tuple[str, ...]
) -> None:
    with pytest.raises(ModelError, match=f"expected the labels .*, got {', '.join(names)}"):
        encoder(save(tmp_path / "m", bert, names))


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        ({0: "ENTAILMENT", 1: "Neutral", 2: "contradiction"}, [0, 2, 1]),
        ({0: "REFUTES", 1: "NOT_ENOUGH_INFO", 2: "SUPPORTS"}, [2, 0, 1]),
        ({0: "entailment", 1: "contradiction"}, None),
        ({0: "entailment", 1: "contradiction", 2: "neutral", 3: "other"}, None),
        ({0: "entailment", 1: "contradiction", 2: "contradiction"}, None),
        ({0: "entailment", 1: "entails", 2: "neutral"}, None),
        ({}, None),
    ],
)
def test_label_names(names: dict[int, str], columns: list[int] | None) -> None:
    if columns is None:
        with pytest.raises(ModelError, match="here: expected the labels entailment, contrad"):
            label_columns(names, where="here")
    else:
        assert label_columns(names, where="here") == columns


def test_pickled_weights_are_refused(tmp_path: Path, bert: BertForSequenceClassification) -> None:
    folder = save(tmp_path / "m", bert)
    torch.save(bert.state_dict(), folder / "pytorch_model.bin")
    assert encoder(folder).id == "tiny", "with safetensors beside it, those are read"
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="not a sequence-classification model"):
        encoder(folder)


def test_damaged_weights(tmp_path: Path, bert: BertForSequenceClassification) -> None:
    folder = save(tmp_path / "m", bert)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:2000])
    with pytest.raises(ModelError, match="not a sequence-classification model"):
        encoder(folder)


@pytest.mark.parametrize("changed", [{"hidden_size": "x"}, {"id2label": 5}, {"model_type": []}])
def test_a_damaged_config(
    tmp_path: Path, bert: BertForSequenceClassification, changed: dict[str, object]
) -> None:
    folder = save(tmp_path / "m", bert)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changed))
    with pytest.raises(ModelError, match="not a sequence-classification model") as caught:
        encoder(folder)
    assert "\n" not in str(caught.value)


def test_a_tokenizer_that_gives_no_offsets(
    tmp_path: Path, bert: BertForSequenceClassification
) -> None:
    """Windows are cut by them. Tokenizers that transformers has in Python alone give none."""
    folder = save(tmp_path / "m", bert)
    (folder / "tokenizer.json").unlink()
    ByT5Tokenizer().save_pretrained(folder)
    with pytest.raises(ModelError, match="its tokenizer does not say where in a text"):
        encoder(folder)


def test_weights_without_a_classifier(tmp_path: Path, bert: BertForSequenceClassification) -> None:
    """A base encoder whose config names the labels would judge at random."""
    folder = save(tmp_path / "m", bert)
    bert.bert.save_pretrained(tmp_path / "base")
    (tmp_path / "base/model.safetensors").replace(folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"its weights lack classifier\.(bias|weight)"):
        encoder(folder)


def test_no_model_at_all(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a sequence-classification model"):
        encoder(tmp_path)


def test_an_added_encoder(home: Path, tmp_path: Path, bert: BertForSequenceClassification) -> None:
    assert home.is_dir()
    folder = save(tmp_path / "m", bert)
    card = add_model("tiny", folder, "encoder")
    model = load_model("tiny", "encoder")
    assert (model.id, model.sha256) == ("tiny", card.sha256)
    (folder / "config.json").write_text((folder / "config.json").read_text() + " ")
    with pytest.raises(ChecksumError, match=r"config\.json"):
        load_model("tiny", "encoder")
