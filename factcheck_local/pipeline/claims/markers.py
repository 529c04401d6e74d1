"""What a correction writes behind a sentence that is not supported, and how it is taken back.

An answer is verified without such markers: they are no part of what it claims.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNVERIFIED = "unverified"

#: How a marker begins, by the verdict; the places that it rests on follow.
_BEGINS = {
    "contradicted": "contradicted by",
    "conflicting": "sources disagree:",
    "undecided": "not decided by",
}

#: The places in a marker; a file's name may have brackets.
_PLACE = re.compile(r"(?:[^\[\]\n]|\[[^\[\]\n]*\])*")
_ROUND = str.maketrans("[]", "()")

#: One of them, with the space in front; in code or as the text of a link it is none.
_MARKER = re.compile(
    rf"[ \t]?(?<!`)\[(?:{_UNVERIFIED}|(?:{'|'.join(_BEGINS.values())}) {_PLACE.pattern})\](?![(`])"
)


def marker(verdict: str, places: Iterable[str]) -> str:
    """What stands behind a sentence with a claim of this verdict.

    Args:
        verdict: of the claim, not supported.
        places: of the evidence that it rests on, each on one line.
    """
    begins = _BEGINS.get(verdict)
    # A marker ends at its bracket: where others would end it, they are round ones.
    named = (p if _PLACE.fullmatch(p) else p.translate(_ROUND) for p in places)
    return f"[{begins} {', '.join(named)}]" if begins else f"[{_UNVERIFIED}]"


def unmarked(text: str) -> str:
    """A text without the markers that an earlier correction left in it."""
    return _MARKER.sub("", text)
