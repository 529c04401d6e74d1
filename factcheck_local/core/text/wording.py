"""What two texts have in common word by word: the checks on what an LLM wrote.

A small model repeats its neighbours, invents and forgets. These checks are
lexical on purpose: they cannot be talked into anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from math import prod

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")

MONTHS = (
    "January February March April May June July August September October November December"
).split()

#: What joins clauses; an "and" between two numbers joins these. A run of spaces is read once.
_COORDINATION = re.compile(
    r"(?:[,;]|(?<!\s))\s++(?:and(?!(?<=\d and)\s\d)|but|while|whereas)\s+|;\s+"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBER_WORDS = [
    *"two three four five six seven eight nine ten eleven twelve thirteen fourteen".split(),
    *"fifteen sixteen seventeen eighteen nineteen".split(),
    *_TENS,
]

#: Words that say how, not what. Negations and quantifiers are not among them.
_FUNCTION_WORDS = frozenset(
    "a an the this that these those of in on at to for from by with as into about over per via "
    "and or but so then than if when while where which who whom whose what there here "
    "is are was were be been being am has have had having do does did done will would shall should "
    "can could may might must it its he him his she her hers they them their theirs we us our ours "
    "you your yours i me my mine also just very usually s".split()
)

NEGATIONS = frozenset("not no never none nothing nobody neither nor without cannot".split())

#: Verbs that have a subject in front of them in a statement.
_AUXILIARIES = frozenset(
    "is are was were has have had does do did will would shall should can could may might must "
    "cannot".split()
)

#: Pronouns and phrases that need the text around them to mean anything.
_VAGUE = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|these|those|that (?!is|are)|"
    r"the (?:former|latter|same|company|firm|organi[sz]ation|product|plan|policy|document|"
    r"person|author|team|city|film|book|album|band))\b",
    re.IGNORECASE,
)


_SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_SCALE = rf"(?:{'|'.join(_SCALES)})"
_UNSCALED = rf"(?:one|{'|'.join(_NUMBER_WORDS)})"

#: "twenty-five", "two thousand five hundred", "one hundred and five". A scale behind digits is
#: theirs, whatever they are.
_SPELT = re.compile(
    rf"\b(?:{_UNSCALED}|(?<!\d[ -]){_SCALE})(?:(?:-| and | )(?:{_UNSCALED}|{_SCALE}))*\b"
)

#: What ends an ordinal such as "twenty-first"; a "thirty-second clip" lasts 30 seconds.
_ORDINALS = {
    "first": "one",
    "third": "three",
    "fourth": "four",
    "fifth": "five",
    "sixth": "six",
    "seventh": "seven",
    "eighth": "eight",
    "ninth": "nine",
}
_ORDINAL = re.compile(rf"\b({'|'.join(_TENS)})-({'|'.join(_ORDINALS)})\b")

#: What joins the words of a number, the loosest first.
_JOINTS = (" and ", " ", "-")

#: "3 million", "5 hundred thousand".
_SCALED = re.compile(
    rf"(?<![\d.,:])((?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?)((?:[ -]{_SCALE}){{1,3}})\b"
)

#: What numbers below a heading are counted in: "Revenue (€m)", "in thousands".
_COUNTED_IN = re.compile(
    r"(?P<thousand>(?:\b|[€$£])(?:thousands?|k)\b|(?<![\d.,])['’]?000s?\b)"
    r"|(?P<million>(?:\b|[€$£])(?:millions?|mio|mn)\b|(?:[€$£]|\b(?:eur|usd|gbp|chf) ?)m\b)"
    r"|(?P<billion>(?:\b|[€$£])(?:billions?|bn)\b)",
    re.IGNORECASE,
)

#: Letters behind a number that multiply it; "m" of money alone, where it is no metre.
_LETTERS = {"k": 10**3, "m": 10**6, "mn": 10**6, "mio": 10**6, "bn": 10**9, "tn": 10**12}
_CURRENCY = r"(?:[€$£]|\b(?:eur|usd|gbp|chf)\s?)"

#: What is a number in another notation than ``numbers`` reads.
_OTHERWISE = re.compile(
    r"(?P<date>(?<![\d./-])(?:\d{4}-\d\d?-\d\d?|\d\d?(?P<joint>[./-])\d\d?(?P=joint)\d{4})(?![\d/-]))"
    r"|(?P<grouped>(?<![\d.,'’])\d{1,3}(?:['’\u00a0\u202f ]\d{3})+(?![\d'’]))"
    rf"|{_CURRENCY}(?P<money>\d+(?:[.,]\d+)?)\s?m\b"
    # "25,000" is no 25.
    r"|(?<![\d.,])(?P<count>\d+(?:\.\d+|,\d\d?)?)(?![.,]?\d)(?:\s?(?P<letter>k|mn|mio|bn|tn)\b)?"
    r"|\b(?P<word>one|zero)\b"
)

#: What a text says, marks that only part words or clothe them aside: words, a minus, and any
#: other sign; of "#", "*" and "/" those that touch a word are no markup.
_SAID = re.compile(
    r"\w+(?:[.,:'’]\w+)*|(?<!\w)[-–](?=\d)|(?<=\w)#|#(?=\w)|(?<=\w)[*/](?=\w)"
    r"|[^\w\s.,;:!?…'\"\u2018’\u201a“”„«»\u2039\u203a()\[\]{}\\*/_`~|#^•·▪◦‣、。–—\u2010-\u2012\u2015"
    r"\u00ad\u200b-\u200d\u2060\ufeff-]"
)

_COUNT = rf"(?:(?!(?:1[5-9]|20)\d\d\b)\d[\d.,]*|{'|'.join(_NUMBER_WORDS)})"

#: "within 30", at the end: the unit stood earlier in the sentence. A bare year is a date.
_UNIT_LEFT_OUT = re.compile(
    rf"\b(?:within|least|most|than|under|over|after|every|about|around|only|up to)\s+{_COUNT}\W*$",
    re.IGNORECASE,
)
_AMOUNT_FIRST = re.compile(rf"\W*+{_COUNT}\b", re.IGNORECASE)


# A text's words come again in every text beside it, and a stem takes a thousand look-ups.
@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    import snowballstemmer

    # A stemmer keeps its word in itself, so threads cannot share one; to make one costs nothing.
    stem: str = snowballstemmer.stemmer("english").stemWord(word)
    return stem


def content(text: str) -> tuple[str, ...]:
    """Stems of the words that carry the meaning, in order, negations left out."""
    words = _lowered(text)
    return tuple(_stem(w) for w in words if w not in _FUNCTION_WORDS and not _negates(w))


def _lowered(text: str) -> Iterator[str]:
    """The words of a text in lower case, without a genitive's s."""
    return (w.lower().replace("’", "'").removesuffix("'s") for w in _WORD.findall(text))


def stems(text: str) -> frozenset[str]:
    """Stems of all words, each once."""
    return frozenset(map(_stem, _lowered(text)))


def content_words(text: str) -> frozenset[str]:
    """The stems of ``content``, each once."""
    return frozenset(content(text))


def words_and_numbers(text: str) -> frozenset[str]:
    """What a text is about: its content words and its numbers."""
    return content_words(text) | numbers(text)


def names(text: str) -> frozenset[str]:
    """Stems of the content words with a capital letter, wherever they stand."""
    return content_words(" ".join(w for w in _WORD.findall(text) if w != w.lower()))


def numbers(text: str) -> frozenset[str]:
    """Numbers of a text as digits, thousands separators left out; "twenty-fifth" is 25.

    "One" is left out where it stands alone: it is more often a pronoun.
    """
    low = re.sub("[\u2010\u2011]", "-", re.sub(r"\s", " ", text.lower()))
    low = _ORDINAL.sub(lambda m: f"{m[1]}-{_ORDINALS[m[2]]}", low)
    scaled = _SCALED.sub(lambda m: _digits(Decimal(_plain(m[1])) * _factor(m[2])), low)
    digits = {_plain(n) for n in _NUMBER.findall(scaled)}
    spelt = [value for phrase in _SPELT.findall(scaled) for value in _spelt(phrase)]
    return frozenset(digits.union(spelt))


def counted_in(found: Iterable[str], heading: str) -> dict[str, str]:
    """Numbers as they are in the unit that a heading gives, such as "€m", and as they stand.

    Args:
        found: as ``numbers`` gives them.
        heading: what stands above them; without a unit there is nothing.
    """
    factors = {_SCALES[m.lastgroup or ""] for m in _COUNTED_IN.finditer(heading)}
    return {
        _digits(Decimal(number) * factor): number
        for factor in factors
        for number in found
        if re.fullmatch(r"\d+(?:\.\d+)?", number)
    }


def written_otherwise(text: str) -> dict[str, frozenset[str]]:
    """Numbers as they are written elsewhere, and as they stand: "$5m" is 5000000, "25'000" 25000.

    These are readings beside those of ``numbers``: letters that multiply, other separators of
    thousands and decimals, zeros at the end, "one" and "zero"; and the parts of a date in digits,
    since "31.12.2024" is 31 December 2024.
    """
    found: dict[str, frozenset[str]] = {}
    for match in _OTHERWISE.finditer(text.lower()):
        stands = numbers(match[0])
        for reading in _readings(match):
            found[reading] = found.get(reading, frozenset()) | stands
    return found


def _readings(match: re.Match[str]) -> set[str]:
    """The numbers that a match of ``_OTHERWISE`` may be written as."""
    if match["date"]:
        parts = re.findall(r"\d+", match["date"])
        if match["joint"] != "/":  # "12/31/2024" is written both ways
            del parts[1]  # the month, which is no number where it is written out
        return {str(int(part)) for part in parts}
    if match["word"]:
        value = Decimal(match["word"] == "one")
    elif match["grouped"]:
        value = Decimal(re.sub(r"\D", "", match["grouped"]))
    else:
        value = Decimal((match["count"] or match["money"]).replace(",", "."))
        letter = "m" if match["money"] else match["letter"]
        value *= _LETTERS[letter] if letter else 1
    written = (match["count"] or "").replace(",", ".")
    return {_digits(value), written if not match["letter"] else ""} - {""}


def _plain(number: str) -> str:
    """Digits without separators of thousands; "15.00" is 15, the versions 4.0 and 4.10 stay."""
    return re.sub(r"^(\d+)\.00$", r"\1", re.sub(r",(?=\d{3}\b)", "", number))


def _digits(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _factor(words: str) -> int:
    return prod(_SCALES[word] for word in _WORD.findall(words))


def _spelt(phrase: str, joints: tuple[str, ...] = _JOINTS) -> list[str]:
    """The numbers that words make, each of as many words as make one.

    "five and six" and "nineteen ninety" are two.
    """
    if phrase == "one":
        return []
    if (value := _value(phrase)) is not None:
        return [value]
    if not joints:
        return []  # "trillion", which text2num does not know
    joint, *closer = joints
    parts: list[str] = []
    for part in phrase.split(joint):
        if parts and _value(longer := f"{parts[-1]}{joint}{part}") is not None:
            parts[-1] = longer
        else:
            parts.append(part)
    return [value for part in parts for value in _spelt(part, tuple(closer))]


def _value(phrase: str) -> str | None:
    """The one number that words make."""
    from text_to_num import text2num

    try:
        return str(text2num(phrase, "en"))
    except ValueError:
        return None


def clauses(sentence: str) -> list[str]:
    """The coordinated clauses of a sentence, as they stand in it.

    A piece of fewer than three content words, such as one half of "cats and
    dogs", is no clause: it stays with the piece before it.
    """
    # Of each clause its span, and its content words; those of many pieces are not counted anew.
    found: list[tuple[int, int, set[str]]] = []
    rest = 0
    for match in [*_COORDINATION.finditer(sentence), None]:
        begin, end = rest, match.start() if match else len(sentence)
        words = set(content_words(sentence[begin:end]))
        if found and min(len(words), len(found[-1][2])) < 3:
            # The text in between belongs to the joined piece too.
            begin, before, told = found.pop()
            told |= words
            told |= content_words(sentence[before:rest])
            words = told
        if begin < end or match is None:  # "and" may come first
            found.append((begin, end, words))
        rest = match.end() if match else rest
    return [sentence[begin:end].strip() for begin, end, _ in found]


def has_a_verb(clause: str) -> bool:
    """Whether a clause has an auxiliary with something in front of it, its subject.

    A clause with no auxiliary may have a verb, too; to know takes a parser.
    """
    words = [w.lower().replace("’", "'").removesuffix("n't") for w in _WORD.findall(clause)]
    return any(word in _AUXILIARIES for word in words[1:]) and words[0] not in _AUXILIARIES


def negations(text: str) -> int:
    """How many words of a text negate."""
    return sum(_negates(w.lower().replace("’", "'")) for w in _WORD.findall(text))


def negated(text: str) -> frozenset[str]:
    """Stems of the content words that follow each negation first; "" where none does."""
    words = [w.lower().replace("’", "'") for w in _WORD.findall(text)]
    return frozenset(
        next((stem for later in words[at + 1 :] for stem in content_words(later)), "")
        for at, word in enumerate(words)
        if _negates(word)
    )


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


def is_vague(text: str) -> bool:
    """Whether a text leans on its surroundings: a pronoun or a bare 'the company'."""
    return bool(_VAGUE.search(text))


def is_elliptical(text: str) -> bool:
    """Whether a text leaves out what the text around it said: a unit, or who does what.

    "The course is due within 30." and "62 euros for a full day." are.
    """
    return bool(_UNIT_LEFT_OUT.search(text)) or (
        _AMOUNT_FIRST.match(text) is not None and not has_a_verb(text)
    )


def share_within(text: str, *others: str) -> float:
    """Share of a text's content words that stand in the others, in [0, 1]; 1 for none."""
    words = content_words(text)
    if not words:
        return 1.0
    known = frozenset().union(*(content_words(o) for o in others))
    return len(words & known) / len(words)


def normalised(text: str) -> str:
    """A text as compared for sameness: case, spaces, markup and final stop aside."""
    return " ".join(_SAID.findall(text.lower()))
