"""Rules of a profile: for which sources one holds, and how it is shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from pathspec import GitIgnoreSpec

from factcheck_local.indexer.reliability.statements import Scalar, says

#: Keys of the front matter, each with the values of which a document must state one.
Where: TypeAlias = tuple[tuple[str, tuple[Scalar, ...]], ...]


#: A part of a glob between slashes; None stands for ``**``, any number of them.
_Part: TypeAlias = re.Pattern[str] | None

_TOKEN = re.compile(
    r"\\(?P<escaped>.)|\[(?P<negated>[!^]?)(?P<among>\]?[^\]]*)\]|(?P<wild>[*?])|(?P<plain>.)",
    re.DOTALL,
)


def matches(pattern: str, name: str) -> bool:
    """Whether a glob, as in ``.gitignore``, matches a name with forward slashes.

    Globs come with requests, too. So it takes time in the product of both lengths at most, where
    a regular expression of the whole would try every way to share a name out among the wildcards.
    A letter and its mark are one or two characters, as in names from macOS; both are the same here.

    Raises:
        ValueError: if the pattern is no glob.
    """
    parts = _parts(pattern)
    return parts is not None and _fit(parts, unicodedata.normalize("NFC", name).split("/"))


def is_glob(pattern: str) -> bool:
    """Whether `matches` takes a pattern."""
    try:
        _parts(pattern)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1024)
def _parts(glob: str) -> tuple[_Part, ...] | None:
    """The parts that a whole name has to fit; None for what matches nothing, as a comment."""
    glob = unicodedata.normalize("NFC", glob)
    try:
        specs = GitIgnoreSpec.from_lines([glob]).patterns
    except re.error as error:
        raise ValueError(f"no glob: {glob!r}: {error}") from error
    if not any(spec.include for spec in specs):
        return None
    glob = glob if glob.endswith("\\ ") else glob.rstrip()
    first, *rest = parts = glob.split("/")
    if not first:
        parts = rest
    elif not any(rest):
        parts.insert(0, "**")  # without a slash before its end it matches at any depth
    if not parts[-1] and set(parts[:-1]) == {"**"}:
        parts[-1:] = ["*", ""]  # any folder
    # What is below a match matches, too; of a folder, nothing else does.
    parts[-1:] = ["*", "**"] if parts[-1] in ("", "**") else [parts[-1], "**"]
    return tuple(None if part == "**" else _compiled(part) for part in parts)


def _compiled(part: str) -> re.Pattern[str]:
    pieces = [""]
    for token in _TOKEN.finditer(part):
        if token["wild"] == "*":
            pieces.append("")
        else:
            pieces[-1] += _one(token)
    first, *others = pieces
    # The nearest place of a piece is as good as any further one, so no other is tried.
    near = [f"(?>.*?{piece})" for piece in others[:-1]]
    last = [f".*{piece}" for piece in others[-1:]]
    return re.compile("".join([first, *near, *last]), re.DOTALL)


def _one(token: re.Match[str]) -> str:
    """The expression for one character of a name."""
    if token["wild"]:
        return "."
    if token["among"]:
        # Ranges stay; what else means something between brackets is there for itself.
        among = re.sub(r"[\\\[\]^&~|]", r"\\\g<0>", token["among"])
        return f"[{'^' if token['negated'] else ''}{among}]"
    return re.escape(token["escaped"] or token["plain"])


def _fit(parts: Sequence[_Part], names: Sequence[str]) -> bool:
    """Whether names fit parts one by one, ``**`` taking as few of them as will do."""
    part = name = 0
    retry: tuple[int, int] | None = None
    while name < len(names):
        wanted = parts[part]
        if wanted is None:
            part += 1
            if part == len(parts):
                return True
            retry = (part, name)
        elif wanted.fullmatch(names[name]):
            part, name = part + 1, name + 1
        elif retry is None:
            return False
        else:
            part, name = retry[0], retry[1] + 1
            retry = (part, name)
    return all(left is None for left in parts[part:])


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
