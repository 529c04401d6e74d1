"""Values of invented facts: each in the notations that mean the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta

Slot = Callable[[random.Random], tuple[str, ...]]

WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
FIRST = "Anna Marek Lena Tomas Ingrid Paulo Sofia Henrik Yara Colin Mira Jonas Priya Oskar Nadia Felix Ruth Emil Clara Hugo".split()
LAST = "Brandt Osei Lindqvist Moreau Kowal Ferrara Haddad Novak Sørensen Iyer Calder Weiss Okafor Duarte Vance Petrov Hale Romero Stein Akers".split()
PLACES = "Hamburg Lyon Porto Gdansk Bergen Leeds Turin Ghent Malmo Graz Brno Tampere Seville Basel Cork Utrecht".split()
PRODUCTS = "Talvo Brennix Calyra Nordel Ostara Pivora Quantel Rimmo Selvik Tarano Ulmex Vestra Wilmar Zendra Kestrel Lumio".split()
KINDS = "server;gateway;console;agent;sensor;scanner;portal;pump;valve;module".split(";")
ROLES = "engineers;managers;trainees;contractors;sales staff;field technicians;laboratory staff;part-time employees;team leads;interns".split(
    ";"
)
TEAMS = "the finance department;the legal team;the quality department;the works council;the IT help desk;human resources;the data protection officer;the site manager;the security team;the purchasing department".split(
    ";"
)
RECORDS = "invoices;audit reports;access logs;training records;customer contracts;incident reports;test results;payroll data;backup tapes;visitor lists".split(
    ";"
)


def _number(n: int) -> tuple[str, ...]:
    return (str(n), WORDS[n]) if 2 <= n <= 12 else (f"{n:,}", str(n)) if n >= 1000 else (str(n),)


def amount(unit: str, low: int, high: int) -> Slot:
    """A count of things, in figures or words."""

    def slot(rng: random.Random) -> tuple[str, ...]:
        n = rng.randint(low, high)
        return tuple(f"{word} {unit}" for word in _number(n))

    return slot


def duration(rng: random.Random) -> tuple[str, ...]:
    """A duration of hours to years, in each of the units that give a whole number."""
    kind = rng.choice(["h", "d", "w", "m", "y"])
    n = rng.randint(2, 12)
    if kind == "h":
        n = rng.choice([2, 4, 6, 8, 12, 24, 36, 48, 72])
        return (
            f"{n} hours",
            *([f"{n // 24} days", f"{WORDS[n // 24]} days"] if n % 24 == 0 and n > 24 else []),
        )
    if kind == "d":
        n = rng.choice([3, 5, 7, 10, 14, 21, 28, 30, 45, 60, 90])
        return (f"{n} days", *([f"{WORDS[n // 7]} weeks"] if n % 7 == 0 and n > 7 else []))
    if kind == "w":
        return (*(f"{w} weeks" for w in _number(n)), f"{7 * n} days")
    if kind == "m":
        n = rng.choice([2, 3, 4, 6, 9, 12, 18, 24])
        return tuple(f"{w} months" for w in _number(n)) + (
            (f"{WORDS[n // 12]} years",) if n == 24 else ()
        )
    return tuple(f"{w} years" for w in _number(n))


def day(rng: random.Random) -> tuple[str, ...]:
    """A date in the usual ways of writing it."""
    d = date(2008, 1, 1) + timedelta(days=rng.randrange(6500))
    return (f"{d.day} {d:%B %Y}", f"{d:%B} {d.day}, {d.year}", d.isoformat())


def person(rng: random.Random) -> tuple[str, ...]:
    """A person's name."""
    return (f"{rng.choice(FIRST)} {rng.choice(LAST)}",)


def money(rng: random.Random) -> tuple[str, ...]:
    """A sum in euros."""
    n = rng.choice([20, 35, 50, 80, 120, 250, 400, 750, 1000, 1500, 2500, 5000, 12000, 40000])
    return (f"{n:,} euros", f"EUR {n:,}", f"€{n:,}")


def percent(rng: random.Random) -> tuple[str, ...]:
    """A percentage."""
    n = rng.choice([2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 80, 90])
    return (f"{n} %", f"{n}%", f"{n} percent", f"{n} per cent")


def version(rng: random.Random) -> tuple[str, ...]:
    """A version number."""
    return (f"{rng.randint(1, 9)}.{rng.randint(0, 9)}",)


def size(rng: random.Random) -> tuple[str, ...]:
    """A size of memory or files."""
    n = rng.choice([2, 4, 8, 16, 32, 64])
    return (f"{n} GB", f"{n} gigabytes")


def one_of(options: Sequence[str]) -> Slot:
    """One of the given texts."""
    return lambda rng: (rng.choice(options),)


clock: Slot = lambda rng: (f"{rng.randint(6, 19)}:{rng.choice(['00', '15', '30', '45'])}",)  # noqa: E731
place, team = one_of(PLACES), one_of(TEAMS)
count = amount("", 2, 40)
