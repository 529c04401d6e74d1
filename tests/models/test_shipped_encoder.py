"""The encoder that comes with the package, as a user gets it."""

from __future__ import annotations

import pytest

from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import PairClassifier
from factcheck_local.models.registry import DEFAULT_ENCODER, load_model
from factcheck_local.pipeline.relation import Premise, load_relation_model
from factcheck_local.pipeline.relation.cascade import Sure, slow_weight

PASSAGE = (
    "Leave > Annual leave. Full-time staff get 25 days of annual leave a year. "
    "Up to five days may be carried over, and lapse at the end of March. "
    "Requests go to the line manager two weeks ahead."
)


@pytest.fixture(scope="module")
def encoder() -> PairClassifier:
    found: PairClassifier = load_model(DEFAULT_ENCODER, "encoder")
    return found


def test_it_is_small_enough_and_its_files_are_the_ones_of_the_card() -> None:
    card = find_card(DEFAULT_ENCODER, "encoder")
    assert card.is_installed()
    card.check()
    assert sum(file.size for file in card.files) <= 90e6
    assert card.licence == "Apache-2.0"
    # Both raise if the card is malformed.
    Sure.from_card(card.options)
    slow_weight(card.options)


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Full-time staff get 25 days of annual leave a year.", 0),
        ("Up to five days may be carried over.", 0),
        ("Full-time staff get 30 days of annual leave a year.", 1),
        ("Up to five days may not be carried over.", 1),
        ("The canteen serves lunch from noon.", 2),
    ],
)
def test_plain_cases(encoder: PairClassifier, claim: str, label: int) -> None:
    row = encoder.classify([(PASSAGE, claim)])[0]
    assert row.sum() == pytest.approx(1.0)
    assert int(row.argmax()) == label


def test_what_stands_at_the_end_of_a_long_premise_is_read(encoder: PairClassifier) -> None:
    other = "The canteen serves lunch from noon, and coffee all day. " * 40
    claim = "Full-time staff get 25 days of annual leave a year."
    first, last = encoder.classify([(f"{PASSAGE} {other}", claim), (f"{other} {PASSAGE}", claim)])
    assert first.argmax() == last.argmax() == 0
    assert encoder.classify([(other, claim)])[0].argmax() == 2


def test_a_pair_scores_the_same_in_any_company(encoder: PairClassifier) -> None:
    pairs = [
        (PASSAGE, "Leave is 25 days."),
        ("Short.", "Requests go to the manager."),
        (PASSAGE, "x"),
    ]
    together = encoder.classify(pairs)
    for pair, row in zip(pairs, together, strict=True):
        assert (encoder.classify([pair])[0] == row).all()


def test_relation_encoder_names_it() -> None:
    model = load_relation_model("encoder", default_llm="none")
    (found,) = model.relate(Premise("", PASSAGE), ["Requests go to the line manager."])
    assert model.id.startswith(DEFAULT_ENCODER)
    assert found.entailment + found.contradiction + found.neutral == pytest.approx(1.0)
