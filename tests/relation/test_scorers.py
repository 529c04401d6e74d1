"""Pair scorers: label scoring on a real LLM, and an encoder's probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from factcheck_local.models.fake import FakePairClassifier
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.pipeline.relation import CalibratedRelationModel, Premise
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.llm import LlmPairScorer

PREMISE = Premise("Leave policy", "Full-time employees receive 27 days. Days lapse on 31 March.")
CLAIMS = ["Employees get 27 days.", "Employees get 30 days of leave.", "The canteen is closed."]


def test_shared_scores_equal_those_from_scratch(smollm: LlamaCppModel) -> None:
    scorer = LlmPairScorer(smollm)
    together = np.exp(scorer.score(PREMISE, CLAIMS))
    for claim, row in zip(CLAIMS, together, strict=True):
        smollm.forget()
        alone = np.exp(scorer.score(PREMISE, [claim])[0])
        assert np.abs(alone - row).max() < 1e-3
    assert together.sum(axis=1) == pytest.approx(1)


def test_the_order_of_claims_does_not_matter(smollm: LlamaCppModel) -> None:
    model = CalibratedRelationModel(LlmPairScorer(smollm))
    assert model.relate(PREMISE, CLAIMS) == model.relate(PREMISE, CLAIMS[::-1])[::-1]


def test_an_encoder_reads_the_title_before_the_text() -> None:
    classifier = FakePairClassifier(lambda _p, _h: (0.5, 0.25, 0.25))
    scorer = EncoderPairScorer(classifier)
    found = scorer.score(PREMISE, CLAIMS[:1])
    assert np.exp(found) == pytest.approx(np.array([[0.5, 0.25, 0.25]]))
    scorer.score(Premise("", "No title."), CLAIMS[:1])
    assert [p for p, _ in classifier.calls] == [f"Leave policy. {PREMISE.text}", "No title."]


def test_a_label_that_an_encoder_rules_out_stays_finite() -> None:
    # Rows that miss 1, as a softmax in float32 does, and a probability of 0.
    scorer = EncoderPairScorer(FakePairClassifier(lambda _p, _h: (1.00001, 0.0, 0.0)))
    found = scorer.score(PREMISE, CLAIMS)
    assert found.shape == (3, 3)
    assert np.isfinite(found).all()
    assert np.exp(found).sum(axis=1) == pytest.approx(1, abs=1e-12)
    for relation in CalibratedRelationModel(scorer).relate(PREMISE, CLAIMS):
        assert (relation.entailment, relation.contradiction) == pytest.approx((1.0, 0.0))
