"""Units of measure and currencies by the word that follows or precedes a number.

pint knows the names, plurals, prefixes and factors. What is left here is
which of its names a text means as a unit: to pint "in" is an inch and "pm" a
picometre, to a reader they rarely are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from factcheck_local.pipeline.relation.quantities.values import Kind


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit and how it is brought to the base of its dimension.

    Attributes:
        kind: Measure, money or percent.
        dimension: Units of one dimension are comparable.
        label: Canonical name.
        factors: Base units in one of it; a second where usage is divided, as
            for GB (10⁹ or 2³⁰ bytes) and gallons.
        offset: Base units at its zero, for temperatures.
    """

    kind: Kind
    dimension: str
    label: str
    factors: tuple[float, ...] = (1.0,)
    offset: float = 0.0


#: Units by pint's canonical name that a reader takes for one, in any form of 3 letters or more.
_READABLE = frozenset(
    "meter inch foot yard mile nautical_mile light_year gram pound ounce ton metric_ton carat "
    "second minute hour day week fortnight month year century byte bit watt watt_hour volt "
    "ampere ohm hertz joule calorie newton pascal pound_force_per_square_inch liter gallon pint "
    "acre hectare degree_Celsius degree_Fahrenheit kelvin mile_per_hour kilometer_per_hour knot "
    "horsepower lumen".split()
)
#: Short forms, which are case-sensitive.
_SYMBOLS = frozenset(
    "m g s h km cm mm nm kg mg µg μg ft mi lb oz yd kW MW GW TW W kV V Hz ms ns µs μs ml mL cl dl "
    "L l ha kJ MJ Pa °C °F yr hr B kB MB GB TB PB KiB MiB GiB TiB kbit Mbit Gbit kHz MHz GHz THz "
    "hPa kPa mW".split()
)
#: Words that are units to pint and mostly something else in a text.
_NOT_UNITS = frozenset("pint pints bits".split())
_ALIASES = {
    "Kbps": "kilobit/second",
    "kbps": "kilobit/second",
    "Mbps": "megabit/second",
    "Gbps": "gigabit/second",
    "Mbit/s": "megabit/second",
    "Gbit/s": "gigabit/second",
    "MB/s": "megabyte/second",
    "GB/s": "gigabyte/second",
    "km/h": "kilometer/hour",
    "kmh": "kilometer/hour",
    "kph": "kilometer/hour",
    "m/s": "meter/second",
    "kWh": "kilowatt_hour",
    "MWh": "megawatt_hour",
    "GWh": "gigawatt_hour",
    "TWh": "terawatt_hour",
    "kcal": "kilocalorie",
    "km2": "kilometer**2",
    "km²": "kilometer**2",
    "m2": "meter**2",
    "m²": "meter**2",
    "m3": "meter**3",
    "m³": "meter**3",
    "ºC": "degree_Celsius",
    "ºF": "degree_Fahrenheit",
    "wk": "week",
    "wks": "week",
    "kgs": "kilogram",
    "kms": "kilometer",
}
_BINARY = {"kilo": 1, "mega": 2, "giga": 3, "tera": 4, "peta": 5}
#: Customary second meanings, as factors of the first: short and metric tons, US and imperial.
_SECOND = {"ton": 1000 / 907.18474, "gallon": 4.54609 / 3.785411784}

#: Signs, codes and names. "Won" is left out: it is a verb more often.
_CURRENCIES = {
    name: code
    for code, names in {
        "USD": "$ US$ USD dollar dollars",
        "EUR": "€ EUR euro euros",
        "GBP": "£ GBP sterling",
        "JPY": "¥ JPY yen",
        "CNY": "CNY RMB yuan renminbi",
        "CHF": "CHF franc francs",
        "INR": "₹ INR rupee rupees",
        "AUD": "A$ AU$ AUD",
        "CAD": "C$ CA$ CAD",
        "HKD": "HK$ HKD",
        "NZD": "NZ$ NZD",
        "SEK": "SEK",
        "NOK": "NOK",
        "DKK": "DKK",
        "PLN": "PLN zloty zł",
        "CZK": "CZK",
        "BRL": "R$ BRL",
        "KRW": "₩ KRW",
        "RUB": "₽ RUB ruble rubles rouble roubles",
        "TRY": "₺ TRY lira",
        "ZAR": "ZAR rand",
        "BTC": "₿ BTC bitcoin bitcoins",
    }.items()
    for name in names.split()
}
_PERCENT = {
    "%": "%",
    "percent": "%",
    "percents": "%",
    "pct": "%",
    "percentage points": "points",
    "percentage point": "points",
}


@cache
def _registry() -> Any:  # noqa: ANN401
    import pint

    # The definitions ship with the package; nothing is written to disk.
    return pint.UnitRegistry(cache_folder=None)


def currency(symbol: str) -> Unit | None:
    """The currency of a sign, ISO code or name; a bare "$" is the US dollar."""
    code = _CURRENCIES.get(symbol)
    return Unit(Kind.MONEY, code, code) if code else None


@lru_cache(maxsize=4096)
def unit_of(words: str) -> Unit | None:
    """The unit that a word or two stand for, None for no unit.

    Args:
        words: As written: "weeks", "square kilometres", "GB", "%", "EUR".
    """
    if words.lower() in _PERCENT:
        name = _PERCENT[words.lower()]
        return Unit(Kind.PERCENT, name, name)
    if money := currency(words):
        return money
    power = 1
    head, _, tail = words.partition(" ")
    if tail:
        power = {"square": 2, "sq": 2, "cubic": 3}.get(head.lower().rstrip("."), 0)
        words = tail
    if not power or " " in words:
        return None
    return _measure(words, power)


def _measure(word: str, power: int) -> Unit | None:
    if word.lower() in ("decade", "decades") and power == 1:
        year = _measure("year", 1)
        return year and Unit(Kind.MEASURE, year.dimension, "decade", (10 * year.factors[0],))
    if word in _ALIASES:
        return _converted(_ALIASES[word], power, word)
    if word in _SYMBOLS:
        spelling = "kB" if word == "KB" else word
    elif len(word) > 2 and word.isalpha() and word.lower() not in _NOT_UNITS:
        # Abbreviations such as GiB keep their case, words do not need it.
        spelling = word if any(c.isupper() for c in word[1:]) else word.lower()
    else:
        return None
    # "Celsius" is a word in capitals to most writers; pint has it in lower case.
    names = _registry().parse_unit_name(spelling)
    for prefix, base, _ in names:
        # A prefix is spelt out with a name: "act" is no attocarat.
        if base in _READABLE and (word in _SYMBOLS or spelling.startswith(prefix)):
            return _converted(prefix + base, power, prefix + base, prefix, base)
    return None


def _converted(name: str, power: int, label: str, prefix: str = "", base: str = "") -> Unit:
    ureg = _registry()
    zero = ureg.Quantity(0, name).to_base_units()
    one = ureg.Quantity(1, name).to_base_units()
    factor = float(one.magnitude - zero.magnitude) ** power
    factors = [factor]
    if base == "byte" and prefix in _BINARY:
        factors.append(8.0 * 1024 ** _BINARY[prefix])
    if base in _SECOND:
        factors.append(factor * _SECOND[base] ** power)
    return Unit(
        Kind.MEASURE,
        str(one.units**power),
        label if power == 1 else f"{label}^{power}",
        tuple(factors),
        float(zero.magnitude),
    )
