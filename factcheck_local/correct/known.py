"""What two texts have in common where one may give a number or a date in another notation."""

from __future__ import annotations

import re

from factcheck_local.core.text.wording import MONTHS, content_words, numbers, written_otherwise

_WORD = re.compile(r"[^\W\d_]+")

#: "Longer" says nothing there but that something has ended.
_NO_LONGER = re.compile(r"\bno longer\b", re.IGNORECASE)

_ISO_DATE = re.compile(r"\b\d{4}-(0[1-9]|1[0-2])-([0-3]\d)\b")
_CLOCK = re.compile(r"(?<![\d.,:])([0-2]?\d):([0-5]\d)(?![\d:])")


def as_words(text: str) -> str:
    """What of a text is compared word by word: number words are compared as numbers.

    "One" stays, which ``numbers`` leaves out.
    """
    denied = _NO_LONGER.sub("no", text)
    return _WORD.sub(lambda word: "" if numbers(word[0]) else word[0], denied)


def words_and_values(text: str) -> frozenset[str]:
    """What a text is about: its content words and its numbers, "six" only as 6."""
    return content_words(as_words(text)) | numbers(text)


def otherwise(text: str) -> str:
    """Numbers, dates and times of day of a text as they may be written elsewhere.

    "$5m" is 5000000, "2025-06-30" is 30 June, and "08:30" is 8:30.
    """
    dates = (f"{int(day)} {MONTHS[int(month) - 1]}" for month, day in _ISO_DATE.findall(text))
    times = (
        f"{hour}:{minute}"
        for given, minute in _CLOCK.findall(text)
        for hour in (str(int(given)), f"{int(given):02}")
    )
    return "\n".join((*written_otherwise(text), *dates, *times))
