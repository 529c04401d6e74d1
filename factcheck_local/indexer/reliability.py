"""The reliability profile: how much each source is to be believed.

A profile is a TOML file; its first rule that matches a source gives the prior
P(what the source says is true)::

    default = 0.9

    [[source]]
    match = "policies/**"
    prior = 0.98
    note = "signed off by Legal"

Globs are those of ``.gitignore``: ``**`` crosses folders, and a pattern without
a slash matches at any depth. A document's own ``reliability`` wins over them all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pathspec import GitIgnoreSpec

from factcheck_local.errors import DocumentError, ProfileError
from factcheck_local.types import Document

#: Name of the profile that lies beside a corpus.
PROFILE_NAME = "reliability.toml"

DEFAULT_PRIOR = 0.9
DEFAULT_RULE = "default"

_HEADER = re.compile(r"\[\[\s*source\s*\]\]")
_INLINE = re.compile(r"source\s*=")
_TOML_ERROR = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)")

#: The rule's name where the document itself states the prior.
FRONT_MATTER = "front matter"


class Reliability(NamedTuple):
    """A prior in (0, 1) and the rule that gave it, as shown beside evidence."""

    prior: float
    rule: str


@dataclass(frozen=True, slots=True)
class SourceRule:
    """Sources that match the glob have this prior, in (0, 1)."""

    match: str
    prior: float
    note: str | None = None

    def __str__(self) -> str:
        """The glob, and the note in parentheses where there is one."""
        return f"{self.match} ({self.note})" if self.note else self.match


@dataclass(frozen=True, slots=True)
class ReliabilityProfile:
    """Rules in the order in which they are tried, and the prior where none matches."""

    default_prior: float = DEFAULT_PRIOR
    rules: tuple[SourceRule, ...] = ()

    @classmethod
    def default(cls) -> ReliabilityProfile:
        """The profile of a corpus that has none: every source has `DEFAULT_PRIOR`."""
        return cls()

    @classmethod
    def load(cls, path: Path) -> ReliabilityProfile:
        """Read a profile.

        Raises:
            ProfileError: if there is no such file, or it is not TOML, or has an
                unknown key, a value of the wrong type or a prior outside (0, 1);
                the message begins with ``file:line:``.
        """
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise ProfileError(f"{path}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ProfileError(f"{path}: is not valid UTF-8 (offset {error.start})") from error
        try:
            values = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            found = _TOML_ERROR.fullmatch(str(error))
            what = found[1] if found else str(error)
            line = found[2] if found and found[2] else len(text.splitlines())
            hint = "every key, and every [[source]], stands on a line of its own"
            raise ProfileError(
                f"{path}:{line}: {what}", hint=hint if "newline" in what else None
            ) from error
        return _Reader(path, text).profile(values)

    @classmethod
    def beside(cls, root: Path) -> ReliabilityProfile:
        """The profile in a corpus folder, the default one where there is none.

        Raises:
            ProfileError: as `load` does.
        """
        path = root / PROFILE_NAME
        return cls.load(path) if path.is_file() else cls.default()

    def of_source(self, *names: str) -> Reliability:
        """The prior of a source by the rules.

        Args:
            names: what the source is called, with forward slashes; a rule
                matches if it matches one of them.
        """
        for rule in self.rules:
            if any(matches(rule.match, name) for name in names):
                return Reliability(rule.prior, str(rule))
        return Reliability(self.default_prior, DEFAULT_RULE)

    def of_document(self, document: Document, *names: str) -> Reliability:
        """The prior that the document states itself, or else that of `of_source`.

        Raises:
            DocumentError: if it states something else than a number in (0, 1).
        """
        stated = document.metadata.get("reliability")
        if stated is None:
            return self.of_source(*(names or (document.source,)))
        if problem := _prior_problem(stated):
            line = None
            if document.text.startswith("---"):  # the page's text does not hold HTML's <meta>
                line = _line_of(document.text, re.compile(r"[\"']?reliability\b"))
            where = f", line {line}" if line else ""
            raise DocumentError(f"{document.source}: {FRONT_MATTER}{where}: reliability {problem}")
        return Reliability(float(stated), FRONT_MATTER)


@lru_cache(maxsize=1024)
def _spec(pattern: str) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines([pattern])


def matches(pattern: str, name: str) -> bool:
    """Whether a glob, as in ``.gitignore``, matches a name with forward slashes."""
    return _spec(pattern).match_file(name)


def _prior_problem(value: object) -> str | None:
    """What is wrong with a prior; None if it is a number in (0, 1)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"must be a number between 0 and 1, got {value!r}"
    return None if 0.0 < value < 1.0 else f"must be between 0 and 1, both excluded, got {value!r}"


def _line_of(text: str, start: re.Pattern[str], after: int = 0) -> int | None:
    """Number, from 1, of the first line after line ``after`` that begins so."""
    lines = text.splitlines()[after:]
    return next((n for n, line in enumerate(lines, after + 1) if start.match(line.strip())), None)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Checks what TOML holds; says in which line of the file something is wrong."""

    path: Path
    text: str

    def profile(self, values: Mapping[str, Any]) -> ReliabilityProfile:
        self._known_keys(values, ("default", "source"), "the profile", 0)
        default = values.get("default", DEFAULT_PRIOR)
        if problem := _prior_problem(default):
            raise self._error(f"default {problem}", 0, "default")
        tables = values.get("source", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self._error("source must be tables [[source]]", 0, "source")
        rules = tuple(self._rule(index, table) for index, table in enumerate(tables))
        return ReliabilityProfile(float(default), rules)

    def _rule(self, index: int, table: Mapping[str, Any]) -> SourceRule:
        header = self._header(index)
        self._known_keys(table, ("match", "prior", "note"), "[[source]]", header)
        for key in ("match", "prior"):
            if key not in table:
                raise self._error(f"[[source]] lacks {key!r}", header)
        match, prior, note = table["match"], table["prior"], table.get("note")
        if not isinstance(match, str) or not match.strip() or match.startswith(("!", "#")):
            raise self._error(f"match must be a glob, got {match!r}", header, "match")
        try:
            _spec(match)
        except ValueError as error:
            raise self._error(f"match is no glob: {match!r}", header, "match") from error
        if problem := _prior_problem(prior):
            raise self._error(f"prior {problem}", header, "prior")
        if note is not None and not isinstance(note, str):
            raise self._error(f"note must be a text, got {note!r}", header, "note")
        return SourceRule(match, float(prior), note)

    def _known_keys(
        self, table: Mapping[str, Any], known: tuple[str, ...], where: str, header: int
    ) -> None:
        for key in table:
            if key not in known:
                expected = ", ".join(known)
                message = f"unknown key {key!r} in {where}, expected one of {expected}"
                raise self._error(message, header, key)

    def _header(self, index: int) -> int:
        """The line, from 1, of the ``[[source]]`` with this index; 0 if written inline."""
        lines = enumerate(self.text.splitlines(), start=1)
        headers = [number for number, line in lines if _HEADER.match(line.strip())]
        return headers[index] if index < len(headers) else 0

    def _error(self, message: str, header: int, key: str | None = None) -> ProfileError:
        """The error with the line of the key below the header, or else of the header."""
        line = header or _line_of(self.text, _INLINE)
        if key is not None:
            start = re.compile(rf"\[*\s*[\"']?{re.escape(key)}[\"']?\s*[=.\]]")
            line = _line_of(self.text, start, header) or line
        return ProfileError(f"{self.path}:{line}: {message}" if line else f"{self.path}: {message}")
