"""Dates and times of day.

A date is the interval of the days it covers, on a calendar of twelve months
of 31 days, which keeps the order and lets years before the common era be
negative. So "March 2024" contains "14 March 2024". Own patterns: the parsers
that are to be had guess what is missing, and here it must stay missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from factcheck_local.pipeline.relation.quantities.values import Bound, Kind, Quantity, Reading

#: Days of a year of this calendar.
YEAR = 372
#: ``Quantity.unit`` of a date with a year, and of one without.
DATED, YEARLY = "dated", "yearly"

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_NAME = _MONTH.replace("?P<month>", "?:")
_DAY = r"(?<![\d.,])(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_FIRST = r"(?<![\w.,])(?P<first>[0-3]?\d)(?:st|nd|rd|th)?\s*(?:–|-|to|and)\s*"
_YEAR = r"(?P<year>[12]\d{3})(?![\d,.]\d|\w)"
_ERA = r"(?P<era>BCE|BC|CE|AD|B\.C\.(?:E\.)?|A\.D\.)(?!\w)"
_HALF_DAY = r"(?P<half>[aApP])\.?[mM]\b\.?"


def year_span(first: int, last: int | None = None) -> Reading:
    """The days from the start of one year to the end of another."""
    return (first * YEAR, (first if last is None else last) * YEAR + YEAR - 1)


def _span(year: int, month: int | None, day: int | None) -> Reading | None:
    if month is None:
        return year_span(year)
    if not (1 <= month <= 12 and (day is None or 1 <= day <= 31)):
        return None
    start = year * YEAR + (month - 1) * 31
    return (start, start + 30) if day is None else (start + day - 1, start + day - 1)


def _written(m: re.Match[str]) -> tuple[Reading, ...]:
    """A date with a named or ISO month; without a year it lies in year 0."""
    part = m.groupdict()
    name = part["month"]
    month = int(name) if name.isdigit() else _MONTHS.index(name[:3].lower()) + 1
    day = part.get("day")
    span = _span(int(part.get("year") or 0), month, int(day) if day else None)
    return (span,) if span else ()


def _days(m: re.Match[str]) -> tuple[Reading, ...]:
    """27 to 31 December, with or without a year."""
    last = _written(m)
    start = int(m["first"])
    if not last or not 1 <= start < int(m["day"]):
        return ()
    return ((last[0][0] - int(m["day"]) + start, last[0][1]),)


def _listed(m: re.Match[str]) -> tuple[Reading, ...]:
    """In July and August: each of the months."""
    names = re.findall(r"[A-Z][a-z]{2}", m[0])
    spans = (_span(0, _MONTHS.index(name.lower()) + 1, None) for name in names)
    return tuple(span for span in spans if span)


def _numeric(m: re.Match[str]) -> tuple[Reading, ...]:
    """03/04/2024: day first or month first, as far as either exists."""
    a, b, year = int(m["a"]), int(m["b"]), int(m["year"])
    if len(m["year"]) == 2:
        year += 2000 if year < 50 else 1900
    found = {_span(year, b, a), _span(year, a, b)} - {None}
    return tuple(sorted(s for s in found if s))


def _quarter(m: re.Match[str]) -> tuple[Reading, ...]:
    start = int(m["year"]) * YEAR + (int(m["quarter"]) - 1) * 93
    return ((start, start + 92),)


def _decade(m: re.Match[str]) -> tuple[Reading, ...]:
    year = int(m["year"])
    # "The 1800s" may be a century as well as a decade.
    return (year_span(year, year + (99 if year % 100 == 0 else 9)),)


def _short_range(m: re.Match[str]) -> tuple[Reading, ...]:
    first, last = int(m["year"]), int(m["year"][:2] + m["last"])
    return (year_span(first, last),) if last > first else ()


def _with_era(m: re.Match[str]) -> tuple[Reading, ...]:
    return (year_span(int(m["n"]) * (-1 if m["era"].startswith("B") else 1)),)


def century_span(number: int, before_common_era: bool) -> Reading:
    """The years of a century; 1800 counts as the nineteenth, as most people do."""
    if before_common_era:
        return year_span(-100 * number, -100 * (number - 1))
    return year_span(100 * (number - 1), 100 * number)


_Parser = Callable[[re.Match[str]], tuple[Reading, ...]]
_DATES: tuple[tuple[re.Pattern[str], _Parser, str], ...] = tuple(
    (re.compile(pattern), parser, unit)
    for pattern, parser, unit in (
        (r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?![\d-])", _written, DATED),
        (rf"{_FIRST}{_DAY}\s+{_MONTH}(?:\s*,)?\s+{_YEAR}", _days, DATED),
        (rf"{_FIRST}{_DAY}\s+{_MONTH}(?!,?\s+[12]\d{{3}})", _days, YEARLY),
        (rf"{_DAY}(?:\s+of)?[ -]{_MONTH}(?:\s*,)?[ -]*{_YEAR}", _written, DATED),
        (rf"\b{_MONTH}\s+{_DAY}(?:\s*,\s*|\s+){_YEAR}", _written, DATED),
        (rf"\b{_MONTH}(?:\s*,|\s+of)?\s+{_YEAR}", _written, DATED),
        (rf"{_DAY}(?:\s+of)?\s+{_MONTH}", _written, YEARLY),
        (rf"\b{_MONTH}\s+{_DAY}(?![\d:,.]\d|\w|\s*(?:[ap]\.?m\b|%|per))", _written, YEARLY),
        (
            rf"(?<=\b[iI]n |\b[bB]y ){_NAME}(?:(?:,| and| or|, and| or) {_NAME})+(?!\s+\d)",
            _listed,
            YEARLY,
        ),
        (rf"(?<=\b[iI]n |\b[bB]y ){_MONTH}(?!\s+\d)", _written, YEARLY),
        (rf"(?<=\b[sS]ince |\b[uU]ntil |\b[eE]very ){_MONTH}(?!\s+\d)", _written, YEARLY),
        (
            r"(?<![\w./])(?P<a>\d{1,2})(?P<sep>[/.])(?P<b>\d{1,2})(?P=sep)(?P<year>\d{4}|\d\d)"
            r"(?![\w/]|\.\d)",
            _numeric,
            DATED,
        ),
        (rf"\bQ(?P<quarter>[1-4])\s+(?:of\s+)?{_YEAR}", _quarter, DATED),
        (r"(?<![\w.,])(?P<year>[12]\d\d0)(?:s| ?['’]s)\b", _decade, DATED),
        (r"(?<![\w.,-])(?P<year>[12]\d{3})[–/-](?P<last>\d\d)(?![\w-])", _short_range, DATED),
        (rf"(?<![\w.,])(?P<n>\d{{1,4}})\s*{_ERA}", _with_era, DATED),
        (r"\b(?P<era>AD)\s+(?P<n>\d{1,4})\b", _with_era, DATED),
    )
)

_SMALL = {"quarter": 15, "half": 30, "twenty": 20, "ten": 10, "five": 5}
_HOURS = {
    word: hour
    for hour, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), 1
    )
}


def _clock(m: re.Match[str]) -> tuple[Reading, ...]:
    """09:30, 9.30 pm, 9 am; without "am" a small hour is either half of the day."""
    part = m.groupdict()
    hour, minute = int(part["hour"]), int(part.get("minute") or 0)
    half = (part.get("half") or "").lower()
    if hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
        return ()
    if half:
        return _at(hour % 12 + (12 if half == "p" else 0), minute)
    if part["hour"].startswith("0") or hour in (0, *range(13, 25)):
        return _at(hour % 24, minute)
    return _at(hour % 12, minute) + _at(hour % 12 + 12, minute)


def _at(hour: int, minute: int) -> tuple[Reading, ...]:
    at = 60 * hour + minute
    return ((at, at),)


def _spoken(m: re.Match[str]) -> tuple[Reading, ...]:
    minute = _SMALL[m["part"].lower()] * (1 if m["way"].lower() == "past" else -1)
    at = (60 * (_HOURS[m["hour"].lower()] % 12) + minute) % 720
    return ((at, at), (at + 720, at + 720))


def _named(m: re.Match[str]) -> tuple[Reading, ...]:
    return _at(12 if m[0].lower() == "noon" else 0, 0)


_TIMES: tuple[tuple[re.Pattern[str], _Parser], ...] = tuple(
    (re.compile(pattern), parser)
    for pattern, parser in (
        (rf"(?<![\w.,:])(?P<hour>\d{{1,2}})[:.](?P<minute>[0-5]\d)\s*{_HALF_DAY}", _clock),
        (rf"(?<![\w.,:])(?P<hour>\d{{1,2}})\s*{_HALF_DAY}", _clock),
        (r"(?<![\w.,:])(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?![:\d])(?: ?h\b)?", _clock),
        (
            rf"(?i)\b(?:a )?(?P<part>{'|'.join(_SMALL)})[ -](?P<way>past|to)[ -]"
            rf"(?P<hour>{'|'.join(_HOURS)})\b",
            _spoken,
        ),
        (r"(?i)\b(?:noon|midnight)\b", _named),
    )
)


def find_dates(text: str) -> list[Quantity]:
    """Dates and times of a text, without years that stand alone."""
    found: list[Quantity] = []
    rest = text
    for pattern, parser, kind, unit in (
        *((p, f, Kind.DATE, u) for p, f, u in _DATES),
        *((p, f, Kind.TIME, "") for p, f in _TIMES),
    ):
        for match in pattern.finditer(rest):
            readings = parser(match)
            if not readings:
                continue
            start, end = match.span()
            # A closing stop is the sentence's, except in "a.m.".
            end -= match[0].endswith(".") and kind is Kind.DATE
            ambiguous = kind is Kind.DATE and len(readings) > 1
            bound = Bound.RANGE if parser in (_short_range, _days) else Bound.NONE
            found.append(
                Quantity(
                    text[start:end], start, end, kind, unit, readings,
                    bound=bound, ambiguous=ambiguous, inner=(start, end),
                )
            )  # fmt: skip
            rest = rest[:start] + "\x00" * (end - start) + rest[end:]
    return found
