"""Invented facts of organisations: rules, figures, dates, people, conditions.

A fact has a topic, a value and several wordings, so that a passage can say it
one way and a claim another, with the same value, another value, or about
somebody or something that the passage does not mention.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from training.values import (
    KINDS,
    PLACES,
    PRODUCTS,
    RECORDS,
    ROLES,
    Slot,
    amount,
    clock,
    day,
    duration,
    money,
    one_of,
    percent,
    person,
    place,
    size,
    team,
    version,
)


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
        amount("days", 15, 35),
        (
            "{S} have {v} of annual leave.",
            "Annual leave for {s} is {v}.",
            "Each year, {s} can take {v} off.",
        ),
    ),
    Topic(
        ROLES,
        amount("days", 2, 4),
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
        amount("copies", 2, 9),
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
        amount("users", 20, 9000),
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
        amount("people", 20, 4000),
        ("{S} employs {v}.", "{v} work at {s}.", "At {s}, there are {v} on the payroll."),
    ),
    Topic(
        SITES,
        one_of([str(y) for y in range(1921, 2020)]),
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
        amount("parking spaces", 12, 400),
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
