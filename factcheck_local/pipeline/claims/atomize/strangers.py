"""Names that a model put into a claim, of things that the claim's unit is not about.

Who has the whole answer before him takes the subject that a sentence leaves open from anywhere in
it: a plan becomes "the plan of the Connect API", which the answer comes to later. What a unit may
be about is named in it, in the question, in the first statement of the answer, or in front of it
in its own section or in one that it is a part of. Another name is taken out where it only says of
whom, of what or where. So is one that the section names for something else: who signs in by
"Vaultkeep" does not work "at Vaultkeep".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from factcheck_local.core.text.wording import content_words, share_within
from factcheck_local.core.types import Segment

#: Words that begin with as many same letters are of one name: "Belgian", "Belgium".
SAME_BEGINNING = 5

#: Share of what is left of a claim that stands near its unit; with less it was another unit's.
MIN_LEFT = 0.6

_WORD = r"[*_]*{0}\w*(?:[&/.-]\w+)*[*_]*"

#: What says of a thing of whom or of what it is, or where, by a name: words that begin with a
#: capital or, behind the first, a digit. "Of an EU country" says which kind, not whose.
_ATTRIBUTE = re.compile(
    rf"\s+(of|at|in|on|for|by|from|with)\s+(?:the\s+)?"
    rf"((?>{_WORD.format('[A-Z]')}(?:\s+{_WORD.format('[A-Z0-9]')})*+))(?!['’]\w|\w)"
)

#: Where somebody is: "at Plover Systems". Of 1,011 claims with such a place that people wrote for
#: the training data all but nine have it from the unit, the question, a heading or the first
#: statement, or the section has it behind words that a house stands behind (`_IN_HOUSE`).
_HOUSE = "at"
_IN_HOUSE = re.compile(
    r"\b(?:[Aa]t|of|for|[Ww]elcome to|[Jj]oin(?:s|ing|ed)?|[Ll]eav(?:e|es|ing))\s+(?:the\s+)?"
    rf"({_WORD.format('[A-Z]')})"
)

#: What a model writes between the cells of a row, behind what it is about.
_VERBS = content_words("need require have get receive take cost include last apply")

_NEXT_WORD = re.compile(r"\A\s+([\w-]+)")


def section(segments: Sequence[Segment], index: int) -> str:
    """What stands in front of a unit in its section and in those that this is a part of.

    Headings, which are of no section but their own, are left out.

    Args:
        segments: units of an answer, in order.
        index: of the unit.
    """
    path = segments[index].headings
    return " ".join(
        s.text for s in segments[:index] if s.kind is None and s.headings == path[: len(s.headings)]
    )


def without_strangers(claim: str, unit: str, around: str, before: str = "") -> str | None:
    """A claim without attributes that name what its unit is not about.

    Args:
        claim: as the model wrote it.
        unit: what it is of.
        around: where the unit's claims may take any name from.
        before: its section in front of it, from where they may take names as what they are there.

    Returns:
        The claim, as it is where there is no such name; None where what is left of it is none of
        the unit's.
    """
    own = content_words(unit)
    known = own | content_words(around)
    houses = known | content_words(" ".join(_IN_HOUSE.findall(before)))
    known |= content_words(before)

    def taken_out(found: re.Match[str]) -> str:
        # What the unit says goes on behind it; another word is a part of what has the name.
        goes_on = content_words("".join(_NEXT_WORD.findall(claim[found.end() :]))) <= own | _VERBS
        said = houses if found[1] == _HOUSE else known
        return "" if goes_on and not _is_known(found[2], said) else found[0]

    left = _ATTRIBUTE.sub(taken_out, claim)
    if left == claim:
        return claim
    return left if share_within(left, unit, around, before) >= MIN_LEFT else None


def _is_known(name: str, known: Collection[str]) -> bool:
    """Whether a word of a name is known, or like one that is; names without words are."""
    words = content_words(name)
    return not words or any(
        word in known
        or any(
            k[:SAME_BEGINNING] == word[:SAME_BEGINNING] for k in known if len(k) >= SAME_BEGINNING
        )
        for word in words
    )
