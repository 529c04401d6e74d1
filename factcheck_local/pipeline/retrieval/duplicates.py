"""Passages that say the same in nearly the same words.

A page that is kept in two places comes back twice from retrieval. Reading it once is
enough for the relation model, as long as nothing that decides a claim differs: two
versions of one page often differ in a single number, and that number is the point.
So passages are taken as the same only if, beside sharing nearly all of their text,

* their titles are the same,
* numbers, negations, qualifying words and signs are the same, in the same order,
* neither replaces a word of the other (Monday by Friday, "to" by "from"; an article counts
  for none), nor do these change places: at most, one of them has some more.

Each passage keeps its own source, prior and factor. That copies of one text are counted
as independent witnesses is not changed here: the FactReasoner variants that exist do so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from factcheck_local.core.text.wording import negations, normalised, numbers
from factcheck_local.core.types import Context

#: Words in a shingle.
SHINGLE = 5

#: Jaccard similarity of two passages' shingles from which they may be the same.
MIN_JACCARD = 0.9

#: Words that change what a sentence claims without being content words or negations.
_QUALIFIERS = frozenset(
    "one half twice double all any each every some both either only except unless until before "
    "after since during within if may might must shall should can could will would more less "
    "most least over under above below up down".split()
)

#: Words that only point at what follows.
_ARTICLES = frozenset("a an the this that these those".split())

#: Signs that a number or a comparison turns on; words do not show them.
_SIGNS = re.compile(r"[<>≤≥=≠±+\u2212]|(?<!\w)-(?=\d)")


@dataclass(frozen=True, slots=True)
class _Wording:
    """What is compared of a passage."""

    text: str
    words: tuple[str, ...]
    shingles: frozenset[tuple[str, ...]]

    def nearly(self, other: _Wording) -> bool:
        """Whether two passages share nearly all of their words, in order."""
        if self.text == other.text:
            return True
        short, long = sorted((self.words, other.words), key=len)
        rest = iter(long)
        if not all(word in rest for word in short):
            return False  # a word is replaced, or has changed places
        shared = len(self.shingles & other.shingles)
        return shared >= MIN_JACCARD * len(self.shingles | other.shingles)


def near_duplicates(contexts: Sequence[Context]) -> dict[str, str]:
    """Which passage stands for each: the first that says the same, or itself.

    Exact and pairwise among passages of the same title and numbers: an answer has a
    few hundred passages at most, too few for MinHash to pay.

    Args:
        contexts: passages with different ids, in order.

    Returns:
        Context id -> id of the passage that stands for it.
    """
    titles = [normalised(context.title) for context in contexts]
    frequency = Counter(titles)
    groups: dict[tuple[str, tuple[str, ...]], list[Context]] = {}
    found = {}
    for title, context in zip(titles, contexts, strict=True):
        found[context.id] = context.id
        if frequency[title] == 1:
            continue
        group = groups.setdefault((title, _decisive(context.text)), [])
        for other in group:
            if _wording(context.text).nearly(_wording(other.text)):
                found[context.id] = other.id
                break
        else:
            group.append(context)
    return found


# Claims of one answer find the same passages over and over.
@lru_cache(maxsize=4096)
def _wording(text: str) -> _Wording:
    """What is compared of a text."""
    words = normalised(text).split()
    telling = tuple(word for word in words if word not in _ARTICLES)
    return _Wording(" ".join(words), telling, _shingles(words))


def _shingles(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Runs of `SHINGLE` words; a shorter text is one run."""
    last = max(len(words) - SHINGLE, 0)
    return frozenset(tuple(words[i : i + SHINGLE]) for i in range(last + 1))


@lru_cache(maxsize=4096)
def _decisive(text: str) -> tuple[str, ...]:
    """Numbers, negations, qualifiers and signs of a text, in order of each kind."""
    found = []
    for word in normalised(text).split():
        if any(c.isdigit() for c in word) or word in _QUALIFIERS or negations(word):
            found.append(word)
        else:
            # A number in words, or nothing.
            found += numbers(word)
    return (*found, *_SIGNS.findall(text))
