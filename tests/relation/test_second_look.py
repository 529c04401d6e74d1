"""The second look at the lines nearest to a claim."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from factcheck_local.core.types import Relation
from factcheck_local.pipeline.relation.cascade import pooled
from factcheck_local.pipeline.relation.scorer import Premise
from factcheck_local.pipeline.relation.second_look import SecondLookRelationModel, nearest_lines

PASSAGE = """# Expenses

Trips are booked through the travel desk. Flights are booked early.

## Per diem

Meals are covered by an allowance.
- Destination: Domestic; Full day: 48 euros; Half day: 24 euros
- Destination: Other country; Full day: 62 euros; Half day: 31 euros

Private car

The company pays 0.40 euros per kilometre."""
CLAIM = "The allowance for a full day at a domestic destination is 38 euros."
NEAR = """## Per diem
Meals are covered by an allowance.
- Destination: Domestic; Full day: 48 euros; Half day: 24 euros
- Destination: Other country; Full day: 62 euros; Half day: 31 euros"""

DOUBTFUL = Relation(0.2, 0.3, 0.5)
SURE = Relation(0.02, 0.95, 0.03)


class Reader:
    """Is in doubt about a whole passage unless told otherwise, and sure of a few lines."""

    id = "reader"
    sha256 = "0" * 64

    def __init__(self, whole: Relation = DOUBTFUL) -> None:
        self.whole = whole
        self.read: list[tuple[Premise, list[str]]] = []

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        self.read.append((premise, list(hypotheses)))
        return [self.whole if premise.text == PASSAGE else SURE for _ in hypotheses]


def test_a_doubtful_pair_is_read_again_with_the_nearest_lines() -> None:
    reader = Reader()
    (found,) = SecondLookRelationModel(reader).relate(Premise("Travel", PASSAGE), [CLAIM])
    assert reader.read == [
        (Premise("Travel", PASSAGE), [CLAIM]),
        (Premise("Travel", NEAR), [CLAIM]),
    ]
    assert found == pooled(DOUBTFUL, SURE, 0.5)
    assert found.label == "contradiction"


def test_claims_with_the_same_lines_are_read_together() -> None:
    reader = Reader()
    other = CLAIM.replace("38", "40")
    SecondLookRelationModel(reader).relate(Premise("", PASSAGE), [CLAIM, other])
    assert reader.read[1:] == [(Premise("", NEAR), [CLAIM, other])]


def test_what_is_sure_is_read_once() -> None:
    reader = Reader(SURE)
    assert SecondLookRelationModel(reader).relate(Premise("", PASSAGE), [CLAIM]) == [SURE]
    assert len(reader.read) == 1


@pytest.mark.parametrize(
    ("text", "hypothesis"),
    [("Meals are covered.\nFlights are not.", CLAIM), (PASSAGE, f"{CLAIM} A half day is 24.")],
)
def test_short_passages_and_long_claims_are_read_once(text: str, hypothesis: str) -> None:
    reader = Reader()
    SecondLookRelationModel(reader).relate(Premise("", text), [hypothesis])
    assert len(reader.read) == 1


def test_a_short_line_is_a_heading() -> None:
    near = nearest_lines(PASSAGE, "The company pays 0.42 euros per kilometre by private car.")
    assert near.endswith("Private car\nThe company pays 0.40 euros per kilometre.")


def test_the_model_says_that_it_looks_twice() -> None:
    model = SecondLookRelationModel(Reader())
    assert (model.id, model.sha256, model.at_once) == ("reader+second_look", "0" * 64, 1)
