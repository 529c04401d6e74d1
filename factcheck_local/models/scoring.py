"""Asking a model of several things at once, where it may fail on one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from factcheck_local.core.errors import ScoringError, TooLongError

T = TypeVar("T")
R = TypeVar("R")


def score_each(
    ask: Callable[[Sequence[T]], Iterable[R]], items: Sequence[T]
) -> list[R | ScoringError]:
    """What a model says of each item, or why it says nothing.

    One that is too long does not take the others with it: they are asked of one by one then.

    Args:
        ask: gives a result for each of some items, or fails on all of them.
        items: at least one.
    """
    try:
        return list(ask(items))
    except TooLongError as error:
        if len(items) == 1:
            return [error]
        return [result for item in items for result in score_each(ask, [item])]
    except ScoringError as error:
        return [error] * len(items)
