"""Numbers as they are written, in digits and in words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

#: Letters after a number that multiply it; "m" only of money, where it is no metre.
SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "mn": 1e6, "mln": 1e6, "bn": 1e9, "tn": 1e12, "lakh": 1e5, "crore": 1e7,
}  # fmt: skip
_ATTACHED = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "bn": 1e9, "mn": 1e6, "tn": 1e12}

_LITERAL = re.compile(
    r"(?:(?<![\w.,:/\x00])|(?<=\b[vV]))(?P<sign>(?<![\w)] )(?<![\d)\]])[-\u2212](?=\d))?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?![\d,]\d)(?:\.\d+)?|\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?!\d)"
    r"|\d+(?:\.\d+)+|\d+,\d{1,2}(?!\d|,\d)|\d+)"
    r"(?P<fraction>\s?[½¼¾⅓⅔])?"
)
_SCALE = re.compile(
    rf"[ \u00a0-]?(?P<word>{'|'.join(SCALES)})\b|(?P<letter>bn|mn|tn|[kKMB])(?![\w/])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]+|[^\sA-Za-z]+")

#: Behind a 10: an exponent, and hardly a footnote. Such a number is not read, least of all as 10.
_POWER = re.compile(
    "\u207b|[\u00b3\u2074-\u2079]|[\u00b9\u00b2][\u2070\u00b9\u00b2\u00b3\u2074-\u2079]"
)

#: Characters of a number in digits. A longer one counts nothing, and a float may not hold it.
MAX_DIGITS = 100


@dataclass(slots=True)
class Numeral:
    """A number of a text before its unit is known.

    Attributes:
        start: First character.
        end: Character after the last.
        values: The number; more than one where the notation has two meanings.
        digits: As written, without scale.
        last: Worth of the last written digit.
        significant: Worth of the last digit that is no trailing zero.
        scaled: Whether a word or letter multiplies it, or 1.
        ordinal: 21st, third.
        in_words: Written in letters.
        ambiguous: Its values exclude each other: "1.200".
        share: A share of something, in percent: "two thirds of the members".
        weak: See ``Quantity``: "a quarter of an hour sooner", "pupils pay half".
    """

    start: int
    end: int
    values: tuple[float, ...]
    digits: str = ""
    last: float = 1.0
    significant: float = 1.0
    scale: float = 1.0
    ordinal: bool = False
    in_words: bool = False
    ambiguous: bool = False
    share: bool = False
    weak: bool = False

    @property
    def is_version(self) -> bool:
        """Whether only a version has that many dots."""
        return self.digits.count(".") > 1 and len(self.values) == 0

    def rescale(self, factor: float) -> None:
        """Multiplies it, as "5" in "5 to 10 million"."""
        self.values = tuple(v * factor for v in self.values)
        self.last *= factor
        self.significant *= factor
        self.scale *= factor

    def add_half(self) -> None:
        """Adds a half of what it counts, as "two and a half" and "an hour and a half"."""
        self.values = tuple(v + 0.5 * self.scale for v in self.values)
        self.last = self.significant = 0.1 * self.scale

    def add_inches(self, inches: float) -> None:
        """Adds inches to a number of feet."""
        self.values = tuple(v + inches / 12 for v in self.values)
        self.significant = 1 / 12


def _values(digits: str) -> tuple[float, ...]:
    plain = re.sub(r"[ \u00a0\u202f'’]|,(?=\d{3})", "", digits)
    if plain.count(".") > 1:
        # 1.200.000 is a number, 1.2.0 a version.
        groups = plain.split(".")
        grouped = len(groups[0]) <= 3 and all(len(g) == 3 for g in groups[1:])
        return (float("".join(groups)),) if grouped else ()
    plain = plain.replace(",", ".")
    values: tuple[float, ...] = (float(plain),)
    whole, _, decimals = plain.partition(".")
    if len(decimals) == 3 and whole[0] != "0" and len(whole) <= 3 and "," not in digits:
        values += (float(whole + decimals),)
    return values


def _precision(value: float, digits: str) -> tuple[float, float]:
    _, dot, decimals = digits.replace(",", "").partition(".")
    if "," in digits and re.fullmatch(r"\d+,\d{1,2}", digits):
        dot, decimals = ",", digits.partition(",")[2]
    last = 10.0 ** -len(decimals) if dot else 1.0
    significant = last
    if not dot and value:
        whole = str(int(value))
        significant = 10.0 ** (len(whole) - len(whole.rstrip("0")))
    return last, significant


def _literals(text: str) -> list[Numeral]:
    found = []
    for m in _LITERAL.finditer(text):
        digits = m["digits"]
        if len(digits) > MAX_DIGITS or (digits == "10" and _POWER.match(text, m.end())):
            continue
        values = _values(digits)
        last, significant = _precision(values[-1], digits) if values else (1.0, 1.0)
        if m["fraction"] and values:
            part = unicodedata.numeric(m["fraction"].strip())
            values = tuple(v + part for v in values)
            last = significant = 0.01
        if m["sign"]:
            values = tuple(-v for v in values)
        numeral = Numeral(
            m.start(), m.end(), values, digits, last, significant, ambiguous=len(values) > 1
        )
        scale = _SCALE.match(text, m.end())
        if scale and values and (scale["word"] or scale["letter"] in _ATTACHED):
            factor = SCALES[scale["word"].lower()] if scale["word"] else _ATTACHED[scale["letter"]]
            # Nobody writes 1.200 million for 1200 million.
            numeral.values, numeral.ambiguous = values[:1], False
            numeral.rescale(factor)
            numeral.end = scale.end()
        found.append(numeral)
    return found


class _Token:
    """A word as text2num wants it."""

    def __init__(self, word: str, start: int, apart: bool) -> None:
        self.word = word
        self.start = start
        self._apart = apart

    def text(self) -> str:
        return self.word

    def nt_separated(self, previous: _Token) -> bool:  # noqa: ARG002
        return self._apart

    def not_a_number_part(self) -> bool:
        return not self.word.isalpha() and self.word != "-"


def _spelt(text: str) -> list[Numeral]:
    from text_to_num import find_numbers

    tokens: list[_Token] = []
    end = 0
    for m in _WORD.finditer(text):
        tokens.append(_Token(m[0], m.start(), m.start() - end > 1))
        end = m.end()
    found = []
    for number in find_numbers(tokens, "en", threshold=0.0):
        words = tokens[number.start : number.end]
        start, last = words[0].start, words[-1]
        if (
            len(words) == 1
            and last.word.lower().removesuffix("s") in SCALES
            and last.word[-1] == "s"
        ):
            # "Millions of people" has no number.
            continue
        value = float(number.value)
        exact, significant = _precision(value, "" if value.is_integer() else str(value))
        numeral = Numeral(
            start, last.start + len(last.word), (value,), "", exact, significant,
            ordinal=bool(number.is_ordinal), in_words=True,
        )  # fmt: skip
        if words[-1].word.lower() in SCALES and value >= 1000:
            scale = SCALES[words[-1].word.lower()]
            numeral.last = numeral.scale = scale
        found.append(numeral)
    return found


_DOZEN = re.compile(r"[ -]dozen\b", re.IGNORECASE)
_WITH_ARTICLE = re.compile(
    r"\b(?:(?P<half>half a)|an?) dozen\b|\bhalf a (?P<half_scale>million|billion|thousand)\b"
    r"|\ba (?P<scale>million|thousand|hundred|billion)\b(?! and)"
    # "It lasted a decade" is ten years, "twice a year" and "in a way" are no quantity.
    r"|\b(?:for|last(?:s|ed|ing)?|takes?|took|within|about|over|than|least|most|nearly|almost|"
    r"exactly|after) (?P<one>an?)"
    r"(?= (?:century|decade|year|month|fortnight|week|day|hour|minute)\b)"
    r"|\b(?P<half_of>(?:half|(?P<quarters>a|three) quarters? of) an?)"
    r"(?= (?:century|decade|year|hour|minute|mile|litre|pint)\b)",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"(?<!first )(?<!second )(?<!latter )\b(?:(?:(?P<half>half)|(?P<count>an?|one|two|three|four)"
    r"[ -](?P<part>third|quarter|fifth|tenth)s?)(?= of (?!(?:\w+ )?\d)| the )"
    r"|(?<!and a )(?P<weak>half)\b)",
    re.IGNORECASE,
)
_PART_OF = {"half": 0.5, "a": 0.25, "three": 0.75}
_COUNTS = {"two": 2, "three": 3, "four": 4}
_PARTS = {"third": 3, "quarter": 4, "fifth": 5, "tenth": 10}
AND_A_HALF = re.compile(r"\s+and\s+a\s+half\b(?P<scale>\s+(?:million|billion))?", re.IGNORECASE)


def find_numerals(text: str) -> list[Numeral]:
    """Numbers of a text in order, none within another."""
    found: list[Numeral] = []
    for m in _WITH_ARTICLE.finditer(text):
        name = m.lastgroup or ""
        if name in ("one", "half_of"):
            value = 1.0 if name == "one" else _PART_OF[(m["quarters"] or "half").lower()]
        elif m["half_scale"]:
            value = SCALES[m["half_scale"].lower()] / 2
        elif m["scale"]:
            value = SCALES[m["scale"].lower()]
        else:
            value = 6.0 if m["half"] else 12.0
        significant = value if m["scale"] else max(1.0, value / 5) if m["half_scale"] else 1.0
        start = m.start(name) if name in ("one", "half_of") else m.start()
        found.append(
            Numeral(
                start, m.end(), (value,), "", significant, significant,
                in_words=True, weak=bool(m["quarters"]),
            )
        )  # fmt: skip
    whole = list(found)
    for m in _SHARE.finditer(text):
        if any(n.start < m.end() and m.start() < n.end for n in whole):
            continue
        share = 50.0
        if m["part"]:
            share = 100.0 * _COUNTS.get(m["count"].lower(), 1) / _PARTS[m["part"].lower()]
        weak = bool(m["weak"])
        found.append(Numeral(*m.span(), (share,), in_words=True, share=True, weak=weak))
    for numeral in [*_literals(text), *_spelt(text)]:
        if any(n.start < numeral.end and numeral.start < n.end for n in found):
            continue
        if half := AND_A_HALF.match(text, numeral.end):
            numeral.add_half()
            numeral.end = half.end()
            if half["scale"]:
                numeral.rescale(SCALES[half["scale"].strip().lower()])
        elif dozen := _DOZEN.match(text, numeral.end):
            numeral.values = tuple(v * 12 for v in numeral.values)
            numeral.end = dozen.end()
        found.append(numeral)
    return sorted(found, key=lambda n: n.start)
