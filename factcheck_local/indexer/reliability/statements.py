"""What a document states of itself, in the form in which a store keeps it and rules ask.

Statements are the keys of the front matter with scalars or short lists of scalars.
Keys are compared without regard to case, and ``-``, ``_`` and blanks in them are one.
"""

from __future__ import annotations

import datetime
import itertools
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

Scalar: TypeAlias = str | int | float | bool

#: Longer texts are left out, ...
MAX_TEXT = 200

#: ... as are lists with more entries, ...
MAX_ENTRIES = 50

#: ... and what is stated after this many keys.
MAX_KEYS = 50

RELIABILITY = "reliability"
ACCESS = "access"
OWNER = "owner"

#: When the text was last looked after: the first that is stated counts, for the age.
UPDATE_KEYS = ("updated", "last_updated", "last_modified", "modified", "date")

#: When this version was issued: the first that is stated counts, for which version is newer.
ISSUE_KEYS = ("date", "updated", "last_updated", "last_modified", "modified")

#: Statements that have a meaning of their own: the last to be left out.
KNOWN_KEYS = (
    *(RELIABILITY, ACCESS, OWNER, "author"),
    *("superseded_by", "supersedes", "document_id", "doc_id", "version"),
    *UPDATE_KEYS,
)

_YEAR = re.compile(r"\d{4}")
_YEAR_FIRST = re.compile(r"\d{4}\D")


def storable(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a document's metadata that rules can ask for; survives JSON unchanged.

    Scalars and lists of scalars stay, dates as ISO 8601. Left out are null, nested and
    long values, and keys beyond `MAX_KEYS`. What a document says of its access is never
    left out, for then everyone could see it: what cannot be kept becomes an empty list.
    """
    values: dict[str, Any] = {}
    for key, value in metadata.items():
        values.setdefault(key_of(key), value)
    found: dict[str, Any] = {}
    for key in sorted(values, key=lambda key: key not in KNOWN_KEYS):
        kept = _names(values[key]) if key == ACCESS else _value(values[key])
        if kept is not None and 0 < len(key) <= MAX_TEXT and len(found) < MAX_KEYS:
            found[key] = kept
    return found


def key_of(key: str) -> str:
    """A key as statements have it: ``Last-Modified`` is ``last_modified``."""
    return "_".join(re.split(r"[\s_-]+", writable(str(key)).strip())).casefold()


def writable(text: str) -> str:
    """A text as it can be stored and shown: what of it is not valid UTF-8 is replaced.

    Of a file's name these are bytes, and of YAML and JSON halves of surrogate pairs.
    """
    return text.encode("utf-8", "replace").decode()


def scalar(value: object) -> Scalar | None:
    """A value as it is kept, None if it is no scalar, or a long one."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such number
    if isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else None
    return writable(value) if isinstance(value, str) and len(value) <= MAX_TEXT else None


def _value(value: object) -> object:
    """A scalar or a list of scalars as it is kept, None for anything else."""
    if not isinstance(value, list | tuple):
        return scalar(value)
    kept = [entry for item in value if (entry := scalar(item)) is not None]
    return kept if len(kept) == len(value) <= MAX_ENTRIES else None


def _names(value: object) -> object:
    """A text, or a list of texts, of any length; what is neither as an empty list."""
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return [writable(entry) for entry in value]
    return []


def entries(stated: Mapping[str, Any], key: str) -> list[Scalar]:
    """What is stated under a key, as a list; an ``author`` is the owner where no other is."""
    value = stated.get(key)
    if value in (None, "", []) and key == OWNER:
        value = stated.get("author")
    if isinstance(value, list):
        return value
    return [] if value in (None, "") else [value]


def texts(stated: Mapping[str, Any], key: str) -> list[str]:
    """What is stated under a key as texts, numbers included; a yes or no is none."""
    found = (str(entry).strip() for entry in entries(stated, key) if not isinstance(entry, bool))
    return [text for text in found if text]


def says(stated: Mapping[str, Any], key: str, wanted: Iterable[Scalar]) -> bool:
    """Whether one of these values is stated under the key, or in the list there."""
    accepted = {comparable(value) for value in wanted}
    return any(comparable(entry) in accepted for entry in entries(stated, key))


def comparable(value: Scalar) -> str:
    """A value as it is compared: by its text, case and white space aside; 6 and "6" are one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return unicodedata.normalize("NFC", " ".join(str(value).split())).casefold()


def day_of(stated: Mapping[str, Any], keys: Iterable[str]) -> datetime.date | None:
    """The first date that can be read under one of the keys."""
    days = (_day(text) for key in keys for text in texts(stated, key)[:1])
    return next((day for day in days if day is not None), None)


@lru_cache(maxsize=4096)
def _day(text: str) -> datetime.date | None:
    """The day, if the text names one and can be read in one way only."""
    try:
        return datetime.datetime.fromisoformat(text).date()
    except ValueError:
        pass
    if not _YEAR.search(text):
        return None
    from dateutil.parser import parse  # most dates are ISO 8601

    # What is not in the text is taken from the default, so that the readings differ.
    defaults = datetime.datetime(2000, 1, 1), datetime.datetime(2001, 2, 2)
    day_first = (False,) if _YEAR_FIRST.match(text) else (False, True)
    try:
        days = {
            parse(text, default=default, dayfirst=first, ignoretz=True).date()
            for default, first in itertools.product(defaults, day_first)
        }
    except (ValueError, OverflowError):
        return None
    return days.pop() if len(days) == 1 else None
