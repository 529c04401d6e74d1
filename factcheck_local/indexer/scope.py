"""Which sources a run may use: filters on what is known of them, and who asks."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from factcheck_local.core.errors import InputError
from factcheck_local.core.types import Context
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.reliability import SUPERSEDED, is_glob, matches, visible
from factcheck_local.indexer.reliability.statements import (
    UPDATE_KEYS,
    Scalar,
    comparable,
    day_of,
    entries,
    key_of,
)

_Rated = TypeVar("_Rated", SourceRecord, Context)

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CONDITION = re.compile(r"([^\s=!<>]+)\s*(!=|<=|>=|=|<|>)\s*(.+)", re.DOTALL)

#: Characters of a condition.
_LONGEST = 500

_EXAMPLE = "source=policies/**, owner=Legal or date>=2024-01-01"
_YEAR_OR_MONTH = re.compile(r"\d{4}(-\d{2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a source, such as ``owner=Legal``.

    Attributes:
        key: ``source`` (the value is a glob), ``format`` (an extension), ``prior``,
            ``date`` (the stated one, or else that of the file), or any key of the
            document's front matter; spelled in any way that is one, see `key_of`.
        operator: ``=``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
        value: what to compare with; numbers as numbers, and of ``date`` and the other
            `UPDATE_KEYS` days as days; all else as text, case ignored.
    """

    key: str
    operator: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read ``KEY OPERATOR VALUE``, blanks around the operator as you like.

        Raises:
            InputError: if it is no condition or too long, asks for order where there is none, for
                a day that cannot be read, or for a source by what is no glob.
        """
        if len(text) > _LONGEST:
            message = f"where: a condition of {len(text)} characters, at most {_LONGEST} are taken"
            raise InputError(message)
        found = _CONDITION.fullmatch(text.strip())
        if found is None:
            raise InputError(f"where: expected a condition such as {_EXAMPLE}, got {text!r}")
        key = key_of(found[1])
        if key == "source" and found[2] not in ("=", "!="):
            raise InputError(f"where: a source has no order, use = or !=: {text!r}")
        if key == "source" and not is_glob(found[3]):
            raise InputError(f"where: a source is named by a glob: {text!r}")
        if key in UPDATE_KEYS and _day(found[3]) is None:
            raise InputError(f"where: expected a day such as 2024-06-30, got {text!r}")
        return cls(found[1], found[2], found[3])

    def __str__(self) -> str:
        """The condition as `parse` reads it."""
        return f"{self.key}{self.operator}{self.value}"

    def holds(self, record: SourceRecord) -> bool:
        """Whether a source fulfils it; what a document does not state is equal to nothing."""
        key = key_of(self.key)
        if key == "source":
            return matches(self.value, record.source) == (self.operator == "=")
        wanted = self.value.removeprefix(".") if key == "format" else self.value
        compare = _compare_days if key in UPDATE_KEYS else _compare
        values = _values(record, key)
        if self.operator == "!=":
            return all(not compare("=", value, wanted) for value in values)
        return any(compare(self.operator, value, wanted) for value in values)


def _values(record: SourceRecord, key: str) -> list[Scalar]:
    if key == "format":
        return [record.extension.removeprefix(".")]
    if key == "prior":
        return [record.prior]
    stated = entries(record.metadata, key)
    return stated or ([record.date or record.modified] if key == "date" else [])


def _compare(name: str, value: Scalar, wanted: str) -> bool:
    """Numbers by size, all else as text."""
    compare = _OPERATORS[name]
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return compare(float(value), float(wanted))
        except ValueError:
            return False
    return compare(comparable(value), comparable(wanted))


def _compare_days(name: str, value: Scalar, wanted: str) -> bool:
    """By what is asked for, a day, a month or a year; what tells less is equal to nothing."""
    day, asked = _day(str(value)), _day(wanted)
    if day is None or asked is None or len(day) < len(asked):
        return False
    return _OPERATORS[name](day[: len(asked)], asked)


def _day(text: str) -> str | None:
    """A day in ISO format, or as much of one as there is; None where it cannot be read."""
    if _YEAR_OR_MONTH.fullmatch(text):
        return text
    day = day_of({"date": text}, ["date"])
    return None if day is None else day.isoformat()


def in_scope(
    records: Iterable[SourceRecord],
    where: Sequence[Condition] = (),
    groups: Iterable[str] | None = None,
) -> frozenset[str] | None:
    """The sources that fulfil every condition and that one of the groups may see.

    Args:
        records: all sources.
        where: conditions.
        groups: of whoever asks; None for one who may see everything.

    Returns:
        Their names; None where nothing restricts them.
    """
    if not where and groups is None:
        return None
    own = None if groups is None else frozenset(groups)
    return frozenset(
        record.source
        for record in records
        # Passages of a source that is being written may still carry its old groups.
        if (record.complete or own is None)
        and visible(record.groups, own)
        and all(condition.holds(record) for condition in where)
    )


def as_seen(rated: _Rated, seen: frozenset[str] | None) -> _Rated:
    """A source or passage without the name of a successor that whoever asks may not see.

    Args:
        rated: the source, or a passage of it.
        seen: all sources that they may see, as `in_scope` has them without conditions; None for
            everything.
    """
    successor = rated.superseded_by
    if seen is None or successor is None or successor in seen:
        return rated
    # Cut behind the first such words, whatever follows: several stores read as one call the
    # successor otherwise than the rule does.
    return replace(rated, superseded_by=None, prior_rule=rated.prior_rule.partition(SUPERSEDED)[0])
