"""Rules of a profile: for which sources one holds, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from pathspec import GitIgnoreSpec

from factcheck_local.indexer.reliability.statements import Scalar, says

#: Keys of the front matter, each with the values of which a document must state one.
Where: TypeAlias = tuple[tuple[str, tuple[Scalar, ...]], ...]


@lru_cache(maxsize=1024)
def _spec(pattern: str) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines([pattern])


def matches(pattern: str, name: str) -> bool:
    """Whether a glob, as in ``.gitignore``, matches a name with forward slashes.

    Raises:
        ValueError: if the pattern is no glob.
    """
    return _spec(pattern).match_file(name)


def prior_problem(value: object) -> str | None:
    """What is wrong with a prior; None if it is a number in (0, 1)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"must be a number between 0 and 1, got {value!r}"
    return None if 0.0 < value < 1.0 else f"must be between 0 and 1, both excluded, got {value!r}"


@dataclass(frozen=True, slots=True)
class SourceRule:
    """Sources for which all conditions hold have this prior, in (0, 1).

    Attributes:
        match: glob, of which one of the source's names must match; None: whatever its name.
        prior: P(what the source says is true).
        note: why, shown with the rule.
        where: what the document must state.
        half_life_days: days in which the prior's distance from ½ halves; None: as in the
            profile; infinite: it does not age.
    """

    match: str | None
    prior: float
    note: str | None = None
    where: Where = ()
    half_life_days: float | None = None

    def __str__(self) -> str:
        """The conditions, and the note in parentheses where there is one."""
        conditions = _shown(self.match, self.where)
        return f"{conditions} ({self.note})" if self.note else conditions

    def holds(self, names: Sequence[str], stated: Mapping[str, Any]) -> bool:
        """Whether this is a rule for the source."""
        return _holds(self.match, self.where, names, stated)


@dataclass(frozen=True, slots=True)
class AccessRule:
    """Sources for which all conditions hold may be seen by these groups only."""

    match: str | None
    groups: frozenset[str]
    where: Where = ()

    def holds(self, names: Sequence[str], stated: Mapping[str, Any]) -> bool:
        """Whether this is a rule for the source."""
        return _holds(self.match, self.where, names, stated)


def _holds(
    match: str | None, where: Where, names: Sequence[str], stated: Mapping[str, Any]
) -> bool:
    if match is not None and not any(matches(match, name) for name in names):
        return False
    return all(says(stated, key, values) for key, values in where)


def _shown(match: str | None, where: Where) -> str:
    conditions = [f"{key} {' or '.join(map(_text, values))}" for key, values in where]
    return ", ".join([match, *conditions] if match is not None else conditions)


def _text(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
