"""Read the verdict that closes a reasoned reply; tolerant of its form, never of its absence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

Label = TypeVar("Label")

_NONE = re.compile(r"\b(?:none|no (?:errors?|mistakes?)|all (?:are )?correct|nothing)\b", re.I)
_NUMBER = re.compile(r"\d+")
_DECORATION = "*_`\"'“”()[]{}<>.:;!-– \t"


def last_label(reply: str, cue: str, labels: Mapping[str, Label]) -> Label | None:
    """What the last line that opens with a cue says, as ``Verdict: **supported**.``.

    Args:
        reply: what a model wrote.
        cue: the word in front of the label, upper or lower case.
        labels: the words, lower case -> what they mean.

    Returns:
        None if no such line names exactly one of the labels first.
    """
    said = _after(reply, cue)
    if said is None:
        return None
    words = said.casefold().strip(_DECORATION)
    # The longest first, so that "not supported" is not read as another label.
    for word in sorted(labels, key=len, reverse=True):
        if re.match(rf"{re.escape(word)}\b", words):
            return labels[word]
    return None


def listed_numbers(reply: str, cue: str, count: int) -> frozenset[int] | None:
    """The numbers of the last line that opens with a cue, as ``Wrong: 2, 5``.

    Args:
        reply: what a model wrote.
        cue: the word in front; where it is "", the reply's first line with a word counts.
        count: the numbers run from 1 to this.

    Returns:
        None if it names neither a number in the range nor that there is none, or any
        number out of it.
    """
    if cue:
        said = _after(reply, cue)
    else:
        said = next((line for line in reply.splitlines() if re.search(r"\w", line)), None)
    if said is None:
        return None
    numbers = [int(n) for n in _NUMBER.findall(said)]
    if not numbers:
        return frozenset() if _NONE.search(said) else None
    return frozenset(numbers) if all(1 <= n <= count for n in numbers) else None


def _after(reply: str, cue: str) -> str | None:
    """What follows a cue on the last line that opens with it."""
    opening = re.compile(rf"^[\W_]*(?:final\s+)?{re.escape(cue)}\s*[*_`]*\s*[:=–-]\s*(.*\S)", re.I)
    found = [m.group(1) for m in map(opening.match, reply.splitlines()) if m]
    return found[-1] if found else None
