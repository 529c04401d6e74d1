"""What is read from a reasoned reply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.pipeline.verdicts.judges.replies import last_label, listed_numbers

LABELS = {"supported": 1, "contradicted": 0, "undecided": 2}


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("Verdict: supported", 1),
        ("verdict - Contradicted, since …", 0),
        ("**Final verdict**: *undecided*", 2),
        ("- Verdict: “supported”.", 1),
        ("Verdict: supported\nVerdict: contradicted", 0),
        ("The verdict is supported", None),
        ("Verdict: not supported", None),
        ("Verdict: unsupported", None),
        ("Verdict:", None),
        ("supported", None),
        ("", None),
    ],
)
def test_a_label(reply: str, found: int | None) -> None:
    assert last_label(reply, "verdict", LABELS) == found


@pytest.mark.parametrize(
    ("reply", "cue", "found"),
    [
        ("2, 5", "", {2, 5}),
        ("\n Segments 1 and 3.\nBecause of 2", "", {1, 3}),
        ("none", "", set()),
        ("All correct", "", set()),
        ("Wrong: 4", "", {4}),
        ("6", "", None),
        ("0", "", None),
        ("I cannot tell", "", None),
        ("1 is right\nWrong: 2", "wrong", {2}),
        ("1 is right\n**Wrong:** none.", "wrong", set()),
        ("2 is wrong", "wrong", None),
        ("", "wrong", None),
    ],
)
def test_numbers(reply: str, cue: str, found: set[int] | None) -> None:
    assert listed_numbers(reply, cue, 5) == found


@given(st.text(), st.sampled_from(["", "wrong"]))
def test_any_text_is_read_or_refused(reply: str, cue: str) -> None:
    assert last_label(reply, "verdict", LABELS) in (None, 0, 1, 2)
    found = listed_numbers(reply, cue, 3)
    assert found is None or found <= {1, 2, 3}
