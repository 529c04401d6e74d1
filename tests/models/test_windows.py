"""Windows of a premise that is longer than an encoder reads."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.models.windows import least_neutral, windows


def words(text: str) -> list[tuple[int, int]]:
    return [m.span() for m in re.finditer(r"\S+", text)]


@given(st.lists(st.sampled_from(["a", "bee", "c.", "d!", "\n", " "])), st.integers(1, 9))
def test_every_word_is_in_one_window_and_none_is_too_long(parts: list[str], room: int) -> None:
    text = " ".join(parts)
    found = windows(text, words(text), room)
    assert [w for piece in found for w in piece.split()] == text.split()
    assert all(len(piece.split()) <= room for piece in found)
    if len(text.split()) <= room:
        assert found == [text]


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("one two. three four five", 3, ["one two. ", "three four five"]),
        ("one\ntwo three four five", 3, ["one\ntwo three", "four five"]),
        ("a b\nc d\ne f", 5, ["a b\nc d\n", "e f"]),
    ],
)
def test_a_window_ends_with_a_line_or_a_sentence(text: str, room: int, expected: list[str]) -> None:
    assert windows(text, words(text), room) == expected


def test_the_window_that_says_most_counts() -> None:
    rows = np.array([[0.1, 0.1, 0.8], [0.2, 0.5, 0.3], [0.4, 0.0, 0.6]])
    assert least_neutral(rows).tolist() == [0.2, 0.5, 0.3]
