"""Enumerations of names, taken apart: small models leave them in one claim."""

from __future__ import annotations

import re

#: What an enumeration hangs on. After these each name takes the place of all of them; after
#: others ("between", "a merger of") it would not.
_HEAD = re.compile(r"\b(?:such as|including|includes?|included):?\s+")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_STOP_INSIDE = re.compile(r'([,.])(["”])')
_NAME = re.compile(r"(?:[Tt]he )?[A-Z0-9\x00]")

#: Words above which a piece is a clause and no name.
MAX_WORDS = 8


def taken_apart(claim: str) -> list[str]:
    """A claim for each name where a claim ends in an enumeration of names.

    "His films include Heat, Ran and Alien." is three claims. Anything that is no plain list
    (a piece with a small initial, a clause behind, two names without a comma, which may be
    one) stays as it is.
    """
    quoted: list[str] = []

    def keep(match: re.Match[str]) -> str:
        quoted.append(match[0])
        return f"\0{len(quoted) - 1}\0"

    text = _QUOTED.sub(keep, _STOP_INSIDE.sub(r"\2\1", claim))
    head = _HEAD.search(text)
    if head is None:
        return [claim]
    names = _names(text[head.end() :].rstrip(". "), quoted=bool(quoted))
    if len(names) < 2 or not all(_NAME.match(n) and len(n.split()) <= MAX_WORDS for n in names):
        return [claim]
    whole = [f"{text[: head.end()]}{name}." for name in names]
    return [re.sub(r"\0(\d+)\0", lambda m: quoted[int(m[1])], one) for one in whole]


def _names(tail: str, *, quoted: bool) -> list[str]:
    """The pieces of a list; none where it does not end in "and"."""
    *front, last = (piece.strip() for piece in tail.split(","))
    if not front and not quoted:
        return []  # "Marks and Spencer"
    before, joined, after = f" {last}".rpartition(" and ")
    if not joined:
        return []
    return [name for name in (*front, before.strip(), after.strip()) if name]
