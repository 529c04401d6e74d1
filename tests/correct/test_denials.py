"""A sentence that a passage hardly contradicts is not turned round."""

from __future__ import annotations

import pytest

from factcheck_local.correct.edits import Refused
from factcheck_local.correct.replace import Wrong, drafts

from .helpers import Writer


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
