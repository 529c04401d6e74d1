"""What the words around a number say of it: hedges, bounds, names, the noun it counts."""

from __future__ import annotations

import re
from functools import lru_cache

from factcheck_local.core.text.wording import content_words
from factcheck_local.pipeline.relation.quantities.values import Bound, Kind

_HEDGE = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.?|c\.|"
    r"estimated(?: at)?|close to|just (?:over|under|above|below)|nearing|virtually)|[~≈])\s*$",
    re.IGNORECASE,
)
_HEDGE_AFTER = re.compile(
    r"\s*(?:,? or so\b|,? approximately\b|-ish\b|,? roughly\b)", re.IGNORECASE
)

#: Longest wording first: "no more than" is not "more than".
_BEFORE: tuple[tuple[Bound, frozenset[Kind] | None, re.Pattern[str]], ...] = tuple(
    (bound, kinds, re.compile(rf"(?:{words})\s*(?:the\s+)?$", re.IGNORECASE))
    for bound, kinds, words in (
        (
            Bound.CEILING,
            None,
            r"\b(?:(?:no|not) (?:more|later|longer|greater|higher|larger) than|at (?:the )?most|"
            r"at (?:the )?latest|up to|not exceed(?:ing)?|(?:a )?maximum(?: of)?|max\.?(?: of)?|"
            r"limited to|capped at|as (?:many|much|long|high|late) as|must not exceed|"
            r"cannot exceed)|≤|<=",
        ),
        (
            Bound.FLOOR,
            None,
            r"\b(?:(?:no|not) (?:less|fewer|earlier|shorter|smaller|lower) than|at (?:the )?least|"
            r"at (?:the )?earliest|(?:a )?minimum(?: of)?|min\.?(?: of)?|upwards of)|≥|>=",
        ),
        (
            Bound.ABOVE,
            None,
            r"\b(?:(?:more|greater|longer|higher|larger|later|older) than|over|above|"
            r"exceed(?:s|ed|ing)?|in excess of|beyond)|>",
        ),
        (
            Bound.BELOW,
            None,
            r"\b(?:(?:less|fewer|shorter|smaller|lower|earlier|younger) than|under|below)|<",
        ),
        (Bound.CEILING, frozenset({Kind.MEASURE}), r"\bwithin"),
        (Bound.FLOOR, frozenset({Kind.DATE, Kind.TIME}), r"\bsince"),
        (Bound.CEILING, frozenset({Kind.DATE, Kind.TIME}), r"\b(?:until|till|through)"),
        (Bound.ABOVE, frozenset({Kind.DATE, Kind.TIME}), r"\b(?:after|following)"),
        (
            Bound.BELOW,
            frozenset({Kind.DATE, Kind.TIME}),
            r"\b(?:before|prior to|(?<!followed )(?<!preceded )by)",
        ),
    )
)
_AFTER: tuple[tuple[Bound, re.Pattern[str]], ...] = tuple(
    # The bound may follow what is measured: "8 GB of RAM or more". No words begin with a space,
    # so that none is given back (++) and a run of spaces is read once.
    (
        bound,
        re.compile(
            rf"(?:\s++of(?:\s++\w++){{1,2}}?(?=\s++or\s))?\s*+(?:{words})",
            re.IGNORECASE,
        ),
    )
    for bound, words in (
        (
            Bound.FLOOR,
            r"(?:,\s*)?(?:or|and|&) (?:more|later|newer|higher|above|over|up|older|greater|longer|"
            r"upwards?|onwards?|beyond)\b|\+|(?:,\s*)?(?:at (?:the )?(?:least|minimum)|minimum)\b|"
            r"(?:onwards?|upwards?)\b",
        ),
        (
            Bound.CEILING,
            r"(?:,\s*)?(?:or|and) (?:less|fewer|lower|below|under|earlier|older|younger|shorter)\b|"
            r"(?:,\s*)?(?:at (?:the )?(?:most|latest)|maximum|max)\b",
        ),
    )
)
#: Short forms, adverbs and adjectives of what something is per.
_PERIODS = {
    "s": "second", "sec": "second", "min": "minute", "h": "hour", "hr": "hour", "hourly": "hour",
    "d": "day", "daily": "day", "wk": "week", "weekly": "week", "mo": "month", "monthly": "month",
    "quarterly": "quarter", "yr": "year", "yearly": "year", "annual": "year", "annually": "year",
    "annum": "year", "p.a.": "year",
}  # fmt: skip
_FEW = "two|three|four|five|six|seven|eight|nine|ten|twelve"
_RATE = re.compile(
    # "2 days of leave per month"
    r"(?P<what>\s+(?:gross|net|of(?:\s+\w+){1,2}?))?\s*(?:"
    r"(?:per|(?:for\s+)?(?:each|every)|/)\s*(?:(?:calendar|fiscal|financial)\s+)?"
    rf"(?!(?:one|{_FEW})\b)(?P<any>[a-z]+)|"
    r"an?\s+(?P<time>second|minute|hour|day|night|week|month|quarter|year)\b|"
    r"(?P<adverb>(?:hour|dai|week|month|quarter|year|annual)ly\b|p\.a\.))",
    re.IGNORECASE,
)
#: "2 tablets twice daily": what is said is each time's, and not the day's.
_TIMES = re.compile(
    rf"\s+(?:(?:twice|thrice|(?:\d{{1,2}}|{_FEW})(?:\s+times|\s?x))\s+(?:(?:an?|per|each|every)\s+)?"
    r"(?:(?:hour|day|night|week|month|quarter|year)\b|(?:hour|dai|week|month|quarter|year|annual)ly\b)"
    rf"|every\s+(?:\d{{1,2}}|{_FEW})\b)",
    re.IGNORECASE,
)
#: "The annual fee is 120 euros."
_RATE_BEFORE = re.compile(
    r"\b(hourly|daily|weekly|monthly|quarterly|yearly|annual)\b[^.;,\d\n]*$", re.IGNORECASE
)
_NOUN = re.compile(r"[ \u00a0-]([^\W\d_][^\W\d_'’]*)")
#: What follows these is counted by no number before them: "60 after two years".
_NO_NOUN_BEYOND = frozenset(
    "after before during within under between until since if unless except per without against "
    "beyond above below".split()
)
#: Plurals and collectives that do not end in s.
_PLURALS = frozenset(
    "people men women children staff personnel feet aircraft species series criteria media "
    "employees crew police".split()
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NAME_WORD = re.compile(r"(?P<word>[^\W\d_][\w'’.&-]*)[ \u00a0]$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;•\n\"“(][ \u00a0\"“(']*)$")


def is_hedged(before: str, after: str) -> bool:
    """Whether the words around a quantity make it approximate."""
    return bool(_HEDGE.search(before) or _HEDGE_AFTER.match(after))


def bound_of(kind: Kind, before: str, after: str) -> Bound:
    """The bound that the words around a quantity set, ``NONE`` for none.

    Args:
        kind: Some words bind dates only.
        before: The text before it, up to about 40 characters.
        after: The text after it.
    """
    for bound, pattern in _AFTER:
        # "or older" is a floor of ages and a ceiling of versions and dates.
        if match := pattern.match(after):
            older = match[0].lower().rstrip().endswith("older")
            return Bound.CEILING if older and kind in (Kind.VERSION, Kind.DATE) else bound
    before = _HEDGE.sub("", before) if not re.search(r"just \w+\s*$", before) else before
    for bound, kinds, pattern in _BEFORE:
        if (kinds is None or kind in kinds) and pattern.search(before):
            return bound
    return Bound.NONE


def bound_after(after: str) -> int:
    """How many characters of "or more" and the like follow a number, 0 for none."""
    return max((m.end() for _, p in _AFTER if (m := p.match(after))), default=0)


def rate_of(before: str, after: str) -> tuple[str, int]:
    """What a quantity is per, as a stem, and how many characters right behind it say so."""
    if match := _RATE.match(after):
        word = (match["any"] or match["time"] or match["adverb"]).lower()
        return stem(_PERIODS.get(word, word)), 0 if match["what"] else match.end()
    if _TIMES.match(after):
        return stem("times"), 0
    found = _RATE_BEFORE.search(before)
    return (stem(_PERIODS[found[1].lower()]) if found else ""), 0


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Stem of a content word, "" for a function word."""
    return next(iter(content_words(word)), "")


def stems(text: str) -> frozenset[str]:
    """Stems of the content words of a text, each word looked up once for all texts."""
    return frozenset(filter(None, map(stem, _WORD.findall(text))))


def is_plural(word: str) -> bool:
    """Whether a word looks like a plural noun."""
    lower = word.lower()
    return lower in _PLURALS or (lower.endswith("s") and not lower.endswith(("ss", "us", "is")))


def counted_noun(after: str) -> tuple[str, str]:
    """The noun that a number counts.

    The first plural among the next four words, or else the word that follows:
    "12 approved reviewers" counts reviewers.

    Returns:
        Its stem, "" for none, and the text up to its end.
    """
    first: tuple[str, str] = ("", "")
    at = 0
    for _ in range(4):
        match = _NOUN.match(after, at)
        if not match or match[1].lower() in _NO_NOUN_BEYOND or not stem(match[1]):
            break
        at = match.end()
        if is_plural(match[1]):
            return stem(match[1]), after[:at]
        first = first if first[0] else (stem(match[1]), after[:at])
    return first


def word_before(before: str) -> str:
    """The word right before a number, "" for none."""
    match = _NAME_WORD.search(before)
    return match["word"] if match else ""


def starts_sentence(before: str) -> bool:
    """Whether nothing of the sentence stands before."""
    return bool(_SENTENCE_START.search(before))
