"""A sentence that a passage hardly contradicts is not turned round, nor freed of its condition."""

from __future__ import annotations

import pytest

from factcheck_local.correct.edits import Refused
from factcheck_local.correct.replace import Wrong, drafts

from .helpers import Writer, refusal, rewrite


@pytest.mark.parametrize(
    ("probability", "new", "refused"),
    [
        (0.65, "The card cannot be used to draw cash.", True),
        (0.7, "The card cannot be used to draw cash.", False),
        (0.65, "The card cannot be used to draw more than 200 euros.", False),
        (0.65, "The card can be used to draw 200 euros.", False),
    ],
)
def test_a_weak_contradiction_is_enough_for_a_value_and_not_for_a_mere_denial(
    probability: float, new: str, refused: bool
) -> None:
    old, source = "The card can be used to draw cash.", "No more than 200 euros are drawn."
    wrong = Wrong(old, source, probability=probability)
    draft = next(drafts(old, [wrong], Writer(new)))
    reason = draft.reason if isinstance(draft, Refused) else None
    assert reason == ("too weak a contradiction to deny the sentence by: 0.65" if refused else None)


OWN_CAR = "Should you take your own car, the company pays 0.42 euros per kilometre."


@pytest.mark.parametrize(
    ("old", "new", "condition"),
    [
        (OWN_CAR, "The company pays 0.40 euros per kilometre.", "Should you take your own car"),
        (OWN_CAR, "For your own car, the company pays 0.40 euros per kilometre.", None),
        (OWN_CAR, "The company does not pay 0.42 euros per kilometre.", None),
        (OWN_CAR, "If you ride, the company pays 0.40 euros per kilometre.", None),
        (
            "Once a quarter, the company pays 0.42 euros per kilometre.",
            "The company pays 0.40 euros per kilometre.",
            None,
        ),
        (
            "The company pays 0.42 euros per kilometre, for your own car.",
            "The company pays 0.40 euros per kilometre.",
            None,
        ),
    ],
)
def test_a_value_is_not_freed_of_the_condition_in_front_of_it(
    old: str, new: str, condition: str | None
) -> None:
    wrong = [Wrong(old, "The company pays 0.40 euros per kilometre if employees ride.")]
    if condition is None:
        assert rewrite(old, wrong, Writer(new)) == new
    else:
        assert refusal(old, wrong, Writer(new)) == f"the rewriting drops a condition: {condition}"
