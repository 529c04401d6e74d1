"""Enumerations of names, taken apart: small models leave them in one claim."""

from __future__ import annotations

import re

#: What an enumeration hangs on. After these each name takes the place of all of them; after
#: others ("between", "a merger of") it would not.
_HEAD = re.compile(r"\b(?:such as|including|includes?|included):?\s+")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_STOP_INSIDE = re.compile(r'([,.])(["”])')
_NAME = re.compile(r"(?:[Tt]he )?[A-Z0-9]")

#: Words with a small initial that names have in them.
_PARTICLES = frozenset(
    "a an of the upon de del della der den des di da du la le el van von y".split()
)

#: Words above which a piece is a clause and no name.
MAX_WORDS = 8


def taken_apart(claim: str) -> list[str]:
    """A claim for each name where a claim ends in an enumeration of names.

    "His films include Heat, Ran and Alien." is three claims. Anything that is no plain list
    (a piece with a small initial, a clause or a predicate behind, two names without a comma,
    which may be one) stays as it is.
    """
    text = _STOP_INSIDE.sub(r"\2\1", claim)
    # What is quoted is one name, whatever stands in it; it keeps its length, so places stay.
    masked = _QUOTED.sub(lambda m: "Q" * len(m[0]), text)
    head = _HEAD.search(masked)
    if head is None:
        return [claim]
    names = _names(masked[head.end() :].rstrip(". "), quoted=masked != text)
    if len(names) < 2 or not all(_NAME.match(n) and len(n.split()) <= MAX_WORDS for n in names):
        return [claim]
    # Only things that are counted, "2 lenses", end in a noun.
    counted = [_small_words(name) for name in names if name[0].isdigit()]
    nouns = max(counted[:-1]) if len(counted) == len(names) else 0
    if _small_words(names[-1]) > nouns:
        return [claim]  # "Paris, Rome and Berlin were founded by the Romans"
    claims, at = [], head.end()
    for name in names:
        at = masked.index(name, at)
        claims.append(f"{text[: head.end()]}{text[at : at + len(name)]}.")
        at += len(name)
    return claims


def _names(tail: str, *, quoted: bool) -> list[str]:
    """The pieces of a list; none where it does not end in "and"."""
    *front, last = (piece.strip() for piece in tail.split(","))
    if not front and not quoted:
        return []  # "Marks and Spencer"
    before, joined, after = f" {last}".rpartition(" and ")
    if not joined:
        return []
    return [name for name in (*front, before.strip(), after.strip()) if name]


def _small_words(name: str) -> int:
    """How many words behind the first have a small initial, particles of names aside."""
    return sum(word[0].islower() and word not in _PARTICLES for word in name.split()[1:])
