"""Passages by the one sentence of each that says most of a claim.

A ranking by words counts those of a whole passage, and a page on the claim's subject has many of
them, spread over sentences of which none is about it. What decides a claim is nearly always one
sentence, list item or table row.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.core.text.wording import numbers, stems
from factcheck_local.core.types import Context

#: Passages of a claim that are looked at.
LOOKED_AT = 20

#: What a word counts that is in the title alone, above the sentence.
IN_TITLE = 0.5

#: What this ranking counts in a fusion with those by meaning (1) and by words (1.5). Of 579
#: claims about five published handbooks, each with the line that decides it and looked for with
#: its unit of the answer, that line is among three passages of 0.952 without, 0.959 with 1 and
#: 1.5, 0.957 with 2; of the claims on 52 held-out sets those that state and those that deny of
#: 0.946 and 0.935 without, 0.946 and 0.948 with 1, 0.929 and 0.945 with 2.
WEIGHT = 1.0


def by_sentences(
    claims: Sequence[str], found: Sequence[Sequence[Context]], *, together: bool
) -> list[list[str]]:
    """The passages of each claim anew, by the sentence that says most of it.

    A claim's words and numbers that a sentence has count with log(1 + (n - f + 1/2) / (f + 1/2)),
    as in BM25 (Robertson and Zaragoza 2009), f of the n passages that were found having the word:
    what all of them have tells nothing.

    Args:
        claims: n of them.
        found: passages of each, best first.
        together: whether words are counted in the passages of all claims, those of one answer,
            or of each claim alone.

    Returns:
        Ids of each claim's passages, best first, ties as they were.
    """
    of_all = _weigher({c.id: c for contexts in found for c in contexts}.values())
    ordered = []
    for claim, contexts in zip(claims, found, strict=True):
        weigh = of_all if together else _weigher(contexts)
        weights = {word: weigh(word) for word in _words(claim)}
        said = {c.id: _most_said(weights, c) for c in contexts}
        ordered.append(sorted(said, key=lambda id_: -said[id_]))
    return ordered


def _weigher(contexts: Collection[Context]) -> Callable[[str], float]:
    """What a word counts, by how many of the passages have it."""
    having = Counter(word for c in contexts for word in _words(c.title).union(*_sentences(c.text)))

    def weigh(word: str) -> float:
        return math.log(1.0 + (len(contexts) - having[word] + 0.5) / (having[word] + 0.5))

    return weigh


def _most_said(weights: Mapping[str, float], context: Context) -> float:
    """The weight of the words that the best sentence has, or the title above it."""
    above = _words(context.title)

    def said(sentence: frozenset[str]) -> float:
        # Summed without rounding: a set's order is another in each process.
        return math.fsum(
            weight * (1.0 if word in sentence else IN_TITLE)
            for word, weight in weights.items()
            if word in sentence or word in above
        )

    return max(map(said, _sentences(context.text)), default=0.0)


# The answers to one store find the same passages over and over.
@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[frozenset[str], ...]:
    """Words of each sentence; a line is one at least, as an item of a list or a heading."""
    return tuple(
        _words(span.of(line))
        for line in text.splitlines()
        if line.strip()
        for span in sentence_spans(line)
    )


def _words(text: str) -> frozenset[str]:
    """Stems of all words, and numbers: "not", "only" and "before" part near claims, too."""
    return stems(text) | numbers(text)
