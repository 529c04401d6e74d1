"""The relation model: label scoring, calibration, and the stage around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from factcheck_local.errors import ModelError, ScoringError
from factcheck_local.models.fake import FakePairClassifier
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.relate import Premise, relate
from factcheck_local.relate.encoder import EncoderRelationModel
from factcheck_local.relate.llm import Calibration, LlmRelationModel
from factcheck_local.types import Relation

PREMISE = Premise("Leave policy", "Full-time employees receive 27 days. Days lapse on 31 March.")
CLAIMS = ["Employees get 27 days.", "Employees get 30 days of leave.", "The canteen is closed."]


def test_shared_scores_equal_those_from_scratch(smollm: LlamaCppModel) -> None:
    model = LlmRelationModel(smollm)
    together = np.exp(model.score(PREMISE, CLAIMS))
    for claim, row in zip(CLAIMS, together, strict=True):
        smollm.forget()
        alone = np.exp(model.score(PREMISE, [claim])[0])
        assert np.abs(alone - row).max() < 1e-3
    assert together.sum(axis=1) == pytest.approx(1)


def test_the_order_of_claims_does_not_matter(smollm: LlamaCppModel) -> None:
    model = LlmRelationModel(smollm)
    assert model.relate(PREMISE, CLAIMS) == model.relate(PREMISE, CLAIMS[::-1])[::-1]


def test_calibration_is_a_slope_and_a_bias_on_log_probabilities() -> None:
    log_p = np.log([[0.5, 0.25, 0.25]])
    # logits 2·log p + (0, log 2, 0) = log (1/4, 1/8, 1/16): odds 4 : 2 : 1
    found = Calibration(2.0, (0.0, float(np.log(2)), 0.0)).apply(log_p)
    assert found[0] == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert Calibration().apply(log_p) == pytest.approx(np.exp(log_p))


@pytest.mark.parametrize(
    "values", [{}, {"slope": 0, "bias": [0, 0, 0]}, {"slope": 1, "bias": [1]}, {"slope": "x"}]
)
def test_a_malformed_calibration_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="relate-v1"):
        Calibration.from_card({"relate-v1": values}, "relate-v1")


def test_calibration_of_another_prompt_is_not_used() -> None:
    card = {"relate-v0": {"slope": 3.0, "bias": [1.0, 0.0, 0.0]}}
    assert Calibration.from_card(card, "relate-v1") == Calibration()


def test_each_premise_is_read_once_and_pairs_keep_their_ids() -> None:
    classifier = FakePairClassifier(
        lambda p, h: (0.8, 0.1, 0.1) if h.split()[0] in p else (0.1, 0.2, 0.7)
    )
    pairs = [("c1", "a1"), ("c2", "a1"), ("c1", "a2")]
    found = relate(
        pairs,
        {"c1": Premise("", "red"), "c2": Premise("", "blue")},
        {"a1": "red it is", "a2": "blue it is"},
        EncoderRelationModel(classifier),
    )
    assert {(p.premise, p.hypothesis): p.relation.label.value for p in found.pairs} == {
        ("c1", "a1"): "entailment",
        ("c1", "a2"): "neutral",
        ("c2", "a1"): "neutral",
    }
    assert [p for p, _ in classifier.calls] == ["red", "red", "blue"]


def test_a_premise_that_cannot_be_scored_fails_only_its_own_pairs() -> None:
    class Picky:
        id, sha256 = "picky", "0" * 64

        def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
            if premise.text == "long":
                raise ScoringError("too long")
            return [Relation(1.0, 0.0, 0.0) for _ in hypotheses]

    found = relate(
        [("c1", "a1"), ("c2", "a1")],
        {"c1": Premise("", "long"), "c2": Premise("", "short")},
        {"a1": "x"},
        Picky(),
    )
    assert found.failures == {("c1", "a1"): "too long"}
    assert [p.premise for p in found.pairs] == ["c2"]
