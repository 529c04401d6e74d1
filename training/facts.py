"""Invented facts of organisations: rules, figures, dates, people, conditions.

A fact has a topic, a value and several wordings, so that a passage can say it
one way and a claim another, with the same value, another value, or about
somebody or something that the passage does not mention.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


def _amount(unit: str, low: int, high: int) -> Slot:
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


def _one_of(options: Sequence[str]) -> Slot:
    return lambda rng: (rng.choice(options),)


clock: Slot = lambda rng: (f"{rng.randint(6, 19)}:{rng.choice(['00', '15', '30', '45'])}",)  # noqa: E731
place, team = _one_of(PLACES), _one_of(TEAMS)
count = _amount("", 2, 40)


@dataclass(frozen=True, slots=True)
class Topic:
    """What can be said of a subject ``{s}`` with a value ``{v}``."""

    subjects: Sequence[str]
    value: Slot
    wordings: Sequence[str]
    denials: Sequence[str] = ()


def _products() -> list[str]:
    return [f"{p} {k}" for p in PRODUCTS for k in KINDS[:4]]


SITES = [f"the {p} site" for p in PLACES]
TOPICS = (
    Topic(
        ROLES,
        duration,
        (
            "The notice period for {s} is {v}.",
            "For {s}, the notice period is {v}.",
            "A contract with {s} can be ended with {v} notice.",
        ),
        ("No notice period applies to {s}.",),
    ),
    Topic(
        ROLES,
        _amount("days", 15, 35),
        (
            "{S} have {v} of annual leave.",
            "Annual leave for {s} is {v}.",
            "Each year, {s} can take {v} off.",
        ),
    ),
    Topic(
        ROLES,
        _amount("days", 2, 4),
        (
            "{S} may work from home {v} a week.",
            "Working from home is possible on {v} a week for {s}.",
            "Remote work: {v} per week for {s}.",
        ),
        ("{S} are not allowed to work from home.",),
    ),
    Topic(
        ROLES,
        duration,
        (
            "Probation for {s} lasts {v}.",
            "The probation period of {s} is {v}.",
            "{S} are on probation for the first {v}.",
        ),
        ("There is no probation period for {s}.",),
    ),
    Topic(
        ROLES,
        money,
        (
            "{S} receive an allowance of {v} a month.",
            "The monthly allowance for {s} is {v}.",
            "Every month {s} are paid an allowance of {v}.",
        ),
        ("{S} receive no allowance.",),
    ),
    Topic(
        ROLES,
        money,
        (
            "{S} may approve purchases of up to {v}.",
            "Purchases above {v} are beyond the authority of {s}.",
            "The approval limit of {s} is {v}.",
        ),
    ),
    Topic(
        ROLES,
        duration,
        (
            "{S} must repeat the safety training every {v}.",
            "Safety training for {s} is repeated every {v}.",
            "Every {v}, {s} have to take the safety training again.",
        ),
        ("Safety training is voluntary for {s}.",),
    ),
    Topic(
        RECORDS,
        duration,
        (
            "{S} are kept for {v}.",
            "The retention period for {s} is {v}.",
            "After {v}, {s} are destroyed.",
            "{S} must be stored for {v}.",
        ),
        ("{S} are not stored at all.",),
    ),
    Topic(
        RECORDS,
        team,
        ("{S} are kept by {v}.", "{v} stores {s}.", "Responsible for storing {s}: {v}."),
    ),
    Topic(
        RECORDS,
        team,
        ("{S} have to be approved by {v}.", "{v} approves {s}.", "Approval of {s} lies with {v}."),
        ("{S} need no approval.",),
    ),
    Topic(
        RECORDS,
        _amount("copies", 2, 9),
        ("{v} of {s} are made.", "Of {s}, {v} are made.", "There are {v} of {s}."),
    ),
    Topic(
        _products(),
        day,
        ("{S} was released on {v}.", "The release date of {s} was {v}.", "On {v}, {s} came out."),
        ("{S} has not been released yet.",),
    ),
    Topic(
        _products(),
        size,
        (
            "{S} needs at least {v} of memory.",
            "The memory required by {s} is at least {v}.",
            "With less than {v} of memory, {s} does not start.",
        ),
    ),
    Topic(
        _products(),
        version,
        (
            "The current version of {s} is {v}.",
            "{S} is now at version {v}.",
            "Version {v} is the latest release of {s}.",
        ),
    ),
    Topic(
        _products(),
        duration,
        (
            "The warranty on {s} is {v}.",
            "{S} comes with a warranty of {v}.",
            "{S} is under warranty for {v}.",
        ),
        ("{S} has no warranty.",),
    ),
    Topic(
        _products(),
        money,
        ("{S} costs {v}.", "The price of {s} is {v}.", "Customers pay {v} for {s}."),
        ("{S} is free of charge.",),
    ),
    Topic(
        _products(),
        percent,
        (
            "{S} accounts for {v} of revenue.",
            "{v} of revenue comes from {s}.",
            "The share of {s} in revenue is {v}.",
        ),
    ),
    Topic(
        _products(),
        person,
        ("{S} was designed by {v}.", "{v} designed {s}.", "The designer of {s} is {v}."),
    ),
    Topic(
        _products(),
        place,
        (
            "{S} is made in {v}.",
            "{v} is where {s} is made.",
            "Production of {s} takes place in {v}.",
        ),
    ),
    Topic(
        _products(),
        duration,
        (
            "Sessions of {s} expire after {v}.",
            "After {v}, a session of {s} ends.",
            "A session of {s} lasts {v}.",
        ),
        ("Sessions of {s} never expire.",),
    ),
    Topic(
        _products(),
        duration,
        (
            "{S} is backed up every {v}.",
            "A backup of {s} is made every {v}.",
            "Every {v} there is a backup of {s}.",
        ),
        ("{S} is not backed up.",),
    ),
    Topic(
        _products(),
        duration,
        (
            "{S} has to be serviced every {v}.",
            "Service of {s} is due every {v}.",
            "The service interval of {s} is {v}.",
        ),
    ),
    Topic(
        _products(),
        _amount("users", 20, 9000),
        (
            "{S} supports {v} at once.",
            "Up to {v} can work with {s} at the same time.",
            "The limit of {s} is {v}.",
        ),
    ),
    Topic(
        SITES,
        person,
        (
            "{S} is headed by {v}.",
            "{v} heads {s}.",
            "The head of {s} is {v}.",
            "{v} is in charge of {s}.",
        ),
    ),
    Topic(
        SITES,
        _amount("people", 20, 4000),
        ("{S} employs {v}.", "{v} work at {s}.", "At {s}, there are {v} on the payroll."),
    ),
    Topic(
        SITES,
        _one_of([str(y) for y in range(1921, 2020)]),
        (
            "{S} was opened in {v}.",
            "In {v}, {s} started operation.",
            "{S} has been in operation since {v}.",
        ),
        ("{S} has never been opened.",),
    ),
    Topic(
        SITES,
        clock,
        ("{S} opens at {v}.", "Opening time at {s} is {v}.", "From {v} on, {s} is open."),
    ),
    Topic(
        SITES,
        money,
        (
            "Lunch at {s} costs {v}.",
            "The price of lunch at {s} is {v}.",
            "At {s}, one pays {v} for lunch.",
        ),
        ("Lunch at {s} is free.",),
    ),
    Topic(
        SITES,
        duration,
        (
            "Fire drills at {s} are held every {v}.",
            "{S} has a fire drill every {v}.",
            "Every {v} there is a fire drill at {s}.",
        ),
        ("No fire drills are held at {s}.",),
    ),
    Topic(
        SITES,
        team,
        (
            "Visitors to {s} are registered by {v}.",
            "{v} registers visitors to {s}.",
            "Registering visitors to {s} is up to {v}.",
        ),
        ("Visitors to {s} are not registered.",),
    ),
    Topic(
        SITES,
        percent,
        (
            "Energy use at {s} fell by {v}.",
            "{S} used {v} less energy.",
            "A drop of {v} in energy use was reported for {s}.",
        ),
        ("Energy use at {s} did not fall.",),
    ),
    Topic(
        SITES,
        _amount("parking spaces", 12, 400),
        ("{S} has {v}.", "There are {v} at {s}.", "{v} are available at {s}."),
        ("{S} has no parking spaces.",),
    ),
)
CONDITIONS = (
    "If the contract ends early, ",
    "Outside working hours, ",
    "In an emergency, ",
    "With written consent, ",
    "During the first year, ",
    "For orders from abroad, ",
    "At weekends, ",
)
FILLERS = (
    "Questions about this page go to the intranet desk.",
    "Exceptions are decided case by case.",
    "See the annex for details.",
    "This section was last reviewed in spring.",
    "A form is available on the intranet.",
    "The rules apply to all locations.",
    "Further information is given in the appendix.",
    "Changes are announced by e-mail.",
    "The table below gives an overview.",
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A topic with a subject and a value, the value in several notations."""

    topic: Topic
    subject: str
    values: tuple[str, ...]

    def say(self, rng: random.Random, avoid: str = "") -> str:
        """One wording of the fact, another than ``avoid`` if possible."""
        told = [
            w.format(s=self.subject, S=_capital(self.subject), v=rng.choice(self.values).strip())
            for w in self.topic.wordings
        ]
        options = [_capital(t) for t in told if _capital(t) != avoid]
        return rng.choice(options or told)

    def row(self, rng: random.Random) -> str:
        """The fact as a row of a table."""
        return f"| {_capital(self.subject)} | {rng.choice(self.values).strip()} |"

    def but(self, rng: random.Random) -> Fact:
        """The same topic and subject with another value."""
        while True:
            values = self.topic.value(rng)
            if not set(values) & set(self.values):
                return Fact(self.topic, self.subject, values)

    def of_other(self, rng: random.Random) -> Fact:
        """The same topic and value, said of another subject."""
        others = [s for s in self.topic.subjects if s != self.subject]
        return Fact(self.topic, rng.choice(others), self.values)

    def denial(self, rng: random.Random) -> str | None:
        """A sentence that denies that there is such a thing."""
        if not self.topic.denials:
            return None
        return rng.choice(self.topic.denials).format(s=self.subject, S=_capital(self.subject))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def draw(rng: random.Random, topics: Sequence[Topic] = TOPICS, subject: str | None = None) -> Fact:
    """A random fact."""
    topic = rng.choice(topics)
    return Fact(topic, subject or rng.choice(topic.subjects), topic.value(rng))
