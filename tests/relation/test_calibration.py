"""Calibration: what it computes, what it is fitted to, where it is kept."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.core.errors import InputError, ModelError, StoreError
from factcheck_local.pipeline.relation.calibration import Calibration, fit
from factcheck_local.pipeline.relation.calibration_file import (
    StoredCalibration,
    find_calibration,
    read_calibrations,
    remove_calibration,
    store_calibration,
)
from factcheck_local.pipeline.relation.scorer import LogProbabilities
from factcheck_local.pipeline.relation.validation import cross_validated, quality


def drawn(n: int, truth: Calibration, seed: int = 0) -> tuple[LogProbabilities, list[int]]:
    """Rows of log probabilities, and labels drawn from what ``truth`` makes of them."""
    generator = np.random.default_rng(seed)
    log_p = np.log(generator.dirichlet([0.7, 0.7, 0.7], size=n))
    labels = [int(generator.choice(3, p=p)) for p in truth.apply(log_p)]
    return log_p, labels


def test_a_slope_and_a_bias_on_log_probabilities() -> None:
    log_p = np.log([[0.5, 0.25, 0.25]])
    # logits 2·log p + (0, log 2, 0) = log (1/4, 1/8, 1/16): odds 4 : 2 : 1
    found = Calibration(2.0, (0.0, float(np.log(2)), 0.0)).apply(log_p)
    assert found[0] == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert Calibration().apply(log_p) == pytest.approx(np.exp(log_p))


@pytest.mark.parametrize("key", ["relate-v1", "encoder"])
@pytest.mark.parametrize(
    "values",
    [
        {},
        7,
        {"slope": 0, "bias": [0, 0, 0]},
        {"slope": 1, "bias": [1]},
        {"slope": 1, "bias": 1},
        {"slope": "x", "bias": [0, 0, 0]},
        {"slope": float("inf"), "bias": [0, 0, 0]},
        {"slope": 1, "bias": [0, 0, float("nan")]},
    ],
)
def test_a_malformed_calibration_is_refused(values: object, key: str) -> None:
    with pytest.raises(ModelError, match=f"calibration of {key}: "):
        Calibration.from_card({key: values}, key)


def test_calibration_of_another_prompt_is_not_used() -> None:
    card = {"relate-v0": {"slope": 3.0, "bias": [1.0, 0.0, 0.0]}}
    assert Calibration.from_card(card, "relate-v1") == Calibration()
    assert Calibration.from_card(card, "relate-v0") == Calibration(3.0, (1.0, 0.0, 0.0))


# ------------------------------------------------------------------------ fit


def test_a_fit_finds_what_the_labels_were_drawn_from() -> None:
    truth = Calibration(1.7, (-0.8, 0.5, 0.0))
    found = fit(*drawn(20_000, truth))
    # The standard error of each is about 0.03 at this n.
    assert found.slope == pytest.approx(truth.slope, abs=0.1)
    assert found.bias == pytest.approx(truth.bias, abs=0.1)


@settings(deadline=None, max_examples=25)
@given(
    slope=st.floats(0.3, 3.0),
    entailment=st.floats(-2, 2),
    contradiction=st.floats(-2, 2),
    seed=st.integers(0, 1000),
)
def test_at_the_optimum_the_mean_probabilities_are_the_labels_shares(
    slope: float, entailment: float, contradiction: float, seed: int
) -> None:
    """The likelihood's derivative by a bias is the share of its label minus its mean p."""
    log_p, labels = drawn(300, Calibration(slope, (entailment, contradiction, 0.0)), seed)
    shares = np.bincount(labels, minlength=3) / len(labels)
    if (shares == 0).any():
        return
    mean = fit(log_p, labels, l2=0.0).apply(log_p).mean(axis=0)
    assert mean == pytest.approx(shares, abs=1e-3)


def test_a_label_that_never_occurs_is_left_as_it_was() -> None:
    log_p, labels = drawn(600, Calibration(1.0, (0.0, 0.0, 0.0)))
    rows = np.flatnonzero(np.asarray(labels) != 2)
    found = fit(log_p[rows], [labels[i] for i in rows])
    # Without neutral pairs nothing is learnt of neutral: no bias drifts off to rule it out.
    assert np.abs(found.bias).max() < 0.5
    both = fit(log_p[rows], [0 if labels[i] == 1 else 2 for i in rows])
    assert both.bias[1] == 0.0


def test_perfectly_separated_labels_get_a_finite_slope() -> None:
    log_p = np.log(np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 10))
    found = fit(log_p, [0, 1, 2] * 10)
    assert 1 < found.slope < 50
    assert found.bias == pytest.approx((0, 0, 0), abs=1e-3)


@pytest.mark.parametrize(
    ("labels", "message"),
    [([], "got none"), ([1] * 40, "got contradiction only"), ([2], "got neutral only")],
)
def test_labels_that_decide_nothing_are_refused(labels: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit(np.log(np.full((len(labels), 3), 1 / 3)), labels)


def test_a_fit_says_what_shape_it_expects() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 3\), got \(3, 3\)"):
        fit(np.zeros((3, 3)), [0, 1])
    with pytest.raises(ValueError, match="finite"):
        fit(np.array([[0.0, -np.inf, -np.inf]] * 2), [0, 1])
    with pytest.raises(ValueError, match="labels 0, 1 or 2"):
        fit(np.zeros((2, 3)), [0, 3])


# ----------------------------------------------------------------- validation


def test_quality_by_hand() -> None:
    p = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    found = quality(p, [0, 0, 2])
    # Bin [0.8, 0.9): two at 0.8, one right: |1 - 1.6| = 0.6. Bin [0.4, 0.5): |1 - 0.4| = 0.6.
    assert found.ece == pytest.approx(1.2 / 3)
    assert found.log_loss == pytest.approx(-np.log([0.8, 0.1, 0.4]).mean())


def test_cross_validation_sees_a_gain_only_where_there_is_one() -> None:
    honest, labels = drawn(150, Calibration())
    plain = quality(np.exp(honest), labels)
    assert cross_validated(honest, labels).log_loss > plain.log_loss - 0.02
    biased, labels = drawn(150, Calibration(0.4, (-1.5, 1.0, 0.0)))
    before, after = quality(np.exp(biased), labels), cross_validated(biased, labels)
    assert after.log_loss < before.log_loss - 0.1
    assert after.ece < before.ece
    assert cross_validated(biased, labels) == after


def test_cross_validation_needs_every_fold_to_have_two_labels() -> None:
    log_p, _ = drawn(34, Calibration())
    with pytest.raises(InputError, match="got entailment 30, contradiction 4, neutral 0"):
        cross_validated(log_p, [0] * 30 + [1] * 4)
    assert cross_validated(log_p, [0] * 28 + [1] * 5 + [2]).log_loss > 0


# ---------------------------------------------------------------------- store


def entry(scorer: str = "m/relate-v1", sha256: str = "a" * 64, n: int = 60) -> StoredCalibration:
    own = Calibration(1.25, (-0.5, 0.125, 0.0))
    return StoredCalibration(scorer, sha256, own, n, 0.25, 0.05, "2026-11-22")


def test_a_store_keeps_one_calibration_a_scorer(tmp_path: Path) -> None:
    assert read_calibrations(tmp_path) == ()
    store_calibration(tmp_path, entry())
    store_calibration(tmp_path, entry("m/relate-v2"))
    store_calibration(tmp_path, entry(n=90))
    assert read_calibrations(tmp_path) == (entry(n=90), entry("m/relate-v2"))
    assert find_calibration(tmp_path, "m/relate-v1", "a" * 64) == entry(n=90)
    assert find_calibration(tmp_path, "m/relate-v1", "b" * 64) is None
    assert remove_calibration(tmp_path, "m/relate-v1", "b" * 64) is False
    assert remove_calibration(tmp_path, "m/relate-v1", "a" * 64) is True
    assert read_calibrations(tmp_path) == (entry("m/relate-v2"),)
    assert remove_calibration(tmp_path, "m/relate-v2", "a" * 64) is True
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"schema": "factcheck.calibration/2"}',
        '{"schema": "factcheck.calibration/1"}',
        '{"schema": "factcheck.calibration/1", "calibrations": [7]}',
        '{"schema": "factcheck.calibration/1", "calibrations": [{"scorer": "m"}]}',
        '{"schema": "factcheck.calibration/1", "calibrations": 7}',
        json.dumps(
            {
                "schema": "factcheck.calibration/1",
                "calibrations": [asdict(entry()) | {"n": float("inf")}],
            }
        ),
    ],
)
def test_a_malformed_file_is_named_and_never_written_over(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(text)
    with pytest.raises(StoreError) as error:
        read_calibrations(tmp_path)
    assert str(error.value).startswith(f"{path}: not a file of calibrations: ")
    assert error.value.hint == "delete it, then: factcheck calibrate LABELS.jsonl"
    with pytest.raises(StoreError):
        store_calibration(tmp_path, entry())
    assert path.read_text() == text
