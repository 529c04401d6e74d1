"""Numerals become quantities: the unit, the noun, and what is only a name."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from factcheck_local.pipeline.relation.quantities import context
from factcheck_local.pipeline.relation.quantities.dates import DATED, century_span, year_span
from factcheck_local.pipeline.relation.quantities.numerals import AND_A_HALF, Numeral
from factcheck_local.pipeline.relation.quantities.units import Unit, currency, unit_of
from factcheck_local.pipeline.relation.quantities.values import Kind, Quantity, Reading

_MONEY_BEFORE = re.compile(
    r"(?P<sign>(?:US|AU|CA|HK|NZ|[ARC])?\$|[€£¥₹₩₽₺₿]|\b[A-Z]{3})[ \u00a0]?$"
)
_MONEY_SCALE = re.compile(r"[ \u00a0]?(?:m|mio)\b\.?")
_LINK = r"(?:[ \u00a0]|-| - )?"
_UNIT = re.compile(
    rf"{_LINK}(?:(?:calendar|consecutive|full|whole|additional|more|extra|paid|further|"
    r"separate|straight|long|short|solid|unpaid|fully[ -]paid)[ -])*"
    r"(?P<two>(?:square|cubic|sq\.?|percentage)[ -])?"
    r"(?P<word>%|[€£$¥]|[°º]\s?[CF]\b|[A-Za-zµμ]+(?:/[a-z]+)?[²³]?2?)(?![\w])"
)
_PER_CENT = re.compile(r"\s*per[ -]cent(?:age)?\b")
#: "seven (7) years"
_AGAIN = re.compile(r"[ \u00a0]?\(\d{1,3}\)")
#: "5 ft 11 in", "5 foot 11": behind feet "in" is a unit, and often left out.
_INCHES = re.compile(
    r"(?:\.?[ \u00a0]+|-)(?P<whole>1[01]|\d)(?P<part>[½¼¾])?(?:[ \u00a0-]?in\b\.?"
    r"|(?:(?<=foot-\d)|(?<=foot-1\d))(?![\w-])"
    r"|(?=[ \u00a0]?(?:tall|high|long|wide|deep)\b|\s*(?:[.,;:)](?!\d)|$)))"
)
_AGE = re.compile(r"\b(?:aged?|ages|age of)\s$", re.IGNORECASE)
_OLD = re.compile(r"[ -](?:years?|months?|weeks?|days?)[ -]olds?\b", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")
_CENTURY = re.compile(r"[ -](?:century|centuries)\b(?P<before>\s+(?:BCE?|B\.C\.))?", re.IGNORECASE)
_VERSION = re.compile(
    r"(?:(?P<product>[\w.+#-]+)\s+)?\b(?:version|release|firmware|ver\.?)\s"
    r"(?:v?\d+(?:\.\d+)+\s?(?:–|-|to)\s?)?$|\bv\.?\s?$",
    re.IGNORECASE,
)
#: "Weight 3.5 to 4.2 kg": the unit stands behind the second.
_TO_ANOTHER = re.compile(r"^\s?(?:–|—|-|to\s)\s?\d[\d.,]*")
#: "Python 3.8 to 3.11": the second is a version, too.
_RANGE_OF = re.compile(r"\b(?P<product>[A-Z][\w.+#-]*) \d+\.\d+(?: ?[–-] ?| to )$")
_YEAR_BEFORE = re.compile(
    r"(?:\b(?:in|since|of|by|until|till|from|during|to|the|year|early|mid|late|between|and|before|"
    r"after|around|about|circa|fiscal|summer|winter|spring|autumn|fall|through|or|as|is an?|"
    r"was an?|its|his|her|their)|[(,;–—/-])[ -]?$",
    re.IGNORECASE,
)
_BARE_JOIN = re.compile(r"\s*(?:–|—|--?|to|through|and|or|,)\s*(?:and\s+|or\s+)?", re.IGNORECASE)
_DASH = re.compile(r"\s*(?:–|—|-|to)\s*")
_NAMELESS_ONE = re.compile(
    r"\b(?:no|every|any|some|each|this|that|another|the|only|which|for)[ -]$", re.IGNORECASE
)
#: "One day he left" and "on one hand" count nothing.
_FIGURATIVE = frozenset("day night morning time side hand thing way point person".split())


@dataclass(slots=True)
class _Draft:
    """A numeral with the unit found for it, before units are shared."""

    numeral: Numeral
    start: int
    end: int
    unit: Unit | None = None
    noun: str = ""
    rate: str = ""
    weak: bool = False
    done: Quantity | None = None

    @property
    def is_bare(self) -> bool:
        return self.done is None and self.unit is None and not self.noun


def interpret(text: str, masked: str, numerals: list[Numeral]) -> list[Quantity]:
    """Quantities of the numerals, in order.

    Args:
        text: As written.
        masked: The same with names and dates filled.
        numerals: Found in ``masked``.
    """
    drafts: list[_Draft] = []
    for i, numeral in enumerate(numerals):
        # "5 second" is taken up by the unit before.
        if not drafts or numeral.start >= drafts[-1].end:
            # What "the first four weeks" counts is the four's.
            end = numerals[i + 1].start if numeral.ordinal and i + 1 < len(numerals) else None
            drafts.append(_draft(text, masked[:end], numeral))
    for draft, following in zip(drafts[-2::-1], drafts[:0:-1], strict=True):
        _inherit(masked, draft, following)
        _inherit_sign(masked, draft, following)
    return [_finished(text, d) for d in drafts]


def _draft(text: str, masked: str, n: Numeral) -> _Draft:
    if n.in_words and (again := _AGAIN.match(text, n.end)):
        n.end = again.end()
    before, after = masked[max(0, n.start - 40) : n.start], masked[n.end : n.end + 80]
    draft = _Draft(n, n.start, n.end, weak=n.weak)
    if n.share:
        draft.unit = unit_of("%")
        return draft
    if version := _version(text, before, after, n):
        draft.done = version
        return draft
    if n.values and (n.ordinal or (not n.in_words and _ORDINAL.match(after))):
        _as_ordinal(text, draft, after)
        return draft
    if money := _MONEY_BEFORE.search(before):
        draft.unit = currency(money["sign"])
    if draft.unit:
        draft.start -= len(before) - money.start() if money else 0
        if n.scale == 1 and (scale := _MONEY_SCALE.match(after)):
            n.rescale(1e6)
            draft.end += scale.end()
    else:
        _read_unit(draft, before, after)
    if n.in_words and masked[n.start].isupper() and not context.starts_sentence(before):
        # The Hundred Years' War, Big Ten.
        draft.weak = True
    if draft.unit:
        draft.rate, length = context.rate_of(before, masked[draft.end : draft.end + 40])
        draft.end += length
        return draft
    if year := _year(text, before, after, n):
        draft.done = year
        return draft
    _read_noun(draft, masked, before)
    draft.rate, _ = context.rate_of("", masked[draft.end : draft.end + 40])
    return draft


def _read_unit(draft: _Draft, before: str, after: str) -> None:
    """Finds a unit after the number and sets the draft's end behind it."""
    at = context.bound_after(after)
    if per_cent := _PER_CENT.match(after, at):
        draft.unit = unit_of("%")
        draft.end += per_cent.end()
    elif match := _UNIT.match(after, at):
        word = re.sub(r"\s", "", match["word"])
        # "30s" is a decade, "5 m" no million.
        attached = match.end() == len(match["word"])
        if match["two"]:
            draft.unit = unit_of(f"{match['two'].strip(' -')} {word}")
        elif not (attached and word == "s"):
            draft.unit = unit_of(word) or unit_of(word.partition("/")[0])
            if draft.unit and "/" in word and not unit_of(word):
                word = word.partition("/")[0]
        if draft.unit:
            draft.end += match.start("word") + len(word)
            if old := _OLD.match(after, 0):
                draft.end = max(draft.end, draft.numeral.end + old.end())
            if half := AND_A_HALF.match(after, draft.end - draft.numeral.end):
                # "an hour and a half"
                draft.numeral.add_half()
                draft.end = draft.numeral.end + half.end()
            elif draft.unit.label == "foot" and (
                more := _INCHES.match(after, draft.end - draft.numeral.end)
            ):
                part = unicodedata.numeric(more["part"]) if more["part"] else 0.0
                draft.numeral.add_inches(int(more["whole"]) + part)
                draft.end = draft.numeral.end + more.end()
    if draft.unit is None and _AGE.search(before):
        draft.unit = unit_of("years")


def _read_noun(draft: _Draft, masked: str, before: str) -> None:
    n = draft.numeral
    after = masked[n.end : n.end + 80]
    rest = after[context.bound_after(after) :]
    if rest[:1].isalpha():
        # 3D, 737s: letters that are no unit make it a name.
        draft.weak = True
        return
    draft.noun, phrase = context.counted_noun(rest)
    draft.end += len(after) - len(rest) + len(phrase) if draft.noun else 0
    previous = context.word_before(before)
    plural = bool(phrase) and context.is_plural(phrase.split()[-1])
    starts = context.starts_sentence(before)
    if n.in_words:
        capital = masked[n.start].isupper() and starts
        draft.weak |= capital and phrase.lstrip(" -")[:1].isupper()
        if n.values == (1.0,):
            draft.weak |= not draft.noun or draft.noun in _FIGURATIVE
            draft.weak |= bool(_NAMELESS_ONE.search(before))
        return
    named = previous[:1].isupper() and bool(context.stem(previous))
    alone = context.starts_sentence(before[: len(before) - len(previous) - 1])
    draft.weak = (named and not (alone and plural)) or phrase.lstrip(" -")[:1].isupper()
    if masked[draft.start - 1 : draft.start] == "'" or masked[draft.start - 1 : draft.start] == "’":
        draft.weak = True


def _as_ordinal(text: str, draft: _Draft, after: str) -> None:
    n = draft.numeral
    suffix = 0 if n.in_words else 2
    if century := _CENTURY.match(after, suffix):
        span = century_span(int(n.values[0]), bool(century["before"]))
        end = n.end + century.end()
        draft.end = end
        draft.done = Quantity(
            text[n.start : end], n.start, end, Kind.DATE, DATED, (span,), inner=(n.start, end)
        )
        return
    noun, phrase = context.counted_noun(after[suffix:])
    end = n.end + suffix + len(phrase)
    value = n.values[0]
    draft.end = end
    # "First" is an adverb as often as a number.
    weak = not noun or (n.in_words and value <= 2)
    draft.done = Quantity(
        text[n.start : end], n.start, end, Kind.ORDINAL, noun, ((value, value),),
        weak=weak, inner=(n.start, n.end),
    )  # fmt: skip


def _version(text: str, before: str, after: str, n: Numeral) -> Quantity | None:
    """A version: dotted three times, announced, or right behind a product's name."""
    if n.in_words or n.scale != 1:
        return None
    parts = n.digits.split(".")
    announced = _VERSION.search(before)
    product = ""
    if announced:
        product = announced["product"] or ""
    elif not n.is_version:
        span = _RANGE_OF.search(before)
        product = span["product"] if span else context.word_before(before)
        noun, phrase = context.counted_noun(after)
        if (
            len(parts) != 2
            or not product[:1].isupper()
            or not context.stem(product)
            or (noun and context.is_plural(phrase.split()[-1]))
            or ((unit := _UNIT.match(_TO_ANOTHER.sub("", after))) and unit_of(unit["word"]))
        ):
            return None
    if not all(p.isdigit() for p in parts) or len(parts) > 4:
        return None
    low = sum(int(p) / 10.0 ** (4 * i) for i, p in enumerate(parts))
    high = low + 10.0 ** (-4 * (len(parts) - 1)) - 1e-13
    return Quantity(
        text[n.start : n.end], n.start, n.end, Kind.VERSION,
        context.stem(product) if product[:1].isupper() else "",
        ((low, high),), inner=(n.start, n.end),
    )  # fmt: skip


def _year(text: str, before: str, after: str, n: Numeral) -> Quantity | None:
    if n.scale != 1 or len(n.digits) != 4 or not n.digits.isdigit():
        return None
    year = int(n.digits)
    if not 1000 <= year <= 2100 or after[:1].isalpha():
        return None
    announced = bool(_YEAR_BEFORE.search(before))
    noun, phrase = context.counted_noun(after)
    word = phrase.split()[0] if phrase.split() else ""
    if noun and word.islower() and context.is_plural(word) and not announced:
        return None
    previous = context.word_before(before)
    # Blade Runner 2049 is no date; "the 1500 employees" may be a number.
    doubtful = not announced and previous[:1].isupper() and bool(context.stem(previous))
    doubtful |= announced and word.islower() and context.is_plural(word) and year < 1800
    return Quantity(
        text[n.start : n.end], n.start, n.end, Kind.DATE, DATED, (year_span(year),),
        weak=doubtful, inner=(n.start, n.end),
    )  # fmt: skip


def _inherit(masked: str, draft: _Draft, following: _Draft) -> None:
    """Gives "7" in "7 and 6 games" the unit of what it is joined to."""
    if not draft.is_bare or following.done or following.weak:
        return
    if draft.weak and not following.unit:
        return
    # "Weight 3.5 to 4.2 kg" is no name, "Model 3, 4.2 kg" has one.
    link = _DASH if draft.weak else _BARE_JOIN
    if not link.fullmatch(masked, draft.numeral.end, following.start):
        return
    draft.unit, draft.noun, draft.rate = following.unit, following.noun, following.rate
    draft.weak = False
    _share_scale(draft.numeral, following.numeral)


def _inherit_sign(masked: str, draft: _Draft, following: _Draft) -> None:
    """Gives "10 million" in "$5–10 million" the currency of the first."""
    if draft.unit is None or draft.unit.kind is not Kind.MONEY or draft.done or following.done:
        return
    if following.unit is None and _DASH.fullmatch(masked, draft.end, following.start):
        following.unit, following.weak = draft.unit, False
        following.end = following.numeral.end
        _share_scale(draft.numeral, following.numeral)


def _share_scale(mine: Numeral, theirs: Numeral) -> None:
    """Makes "5" in "5 to 10 million" as large; in "800 to 2 thousand" it is complete."""
    smaller = mine.values and theirs.values and mine.values[0] < theirs.values[0] / theirs.scale
    if mine.scale == 1 and theirs.scale > 1 and smaller:
        mine.rescale(theirs.scale)


def _finished(text: str, draft: _Draft) -> Quantity:
    if draft.done:
        return draft.done
    n, unit = draft.numeral, draft.unit
    factors = unit.factors if unit else (1.0,)
    offset = unit.offset if unit else 0.0
    readings: tuple[Reading, ...] = tuple((v * f + offset,) * 2 for f in factors for v in n.values)
    # A scale word or decimals show where a number was cut; other integers are taken as exact.
    rounded = n.scale != 1 or n.last < 1 or (n.values[-1:] >= (1e4,) and n.significant >= 1000)
    last = n.last if n.scale != 1 or n.last < 1 else min(n.significant, 1000.0)
    return Quantity(
        text[draft.start : draft.end],
        draft.start,
        draft.end,
        unit.kind if unit else Kind.NUMBER,
        unit.dimension if unit else draft.noun,
        readings,
        label=unit.label if unit else "",
        rounding=last / 2 * factors[0] if rounded else 0.0,
        step=n.significant / 2 * factors[0],
        ambiguous=n.ambiguous,
        weak=draft.weak or not readings,
        rate=draft.rate,
        inner=(n.start, n.end),
    )
