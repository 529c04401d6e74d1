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

#: One of them, with the space in front; in code or as the text of a link it is none. A file's name
#: may have brackets.
_MARKER = re.compile(
    rf"[ \t]?(?<!`)\[(?:{_UNVERIFIED}|(?:{'|'.join(_BEGINS.values())}) "
    r"(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\](?![(`])"
)


def marker(verdict: str, places: Iterable[str]) -> str:
    """What stands behind a sentence with a claim of this verdict.

    Args:
        verdict: of the claim, not supported.
        places: of the evidence that it rests on.
    """
    begins = _BEGINS.get(verdict)
    return f"[{begins} {', '.join(places)}]" if begins else f"[{_UNVERIFIED}]"


def unmarked(text: str) -> str:
    """A text without the markers that an earlier correction left in it."""
    return _MARKER.sub("", text)
