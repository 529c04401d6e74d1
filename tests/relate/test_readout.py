"""The readout: a linear map of a real model's hidden state, checked before it is used."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from factcheck_local.errors import ChecksumError, ModelError
from factcheck_local.models.cards import find_card
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.relate import Premise
from factcheck_local.relate.llm import LlmPairScorer, card_key, readout_file
from factcheck_local.relate.load import scorer_key
from factcheck_local.relate.readout import Readout, ReadoutFile

PREMISE = Premise("Leave policy", "Full-time employees receive 27 days. Days lapse on 31 March.")
CLAIMS = ["Employees get 27 days.", "Employees get 30 days of leave."]


def identity(width: int) -> Readout:
    """Leaves the label tokens' probabilities as they are."""
    return Readout(
        np.zeros((3, width), dtype=np.float32),
        np.eye(3, dtype=np.float32),
        np.zeros(3, dtype=np.float32),
    )


def test_by_hand() -> None:
    readout = Readout(
        np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]], dtype=np.float32),
        np.zeros((3, 3), dtype=np.float32),
        np.array([0.0, 0.0, 1.0], dtype=np.float32),
    )
    log_p = np.log(np.full((1, 3), 1 / 3))
    found = np.exp(readout.apply(log_p, np.array([[math.log(2), math.log(3)]], dtype=np.float32)))
    # Odds 2 : 9 : e.
    total = 2 + 9 + math.e
    assert found[0] == pytest.approx([2 / total, 9 / total, math.e / total], rel=1e-6)


def test_the_identity_changes_nothing(smollm: LlamaCppModel) -> None:
    plain = LlmPairScorer(smollm)
    log_p, states = plain.states(PREMISE, CLAIMS)
    assert states.shape[0] == 2
    assert np.isfinite(states).all()
    read = LlmPairScorer(smollm, identity(states.shape[1]))
    assert read.score(PREMISE, CLAIMS) == pytest.approx(log_p, abs=1e-12)
    assert plain.score(PREMISE, CLAIMS) == pytest.approx(log_p, abs=0)


def test_states_do_not_depend_on_what_was_read_before(smollm: LlamaCppModel) -> None:
    scorer = LlmPairScorer(smollm)
    _, together = scorer.states(PREMISE, CLAIMS)
    smollm.forget()
    _, alone = scorer.states(PREMISE, CLAIMS[1:])
    assert together[1] == pytest.approx(alone[0], abs=1e-5)
    assert not np.allclose(together[0], together[1], atol=1e-2)


def test_a_readout_of_another_model_is_refused(smollm: LlamaCppModel) -> None:
    with pytest.raises(ModelError, match="states of 7 values, got 576"):
        LlmPairScorer(smollm, identity(7)).score(PREMISE, CLAIMS)


def test_it_comes_back_from_its_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    made = Readout(*(rng.normal(size=s).astype(np.float32) for s in ((3, 50), (3, 3), (3,))))
    sha256 = made.save(tmp_path / "r.npz")
    found = Readout.load(tmp_path / "r.npz", sha256)
    assert found.states == pytest.approx(made.states, abs=2e-3)
    assert np.array_equal(found.labels, made.labels)
    assert np.array_equal(found.bias, made.bias)


def test_a_changed_file_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "r.npz"
    sha256 = identity(4).save(path)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ChecksumError, match=r"r\.npz: its sha256"):
        Readout.load(path, sha256)
    with pytest.raises(ModelError, match=r"gone\.npz: cannot be read"):
        Readout.load(tmp_path / "gone.npz", sha256)


def test_arrays_of_other_shapes_are_no_readout(tmp_path: Path) -> None:
    path = tmp_path / "r.npz"
    np.savez(path, states=np.zeros((2, 4)), labels=np.eye(3), bias=np.zeros(3))
    with pytest.raises(ModelError, match="not a readout: its arrays have the shapes"):
        Readout.load(path, hashlib.sha256(path.read_bytes()).hexdigest())
    path.write_text("no arrays")
    with pytest.raises(ModelError, match="not a readout"):
        Readout.load(path, hashlib.sha256(path.read_bytes()).hexdigest())


def test_a_card_names_its_readout() -> None:
    card = find_card("smollm2-135m")
    assert readout_file(card) is None
    assert scorer_key(card) == ("smollm2-135m/relate-v1", card.sha256)
    own = replace(card, readouts={"relate-v1": {"file": "x.npz", "sha256": "ab" * 32}})
    assert card_key(own) == "relate-v1+readout-abababab"
    assert scorer_key(own)[0] == "smollm2-135m/relate-v1+readout-abababab"
    with pytest.raises(ModelError, match="readout of relate-v1: expected a file"):
        ReadoutFile.of_card({"relate-v1": {"file": "x.npz"}}, "relate-v1")
