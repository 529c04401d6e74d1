"""Whether a run that was repeated says the same: every field of both, one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: What an assessment finds; the rest is what it was made with, and when.
FINDINGS = ("summary", "atoms", "contexts", "relations", "inference", "sources", "notes")

#: Begins the note with which `recheck` says where the claims are from.
TAKEN_OVER = "the claims are those of the run of "

#: The path of a claim's own; a record may name its claims "1.2".
_OF_CLAIM = re.compile(r"atoms\[[^]]*\]\.(verdict|probability)")

_MISSING = object()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field whose value is another; None where a run has none of it.

    Attributes:
        path: as ``atoms[a3].verdict``; an element is named by what it is, else by number.
        old: its value in the run.
        new: its value in the repetition.
    """

    path: str
    old: Any
    new: Any

    @property
    def kind(self) -> str:
        """``verdict``, ``probability`` (of a claim) or ``field``."""
        found = _OF_CLAIM.fullmatch(self.path)
        return found[1] if found else "field"


def changes(
    old: Mapping[str, Any], new: Mapping[str, Any], *, tolerance: float = 0.0
) -> list[FieldChange]:
    """What a repetition finds otherwise, in the order of the JSON.

    Times, places of files and the record of what the runs were made with are no findings.

    Args:
        old: what ``to_dict`` gives.
        new: likewise.
        tolerance: numbers that are no farther apart are the same.
    """
    # A run in memory has tuples where a stored one has lists.
    before, after = (
        json.loads(json.dumps({part: run.get(part) for part in FINDINGS})) for run in (old, new)
    )
    for side in (before, after):
        side["notes"] = [n for n in side["notes"] or () if not n.startswith(TAKEN_OVER)]
    return list(_differing("", before, after, tolerance))


def environment_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[FieldChange]:
    """Libraries and machine that are not the same: a reason, if numbers differ."""
    before, after = (run["run"].get("environment", {}) for run in (old, new))
    return list(_differing("", before, after, 0.0))


def _differing(path: str, old: Any, new: Any, tolerance: float) -> Iterator[FieldChange]:  # noqa: ANN401
    if isinstance(old, list) and isinstance(new, list):
        old, new = _named(old), _named(new)
        if sorted(old) == sorted(new) and list(old) != list(new):
            yield FieldChange(f"{path} in order", list(old), list(new))
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            name = str(key)
            joined = path + name if name.startswith("[") else f"{path}.{name}".lstrip(".")
            yield from _differing(joined, old.get(key, _MISSING), new.get(key, _MISSING), tolerance)
    elif not _same(old, new, tolerance):
        yield FieldChange(path, *(None if side is _MISSING else side for side in (old, new)))


def _same(old: object, new: object, tolerance: float) -> bool:
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, int | float) and isinstance(new, int | float):
        return abs(old - new) <= tolerance
    return old == new


def _named(rows: Sequence[Any]) -> dict[str, Any]:
    """The rows of a list by what tells them apart, or by number where nothing does."""
    for keys in (("id",), ("from", "to"), ("source",), ("context",)):
        if all(isinstance(row, dict) and set(keys) <= set(row) for row in rows):
            named = {f"[{' -> '.join(str(row[key]) for key in keys)}]": row for row in rows}
            if len(named) == len(rows):
                return named
    return {f"[{number}]": row for number, row in enumerate(rows)}
