"""Numbers and dates as the format of a workbook's cell or a chart's values shows them."""

from __future__ import annotations

import datetime
import re
from decimal import ROUND_HALF_UP, Context, Decimal

from openpyxl.styles.numbers import is_date_format

#: Digits of a number; those behind them are noise.
MAX_DIGITS = 15

#: Characters of a number's format, as Excel has them.
MAX_FORMAT = 255

# A part of a number's format: zeros for its digits, and around them what is shown as it is.
_AROUND = r'(?:"[^"]*"|\\.|\[\$[^\]]*\]|[_*].|[-+()%$€£¥ \u00a0])*'
_FORMAT = re.compile(
    r"(?:\[[A-Za-z]+\d*\])?"  # a colour
    rf"(?P<before>{_AROUND})(?P<whole>#,##0|#*0{{1,15}})(?:\.(?P<places>0{{1,15}}))?(?P<after>{_AROUND})"
)
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|[_*].|(.)')
_QUOTED = re.compile(r'"[^"]*"|\\.')
_AS_SHOWN = Context(prec=4 * MAX_DIGITS, rounding=ROUND_HALF_UP)


def formatted(value: float, number_format: str) -> str:
    """A number by its format: places, thousands, percent, and the text around it.

    Args:
        value: the number; with a format that has more to it, it stays as it is stored,
            but is in percent if that is.
        number_format: as the file has it; its second part is that of negative numbers.
    """
    raw = f"{value:.{MAX_DIGITS}g}" if isinstance(value, float) else str(value)
    number = Decimal(raw)
    if not number.is_finite() or number.adjusted() >= MAX_DIGITS:
        return raw
    parts = number_format[:MAX_FORMAT].split(";")
    own = number < 0 and len(parts) > 1
    percent = "%" in _QUOTED.sub("", parts[own])
    stored = f"{number.scaleb(2).normalize():f}%" if percent else raw
    found = _FORMAT.fullmatch(parts[own])
    if found is None:
        return stored
    before, after = _literal(found["before"]), _literal(found["after"])
    if own and not {"-", "("} & {*before} and any(map(str.isalpha, before + after)):
        return stored  # it may be the words that say that it is negative
    if own:  # which also brackets or a colour say, but not to a model
        before, after = before.strip("- ("), after.rstrip(") ")
    places = len(found["places"] or "")
    shown = abs(number.scaleb(2 * percent)).quantize(Decimal(1).scaleb(-places), context=_AS_SHOWN)
    whole = f"{shown:,f}" if "," in found["whole"] else f"{shown:f}"
    digits = whole.zfill(found["whole"].count("0") + places + (places > 0))
    sign = "-" if number < 0 and shown else ""
    return f"{sign}{before}{digits}{after}".strip()


def is_date(number_format: str) -> bool:
    """Whether a format is one of dates or times, and no word for "General": "Standard", say."""
    word = number_format.lower() if number_format.isalpha() else ""
    return is_date_format(number_format) and {*word} <= {*"dmyhs"}


def iso(value: datetime.date | datetime.time) -> str:
    """A date or time in ISO 8601; midnight is a day."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return value.isoformat()


def _literal(part: str) -> str:
    """What stands before or behind the digits, without what only moves it about."""
    return "".join(text for found in _LITERAL.findall(part) for text in found)
