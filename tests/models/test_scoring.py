"""Asking a model of several things at once, where it may fail on one of them."""

from collections.abc import Sequence

from factcheck_local.core.errors import ScoringError, TooLongError
from factcheck_local.models.scoring import score_each


def test_one_that_is_too_long_does_not_take_the_others_with_it() -> None:
    asked: list[list[str]] = []

    def ask(texts: Sequence[str]) -> list[int]:
        asked.append(list(texts))
        if long := [text for text in texts if len(text) > 3]:
            raise TooLongError(f"{long[0]}: too long")
        return [len(text) for text in texts]

    one, error, three = score_each(ask, ["a", "abcd", "abc"])
    assert (one, three) == (1, 3)
    assert isinstance(error, TooLongError)
    assert str(error) == "abcd: too long"
    assert asked == [["a", "abcd", "abc"], ["a"], ["abcd"], ["abc"]]


def test_another_failure_is_of_all_and_is_not_tried_again() -> None:
    asked = []

    def ask(texts: Sequence[str]) -> list[int]:
        asked.append(texts)
        raise ScoringError("the server is away")

    assert [str(error) for error in score_each(ask, ["a", "b"])] == ["the server is away"] * 2
    assert len(asked) == 1


def test_what_goes_well_is_asked_of_at_once() -> None:
    asked = []

    def ask(texts: Sequence[str]) -> list[int]:
        asked.append(texts)
        return [len(text) for text in texts]

    assert score_each(ask, ["a", "bc"]) == [1, 2]
    assert len(asked) == 1
