"""Which sources a run may use: filters on what is known of them, and who asks."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from factcheck_local.core.errors import InputError
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.reliability import matches, visible

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CONDITION = re.compile(r"\s*([^\s=!<>]+)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*", re.DOTALL)
_EXAMPLE = "source=policies/**, owner=Legal or date>=2024-01-01"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a source, such as ``owner=Legal``.

    Attributes:
        key: ``source`` (the value is a glob), ``format`` (an extension), ``prior``,
            ``date`` (the stated one, or else that of the file), or any key of the
            document's front matter.
        operator: ``=``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
        value: what to compare with; numbers as numbers, all else as text, case ignored.
    """

    key: str
    operator: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read ``KEY OPERATOR VALUE``, blanks around the operator as you like.

        Raises:
            InputError: if it is no condition, or asks for order where there is none.
        """
        found = _CONDITION.fullmatch(text)
        if found is None or not found[3]:
            raise InputError(f"where: expected a condition such as {_EXAMPLE}, got {text!r}")
        if found[1] == "source" and found[2] not in ("=", "!="):
            raise InputError(f"where: a source has no order, use = or !=: {text!r}")
        return cls(found[1], found[2], found[3])

    def __str__(self) -> str:
        """The condition as `parse` reads it."""
        return f"{self.key}{self.operator}{self.value}"

    def holds(self, record: SourceRecord) -> bool:
        """Whether a source fulfils it; what a document does not state is equal to nothing."""
        if self.key == "source":
            return matches(self.value, record.source) == (self.operator == "=")
        values = self._values(record)
        if self.operator == "!=":
            return all(not _compare("=", value, self.value) for value in values)
        return any(_compare(self.operator, value, self.value) for value in values)

    def _values(self, record: SourceRecord) -> list[Any]:
        known = {
            "format": record.extension.removeprefix("."),
            "prior": record.prior,
            "date": record.date or record.modified,
        }
        value = known[self.key] if self.key in known else record.metadata.get(self.key)
        if value is None:
            return []
        return list(value) if isinstance(value, list) else [value]


def _compare(name: str, value: object, wanted: str) -> bool:
    """Numbers by size, all else as text: dates in ISO format are in order."""
    compare = _OPERATORS[name]
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return compare(float(value), float(wanted))
        except ValueError:
            return False
    return compare(str(value).casefold(), wanted.casefold())


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
