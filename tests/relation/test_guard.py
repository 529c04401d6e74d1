"""The guard: numbers that exclude each other weigh against entailment."""

from __future__ import annotations

import pytest

from factcheck_local.core.types import Relation
from factcheck_local.pipeline.relation import Premise
from factcheck_local.pipeline.relation.guard import LIKELIHOODS, GuardedRelationModel, weighed

from .helpers import Scripted

PASSAGE = "The notice period for engineers is six weeks to the end of a month."
RIGHT = "The notice period for engineers is 6 weeks."
WRONG = "The notice period for engineers is 12 weeks."
OTHER = "The canteen opens at noon."
MODEL_SAYS = Relation(0.7, 0.2, 0.1)


def guarded() -> GuardedRelationModel:
    return GuardedRelationModel(Scripted({(PASSAGE, c): MODEL_SAYS for c in (RIGHT, WRONG, OTHER)}))


def test_a_mismatch_turns_a_likely_entailment_into_a_contradiction() -> None:
    right, wrong, other = guarded().relate(Premise("", PASSAGE), [RIGHT, WRONG, OTHER])
    assert right == other == MODEL_SAYS
    assert wrong.label == "contradiction"


def test_bayes_rule_by_hand() -> None:
    found = weighed(MODEL_SAYS)
    e, c, n = 0.7 * 0.0068, 0.2 * 0.0386, 0.1 * 0.0084
    assert found.entailment == pytest.approx(e / (e + c + n))
    assert found.contradiction == pytest.approx(c / (e + c + n))
    assert found.neutral == pytest.approx(n / (e + c + n))


def test_a_mismatch_is_likeliest_under_contradiction() -> None:
    entailment, contradiction, neutral = LIKELIHOODS
    assert entailment < neutral < contradiction


def test_quantities_of_the_heading_count() -> None:
    premise = Premise("Notice period for engineers: six weeks", "It ends with a month.")
    model = GuardedRelationModel(Scripted({(premise.text, WRONG): MODEL_SAYS}))
    assert model.relate(premise, [WRONG])[0].label == "contradiction"


def test_a_certain_model_stays_certain() -> None:
    certain = Relation(1.0, 0.0, 0.0)
    assert weighed(certain) == certain
