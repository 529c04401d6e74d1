"""Reads a profile; what is wrong with it is said with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from factcheck_local.core.errors import ProfileError
from factcheck_local.indexer.reliability.access import group_names
from factcheck_local.indexer.reliability.rules import (
    AccessRule,
    SourceRule,
    Where,
    is_glob,
    prior_problem,
)
from factcheck_local.indexer.reliability.statements import OWNER, Scalar, key_of, scalar

_TOML_ERROR = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)")
_HEADER = re.compile(r"\[\[")

_VALUES = ("default", "half_life_days", "superseded", "versions_by_name")
_PROFILE_KEYS = (*_VALUES, "source", "access")
_CONDITIONS = ("match", "owner", "where")
_SOURCE_KEYS = (*_CONDITIONS, "prior", "half_life_days", "note")
_ACCESS_KEYS = (*_CONDITIONS, "groups")


def read(path: Path) -> dict[str, Any]:
    """The fields of the `ReliabilityProfile` that a file holds; those it leaves out are absent.

    Raises:
        ProfileError: as `ReliabilityProfile.load` does.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ProfileError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ProfileError(f"{path}: is not valid UTF-8 (offset {error.start})") from error
    lines = [line.strip() for line in text.removesuffix("\n").split("\n")]
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: a number of very many digits, too
        found = _TOML_ERROR.fullmatch(str(error))
        what = found[1] if found else str(error)
        line = found[2] if found and found[2] else len(lines)
        hint = "every key, and every [[source]], stands on a line of its own"
        raise ProfileError(
            f"{path}:{line}: {what}", hint=hint if "newline" in what else None
        ) from error
    return _ProfileReader(path, lines).profile(values)


class _Place(NamedTuple):
    """A table of the file: the line of its header, from 1, and the first line after it.

    The top of the file has the header line 0.
    """

    table: str
    header: int
    end: int


@dataclass(frozen=True, slots=True)
class _ProfileReader:
    """Checks what TOML holds; knows in which line of the file it stands."""

    path: Path
    lines: Sequence[str]

    def profile(self, values: Mapping[str, Any]) -> dict[str, Any]:
        top = _Place("", 0, self._next_header(0))
        self._known_keys(values, _PROFILE_KEYS, "the profile", top)
        found: dict[str, Any] = {}
        if "default" in values:
            found["default_prior"] = self._prior(values, "default", top)
        if "superseded" in values:
            found["superseded"] = self._prior(values, "superseded", top)
        found["half_life_days"] = self._half_life(values, top)
        by_name = values.get("versions_by_name", False)
        if not isinstance(by_name, bool):
            message = f"versions_by_name must be true or false, got {by_name!r}"
            raise self._error(message, top, "versions_by_name")
        found["versions_by_name"] = by_name
        sources, access = self._tables(values, "source", top), self._tables(values, "access", top)
        found["rules"] = tuple(self._source_rule(values, at) for values, at in sources)
        found["access"] = tuple(self._access_rule(values, at) for values, at in access)
        return found

    def _source_rule(self, values: Mapping[str, Any], at: _Place) -> SourceRule:
        self._known_keys(values, _SOURCE_KEYS, "[[source]]", at)
        match, where = self._conditions(values, at)
        self._required(values, "prior", at)
        note = values.get("note")
        if note is not None and not isinstance(note, str):
            raise self._error(f"note must be a text, got {note!r}", at, "note")
        prior = self._prior(values, "prior", at)
        return SourceRule(match, prior, note, where, self._half_life(values, at))

    def _access_rule(self, values: Mapping[str, Any], at: _Place) -> AccessRule:
        self._known_keys(values, _ACCESS_KEYS, "[[access]]", at)
        match, where = self._conditions(values, at)
        self._required(values, "groups", at)
        try:
            groups = group_names(values["groups"])
        except ValueError as error:
            raise self._error(f"groups {error}", at, "groups") from error
        return AccessRule(match, groups, where)

    def _conditions(self, values: Mapping[str, Any], at: _Place) -> tuple[str | None, Where]:
        if not any(key in values for key in _CONDITIONS):
            raise self._error(f"[[{at.table}]] lacks 'match', 'owner' or 'where'", at)
        where = {OWNER: values[OWNER]} if OWNER in values else {}
        found = [(key, self._wanted(key, value, at, key)) for key, value in where.items()]
        if "where" in values:
            asked = values["where"]
            if not isinstance(asked, dict) or not asked:
                message = f'where must be like {{ status = "draft" }}, got {asked!r}'
                raise self._error(message, at, "where")
            for key, value in asked.items():
                found.append((key_of(key), self._wanted(f"where: {key}", value, at, "where")))
        return self._glob(values, at), tuple(found)

    def _glob(self, values: Mapping[str, Any], at: _Place) -> str | None:
        if "match" not in values:
            return None
        glob = values["match"]
        if not isinstance(glob, str) or not glob.strip() or glob.startswith(("!", "#")):
            raise self._error(f"match must be a glob, got {glob!r}", at, "match")
        if not is_glob(glob):
            raise self._error(f"match is no glob: {glob!r}", at, "match")
        return glob

    def _wanted(self, what: str, value: object, at: _Place, key: str) -> tuple[Scalar, ...]:
        """The values of which a document must state one."""
        items = value if isinstance(value, list) else [value]
        wanted = [found for item in items if (found := scalar(item)) is not None and found != ""]
        if not items or len(wanted) != len(items):
            message = f"{what} must be a short text, a number, a date, true or false, or a list"
            raise self._error(f"{message} of these, got {value!r}", at, key)
        return tuple(wanted)

    def _prior(self, values: Mapping[str, Any], key: str, at: _Place) -> float:
        if problem := prior_problem(values[key]):
            raise self._error(f"{key} {problem}", at, key)
        return float(values[key])

    def _half_life(self, values: Mapping[str, Any], at: _Place) -> float | None:
        days = values.get("half_life_days")
        if days is None:
            return None
        if isinstance(days, bool) or not isinstance(days, int | float) or not days > 0:
            message = f"half_life_days must be a number of days above 0, got {days!r}"
            raise self._error(message, at, "half_life_days")
        return days

    def _required(self, values: Mapping[str, Any], key: str, at: _Place) -> None:
        if key not in values:
            raise self._error(f"[[{at.table}]] lacks {key!r}", at)

    def _known_keys(
        self, values: Mapping[str, Any], known: tuple[str, ...], where: str, at: _Place
    ) -> None:
        for key in values:
            if key not in known:
                expected = ", ".join(known)
                message = f"unknown key {key!r} in {where}, expected one of {expected}"
                raise self._error(message, at, key)

    def _tables(
        self, values: Mapping[str, Any], name: str, top: _Place
    ) -> list[tuple[Mapping[str, Any], _Place]]:
        """Each table of an array of tables, and its place."""
        tables = values.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self._error(f"{name} must be tables [[{name}]]", top, name)
        header = re.compile(rf"\[\[\s*{_key(name)}\s*\]\]")
        headers = [n for n, line in enumerate(self.lines, start=1) if header.match(line)]
        places = [_Place(name, number, self._next_header(number)) for number in headers]
        if len(places) != len(tables):  # written inline, in one value
            line = self._key_line(top, name) or 0
            places = [_Place(name, line, line + 1)] * len(tables)
        return list(zip(tables, places, strict=True))

    def _next_header(self, after: int) -> int:
        """The first line after this one that begins a table of an array, or the end."""
        rest = enumerate(self.lines[after:], start=after + 1)
        return next((n for n, line in rest if _HEADER.match(line)), len(self.lines) + 1)

    def _key_line(self, at: _Place, key: str) -> int | None:
        """The line in which a table's key stands, or the header of a table of that name."""
        own = re.compile(rf"{_key(key)}\s*[=.]")
        inside = range(at.header + 1, at.end)
        found = [n for n in inside if own.match(self.lines[n - 1])]
        parent = rf"{_key(at.table)}\s*\.\s*" if at.table else ""
        below = re.compile(rf"\[{{1,2}}\s*{parent}{_key(key)}\s*[.\]]")
        reach = inside if at.table else range(1, len(self.lines) + 1)
        return next(iter([*found, *(n for n in reach if below.match(self.lines[n - 1]))]), None)

    def _error(self, message: str, at: _Place, key: str | None = None) -> ProfileError:
        """The error with the line of the key, or else of its table's header."""
        line = (self._key_line(at, key) if key is not None else None) or at.header
        return ProfileError(f"{self.path}:{line}: {message}" if line else f"{self.path}: {message}")


def _key(key: str) -> str:
    """A pattern for a key, quoted or not."""
    return rf"[\"']?{re.escape(key)}[\"']?"
