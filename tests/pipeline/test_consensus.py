"""Of several ways to take a part apart the one that says what the others say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.pipeline.claims.atomize.consensus import (
    likeness,
    most_like_the_others,
)

STAFF = ["Staff who click on a link get a new password."]
PATIENT = ["The patient gets a new password."]


@pytest.mark.parametrize(
    ("ways", "best"),
    [
        ([STAFF], 0),
        ([PATIENT, STAFF, ["Staff who click on a link get a password that is new."]], 1),
        ([PATIENT, STAFF], 0),  # of two neither is more like the other
        ([[], STAFF, STAFF], 1),
        ([[], [], STAFF], 0),
        ([["A is 3."], ["A is 2."], ["A is 2."]], 1),
        ([["Cash is taken."], ["Cash is not taken."], ["Cash is not taken."]], 1),
        ([["A is 1.", "B is 2.", "C is 3."], ["A is 1.", "B is 2."], ["A is 1.", "B is 2."]], 1),
        ([["A is 1."], ["B is 2.", "A is 1."], ["A is 1.", "B is 2."]], 1),
        # One that joins two claims is not as good as each of them.
        ([["A is 1 and B is 2."], ["A is 1.", "B is 2."], ["A is 1.", "B is 2."]], 1),
        ([["A is 1.", "A is 1."], ["A is 1.", "B is 2."], ["A is 1.", "B is 2."]], 1),
        ([["?!"], ["?!"]], 0),
    ],
)
def test_the_way_that_is_most_like_the_others(ways: Sequence[Sequence[str]], best: int) -> None:
    assert most_like_the_others(ways) == best


@given(st.lists(st.lists(st.sampled_from([*STAFF, *PATIENT, "A is 1.", "", "B"])), min_size=1))
def test_it_is_one_of_them_whatever_they_say(ways: list[list[str]]) -> None:
    best = most_like_the_others(ways)
    assert 0 <= best < len(ways)
    assert best == ways.index(ways[best])  # the first of equals


def test_how_much_two_ways_say_the_same() -> None:
    assert likeness(STAFF, STAFF) == 1.0
    assert likeness(STAFF, []) == 0.0
    assert likeness([], []) == 1.0
    assert 0.0 < likeness(STAFF, PATIENT) < likeness(STAFF, ["Staff get a new password."]) < 1.0
    assert likeness([*STAFF, *PATIENT], STAFF) == pytest.approx(2 / 3), "one claim too many"
