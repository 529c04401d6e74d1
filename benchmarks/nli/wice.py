"""WiCE's claims, each with a passage out of its article.

A row holds a claim, the sentences of a whole web article, and the alternative sets
of sentences that support the claim. A relation model reads passages, so a window
of the article is taken:

- supported, or in part: the first supporting set with as many sentences around
  it as make ``WINDOW_WORDS`` words; if the set spans more words than that, the
  sentences of the set alone, in order.
- not supported: the window of consecutive sentences that is most similar to the
  claim (cosine of tf-idf), which is what a retriever would bring.

So a window that supports is given, not found: the set measures reading, not
retrieval.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: About the size of an indexed passage.
WINDOW_WORDS = 120


@dataclass(frozen=True, slots=True)
class WiceClaim:
    """A claim and its window.

    Attributes:
        text: the claim.
        label: ``supported``, ``partially_supported`` or ``not_supported``.
        evidence: all sentences of the article.
        window: indices into ``evidence``, ascending.
        supporting: the alternative sets of indices that support it.
    """

    text: str
    label: str
    evidence: tuple[str, ...]
    window: tuple[int, ...]
    supporting: tuple[frozenset[int], ...]

    def passage(self, separator: str) -> str:
        """The window's sentences as one text."""
        return separator.join(self.evidence[i] for i in self.window)


def read_claims(rows: Sequence[Mapping[str, Any]]) -> list[WiceClaim]:
    """The claims of WiCE's rows, in order."""
    claims = []
    for row in rows:
        evidence = tuple(row["evidence"])
        # A claim that nothing supports has one empty set.
        supporting = tuple(frozenset(s) for s in row["supporting_sentences"] if s)
        found = (
            best_window(evidence, row["claim"])
            if row["label"] == "not_supported"
            else window_around(evidence, supporting[0])
        )
        claims.append(WiceClaim(row["claim"], row["label"], evidence, tuple(found), supporting))
    return claims


def window_around(
    evidence: Sequence[str], chosen: frozenset[int], words: int = WINDOW_WORDS
) -> list[int]:
    """Consecutive sentences around ``chosen``, or these alone if they span too much."""
    first, last = min(chosen), max(chosen)
    room = words - sum(_length(s) for s in evidence[first : last + 1])
    if room < 0:
        return sorted(chosen)
    grown = True
    while grown:
        grown = False
        if first > 0 and _length(evidence[first - 1]) <= room:
            first, grown = first - 1, True
            room -= _length(evidence[first])
        if last + 1 < len(evidence) and _length(evidence[last + 1]) <= room:
            last, grown = last + 1, True
            room -= _length(evidence[last])
    return list(range(first, last + 1))


def best_window(evidence: Sequence[str], claim: str, words: int = WINDOW_WORDS) -> list[int]:
    """The consecutive sentences most similar to the claim; of equal ones the first."""
    counts = [Counter(_words(s)) for s in evidence]
    documents = Counter(word for count in counts for word in count)
    # The smoothed inverse document frequency, each sentence being a document.
    weights = {
        word: math.log((1 + len(evidence)) / (1 + documents[word])) + 1
        for word in {*documents, *_words(claim)}
    }

    def vector(count: Mapping[str, int]) -> dict[str, float]:
        return {word: n * weights[word] for word, n in count.items()}

    wanted = vector(Counter(_words(claim)))
    return max(
        _windows(evidence, words),
        key=lambda window: _cosine(
            vector(sum((counts[i] for i in window), Counter[str]())), wanted
        ),
    )


def _windows(evidence: Sequence[str], words: int) -> Iterator[list[int]]:
    """From every sentence on as many as fit, at least that one."""
    for first in range(len(evidence)):
        last, room = first + 1, words - _length(evidence[first])
        while last < len(evidence) and _length(evidence[last]) <= room:
            room -= _length(evidence[last])
            last += 1
        yield list(range(first, last))


def _cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    norm = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return sum(v * b.get(word, 0.0) for word, v in a.items()) / norm if norm else 0.0


def _length(sentence: str) -> int:
    return len(sentence.split())


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
