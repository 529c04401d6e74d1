"""What is believed of a split: lexical checks of its parts against their sentence."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from factcheck_local.core.text.wording import (
    clauses,
    content_words,
    has_a_verb,
    negations,
    numbers,
    share_within,
)
from factcheck_local.core.types import Segment

#: Share of an atom's content words that its own sentence, or what stands above
#: it, has to contain. A stem or two may differ; another sentence's claim may not.
MIN_SHARE = 0.7

#: Words that stand only below a unit from which on a claim may be of another one. Of 6,088 claims
#: that people wrote for the training data two have as many and add nothing of their unit.
MIN_BELOW = 2

#: Share of a clause's content words that the atoms have to take up.
MIN_CLAUSE_SHARE = 0.5

#: Words of a clause that may have its own subject; "turn white" has none.
MIN_CLAUSE_WORDS = 4

#: Where a sentence may be cut into what can be asked for. A run of spaces is read once.
_PIECES = re.compile(r"[,;:]\s+|(?<!\s)\s++[–—]\s+")

#: The verb behind it is another's: "the river, which was diverted".
_RELATIVE = re.compile(r"\b(?:which|who|whom|whose|that|where)\b")

#: It says of something that it is itself: "The 5C Nano is a 5C Nano."
_OF_ITSELF = re.compile(
    r"(?:(?:the|an?) )?(.+) (?:is|are|was|were) (?:(?:the|an?) )?\1[.!]?", re.IGNORECASE
)

#: One comma, in front of a conjunction: what it joins are clauses, and no list.
_TWO_CLAUSES = re.compile(r"[^,;]*(?:, (?:and|but|while|whereas) |; )[^,;]*")


def stated(text: str, segment: Segment) -> bool:
    """Whether the atom says something, its numbers and most of its words the sentence's own.

    One that is far longer than the sentence repeats itself.
    """
    around = " ".join(segment.headings)
    return (
        bool(content_words(text) or numbers(text))
        and not is_of_itself(text)
        and len(text) <= 3 * len(segment.text) + len(around) + 60
        and numbers(text) <= numbers(segment.text) | numbers(around)
        and share_within(text, segment.text, around) >= MIN_SHARE
        and share_within(text, segment.text) > 0
    )


def is_of_itself(text: str) -> bool:
    """Whether a claim says of something that it is itself, and so says nothing."""
    return _OF_ITSELF.fullmatch(text.strip()) is not None


def own_claims(claims: Sequence[str], sentence: str, around: str, below: str) -> list[str]:
    """Claims without those of a unit further down, which is asked for its own.

    These say nothing of this unit that its other claims do not, and something that stands only
    below it: "the card can be used to withdraw cash", of "you can spend 5,000 euros with the card".

    Args:
        claims: of the unit, as they were written.
        sentence: the unit.
        around: the question, headings and what stands in front of it.
        below: what stands behind it.
    """
    own = content_words(sentence)
    later = content_words(below) - own - content_words(around)
    kept = list(claims)
    for one in claims:
        words = content_words(one)
        others = content_words(" ".join(other for other in kept if other != one))
        if len(words & later) >= MIN_BELOW and words & own <= others:
            kept.remove(one)
    return kept


def left_out(kept: Sequence[str], sentence: str, also: Collection[str] = frozenset()) -> list[str]:
    """What to add so that no number, negation or clause of the sentence is lost.

    That is the whole sentence where a piece of it would mean nothing alone.

    Args:
        kept: claims of the sentence.
        sentence: it.
        also: numbers that the claims say otherwise.
    """
    if not kept:
        return [sentence]
    said = " ".join(kept)
    if negations(sentence) > negations(said):
        return [sentence]
    missing = untold(clauses(sentence), said, also)
    long = all(len(clause.split()) >= MIN_CLAUSE_WORDS for clause in missing)
    alone = (long and _TWO_CLAUSES.fullmatch(sentence)) or all(
        has_a_verb(_main(clause)) for clause in missing
    )
    return missing if alone else [sentence]


def pieces_left_out(
    kept: Sequence[str], sentence: str, also: Collection[str] = frozenset()
) -> list[str]:
    """The pieces of a sentence that hold what ``left_out`` finds missing, as short as may be.

    Args:
        kept: claims of the sentence.
        sentence: it.
        also: numbers that the claims say otherwise.
    """
    said = " ".join(kept)
    pieces = [
        short
        for clause in untold(clauses(sentence), said, also)
        for short in untold(_PIECES.split(clause), said, also) or [clause]
    ]
    if negations(sentence) > negations(said):
        pieces += [piece for piece in _PIECES.split(sentence) if negations(piece)]
    return list(dict.fromkeys(pieces))


def untold(pieces: Sequence[str], said: str, also: Collection[str] = frozenset()) -> list[str]:
    """Those pieces of a unit of which a number or most words are not in what is said of it.

    Args:
        pieces: of the unit.
        said: its claims.
        also: numbers that the claims say otherwise.
    """
    told = numbers(said) | frozenset(also)
    return [
        piece
        for piece in pieces
        if not numbers(piece) <= told or share_within(piece, said) < MIN_CLAUSE_SHARE
    ]


def _main(clause: str) -> str:
    """What stands in front of a relative clause."""
    return _RELATIVE.split(clause, maxsplit=1)[0]
