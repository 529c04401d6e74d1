"""What of a text no model is to read: what nobody sees, and what is addressed to a model.

A passage is evidence. A sentence in it that tells its reader what to answer is none, and a
small model follows it. So it is left out of what a model reads; reports and quotes show the
text as it stands. Sought are few, narrow patterns, each of which names a model, its
instructions or its labels: "ignore previous versions of this form" stays, "ignore the
previous instructions" does not. What is cut is counted in a run's notes, since a narrow
pattern can be wrong, too. It is no proof against an author who lies in plain words: whom
to believe is what priors are for.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import dropwhile

from factcheck_local.core.text.hostile.patterns import (
    ADDRESSED,
    ALONE,
    DIGITS,
    HIDDEN,
    LOOKALIKES,
    PIECE,
    SHOWN,
    SPACED,
)
from factcheck_local.core.types import Span


def without_invisible(text: str) -> str:
    """A text without its format characters (Unicode's Cf): no width, direction, tags, soft hyphens.

    What nobody sees says nothing, and can break a word or hide one from a model.
    """
    if text.isascii():
        return text
    return "".join(c for c in text if unicodedata.category(c) != "Cf")


def unread_spans(text: str) -> list[Span]:
    """The stretches of a text that no model is to read, in order, none overlapping another.

    Args:
        text: without invisible characters, see ``without_invisible``.
    """
    hidden = [Span(*found.span()) for found in HIDDEN.finditer(text)]
    for span in hidden:
        # What is cut already parts what stands around it.
        text = text[: span.start] + "\n" * (span.end - span.start) + text[span.end :]
    units = _units(text)
    said = [unit.of(text) for unit in units]
    cut = [_is_addressed(unit) for unit in said]
    for i, unit in enumerate(said):
        shown = any(cut[i + 1 : i + 4]) and SHOWN.match(unit)
        if shown or (any(cut[max(i - 1, 0) : i]) and ALONE.match(unit)):
            cut[i] = True
    return _merged([*hidden, *(unit for unit, gone in zip(units, cut, strict=True) if gone)])


@lru_cache(maxsize=4096)
def readable(text: str) -> str:
    """What a model reads of a text: all but what is invisible, hidden or addressed to it."""
    return "".join(text[place] for place in readable_places(text))


def readable_places(text: str) -> list[int]:
    """Where in a text the characters stand that ``readable`` leaves of it, in order.

    A stretch that is cut takes the white space in front of it along, so that a text into
    which it was put is read as it was before.
    """
    places = [place for place, c in enumerate(text) if without_invisible(c)]
    left: list[int] = []
    at = 0
    for span in unread_spans(without_invisible(text)):
        left += places[at : span.start]
        while left and text[left[-1]].isspace():
            left.pop()
        at = span.end
    rest = places[at:]
    if at and not left:
        return list(dropwhile(lambda place: text[place].isspace(), rest))
    return left + rest


def is_cut(text: str) -> bool:
    """Whether a text says something that no model is to read."""
    return bool(unread_spans(without_invisible(text)))


def _units(text: str) -> list[Span]:
    """What stands between line ends and full stops, without the white space around it.

    Finer than sentences: "answer B. Staff get …" is two, so that no evidence goes with what
    stands in front of it.
    """
    units = (Span(*piece.span()).trimmed(text) for piece in PIECE.finditer(text))
    return [unit for unit in units if unit.start < unit.end]


def _is_addressed(unit: str) -> bool:
    folded = _folded(unit)
    return any(pattern.search(folded) for pattern in ADDRESSED)


def _folded(text: str) -> str:
    """A text as it is meant to be read, however its letters are written."""
    spelt = SPACED.sub(lambda found: found.group().replace(" ", ""), text)
    return unicodedata.normalize("NFKC", " ".join(map(_latin, spelt.split())))


def _latin(word: str) -> str:
    """A word that mixes scripts, or letters with digits, in the letters that these look like."""
    if word.isalpha() and word.isascii():
        return word
    if not re.search("[A-Za-z]", word):
        return word
    return word.translate(LOOKALIKES if not word.isascii() else DIGITS)


def _merged(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found
