"""A profile's values, and what follows from them for a source."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

from factcheck_local.core.errors import DocumentError, ProfileError
from factcheck_local.core.types import Document
from factcheck_local.indexer.reliability.access import own_groups, stated_groups
from factcheck_local.indexer.reliability.reader import read
from factcheck_local.indexer.reliability.rules import AccessRule, SourceRule, prior_problem
from factcheck_local.indexer.reliability.statements import (
    ACCESS,
    RELIABILITY,
    UPDATE_KEYS,
    day_of,
    key_of,
)

#: Name of the profile that lies beside a corpus.
PROFILE_NAME = "reliability.toml"

DEFAULT_PRIOR = 0.9
DEFAULT_RULE = "default"

#: The rule's name where the document itself states the prior.
FRONT_MATTER = "front matter"

#: What comes between a rule and the source that replaces the one that it rates.
SUPERSEDED = "; superseded by "


class Reliability(NamedTuple):
    """A prior in (0, 1) and the rule that gave it, as shown beside evidence."""

    prior: float
    rule: str


@dataclass(frozen=True, slots=True)
class ReliabilityProfile:
    """Rules in the order in which they are tried, and what holds where none does.

    Attributes:
        default_prior: the prior where no rule holds, in (0, 1).
        rules: for priors.
        half_life_days: of sources whose rule has none; None: they do not age.
        superseded: the most that a superseded document is believed, in (0, 1); None:
            as much as any other.
        versions_by_name: whether file names tell which document is a newer version.
        access: rules for who may see a document.
    """

    default_prior: float = DEFAULT_PRIOR
    rules: tuple[SourceRule, ...] = ()
    half_life_days: float | None = None
    superseded: float | None = None
    versions_by_name: bool = False
    access: tuple[AccessRule, ...] = ()

    @classmethod
    def load(cls, path: Path) -> ReliabilityProfile:
        """Read a profile.

        Raises:
            ProfileError: if there is no such file, or it is not TOML, or has an
                unknown key, a value of the wrong type or out of its range;
                the message begins with ``file:line:``.
        """
        return cls(**read(path))

    @classmethod
    def beside(cls, root: Path) -> ReliabilityProfile:
        """The profile in a corpus folder, the default one where there is none.

        Raises:
            ProfileError: as `load` does, and if it cannot be told whether there is one.
        """
        path = root / PROFILE_NAME
        try:
            there = S_ISREG(path.stat().st_mode)  # is_file() takes any error for a no
        except (FileNotFoundError, NotADirectoryError):
            there = False
        except OSError as error:
            raise ProfileError(f"{path}: cannot be read: {error.strerror}") from error
        return cls.load(path) if there else cls()

    def reliability(
        self,
        names: Sequence[str],
        stated: Mapping[str, Any],
        *,
        today: date,
        modified: date | None = None,
        superseded_by: str | None = None,
    ) -> Reliability:
        """The prior of a source: its own or that of a rule, then its age, then a successor.

        A prior that the document states itself does not age: whoever wrote it down knew
        the document. That it was superseded may have come later, so that counts.

        Args:
            names: what the source is called, with forward slashes; a rule
                matches if it matches one of them. The last is the source's full name.
            stated: what `storable` keeps of the document's metadata.
            today: the day on which the age is counted.
            modified: day of the file's last change, for documents that state no date.
            superseded_by: the source that replaces it, as `supersession` finds it.

        Returns:
            The prior, and all that had a say in it.

        Raises:
            DocumentError: if the document states something else than a number in (0, 1).
        """
        found, half_life = self._first(names, stated)
        if half_life is not None:
            found = _aged(found, half_life, today, day_of(stated, UPDATE_KEYS) or modified)
        if superseded_by is None or self.superseded is None or self.superseded >= found.prior:
            return found
        return Reliability(self.superseded, f"{found.rule}{SUPERSEDED}{superseded_by}")

    def groups(self, names: Sequence[str], stated: Mapping[str, Any]) -> frozenset[str] | None:
        """Who may see a source: None is everyone, the empty set nobody.

        Only groups that both the document's own ``access`` and the first access rule
        that holds allow, where both speak.

        Args:
            names: as for `reliability`.
            stated: as for `reliability`.
        """
        own = own_groups(stated)
        for rule in self.access:
            if rule.holds(names, stated):
                return rule.groups if own is None else rule.groups & own
        return own

    def _first(
        self, names: Sequence[str], stated: Mapping[str, Any]
    ) -> tuple[Reliability, float | None]:
        """The prior before age and succession, and the half-life that goes with it."""
        own = stated.get(RELIABILITY)
        if own is not None:
            if problem := prior_problem(own):
                raise DocumentError(f"{names[-1]}: {FRONT_MATTER}: {RELIABILITY} {problem}")
            return Reliability(float(own), FRONT_MATTER), None
        for rule in self.rules:
            if rule.holds(names, stated):
                half_life = rule.half_life_days
                return (
                    Reliability(rule.prior, str(rule)),
                    self.half_life_days if half_life is None else half_life,
                )
        return Reliability(self.default_prior, DEFAULT_RULE), self.half_life_days


def decayed(prior: float, age_days: int, half_life_days: float) -> float:
    """The prior after some days: its distance from ½, knowing nothing, halves each half-life.

        ½ + (prior - ½) · 2^(-age / half-life)

    A prior of ½ or less stays: age does not make a doubtful source better.

    Args:
        prior: in (0, 1).
        age_days: 0 or more.
        half_life_days: more than 0, may be infinite.

    Returns:
        Between ½ and the prior, to six digits, so that it does not depend on the machine.
    """
    left: float = 2.0 ** (-age_days / half_life_days)
    if prior <= 0.5 or left == 1.0:
        return prior
    return min(prior, round(0.5 + (prior - 0.5) * left, 6))


def _aged(found: Reliability, half_life: float, today: date, day: date | None) -> Reliability:
    """The prior as of today; a day to come is today, without any day nothing changes."""
    if day is None:
        return found
    age = max(0, (today - day).days)
    prior = decayed(found.prior, age, half_life)
    if prior == found.prior:
        return found
    old = f"{_days(age)} old, half-life {_days(half_life)}"
    return Reliability(prior, f"{found.rule}; {old}")


def _days(count: float) -> str:
    return f"{count:.10g} day{'s' * (count != 1)}"


def check_statements(document: Document) -> None:
    """Refuse a document whose statements of its reliability or access cannot be read.

    Raises:
        DocumentError: naming the line, if the file itself holds the statements: of a prior
            that is no number in (0, 1), or an access that names no group.
    """
    for key, value in document.metadata.items():
        name, problem = key_of(key), None
        if name == RELIABILITY and value is not None:
            problem = prior_problem(value)
        elif name == ACCESS:
            try:
                stated_groups(value)
            except ValueError as error:
                problem = str(error)
        if problem:
            where = f"{FRONT_MATTER}{_line(document.text, name)}"
            raise DocumentError(f"{document.source}: {where}: {name} {problem}")


def _line(text: str, key: str) -> str:
    """Where in a page's front matter a key stands, as a part of a message."""
    if not text.startswith("---"):  # the page's text does not hold HTML's <meta>
        return ""
    start = re.compile(rf"[\"']?{key}[\"']?\s*:", re.IGNORECASE)
    lines = enumerate(text.splitlines(), start=1)
    return next((f", line {number}" for number, line in lines if start.match(line)), "")
