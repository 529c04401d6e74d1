"""Who may do what: keys with scopes, kept as hashes in a file beside the checks.

A key is 256 random bits, so its SHA-256 says as little of it as a slow hash would: there is
nothing to guess. A key may carry the groups of ``--as``; then its holder sees only what the access
labels of documents allow, in checks, quotes and search alike.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import InputError, StoreError
from factcheck_local.core.files import write_whole
from factcheck_local.indexer.database import exclusive

#: What a key may be for. ``admin`` is all of them, and everybody's checks.
SCOPES = ("check", "search", "review", "index", "admin")

#: In front of each key, so that a scanner for secrets knows one.
PREFIX = "fck_"

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Key:
    """What is kept of a key.

    Attributes:
        name: what its holder is called, in checks and in the audit log; unique.
        sha256: of the key, in hex.
        scopes: of ``SCOPES``, at least one.
        groups: of ``--as``; None for one who sees everything.
        created: seconds since 1970.
    """

    name: str
    sha256: str
    scopes: tuple[str, ...]
    groups: tuple[str, ...] | None
    created: float


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Attributes:
        name: of the key; ``local`` where none is needed.
        scopes: what they may do.
        groups: what they may see; None for everything.
    """

    name: str
    scopes: frozenset[str]
    groups: tuple[str, ...] | None = None

    def may(self, scope: str) -> bool:
        """Whether a scope is theirs."""
        return scope in self.scopes or "admin" in self.scopes


#: Whoever asks from this machine where no keys are asked for.
LOCAL = Caller("local", frozenset(SCOPES))

#: Who does something without a key, as the audit log calls them.
NO_KEYS = (LOCAL.name, "server", "console")


class Keys:
    """The file of keys.

    Args:
        path: the file; not there as long as there are no keys.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[float, tuple[Key, ...]] | None = None

    def all(self) -> tuple[Key, ...]:
        """The keys, by name.

        Raises:
            StoreError: if the file is damaged.
        """
        try:
            changed = self._path.stat().st_mtime_ns
        except FileNotFoundError:
            return ()
        if self._read is None or self._read[0] != changed:
            self._read = (changed, self._parsed())
        return self._read[1]

    def _parsed(self) -> tuple[Key, ...]:
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
            return tuple(map(_key, rows))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise StoreError(f"{self._path}: keys cannot be read: {error}") from error

    def add(self, name: str, scopes: Sequence[str], groups: Sequence[str] | None) -> str:
        """Make a key.

        Args:
            name: see ``Key``.
            scopes: likewise.
            groups: likewise.

        Returns:
            The key itself, which is not kept.

        Raises:
            InputError: for a name that is taken, empty or not a key's, or an unknown scope.
            StoreError: if the file is damaged, or another command is changing it.
        """
        if not name.strip() or not name.isprintable():
            raise InputError(f"a key's name: expected a text on one line, got {name!r}")
        if name in NO_KEYS:
            raise InputError(f"a key's name: {name!r} is somebody without a key in the audit log")
        unknown = sorted(set(scopes) - set(SCOPES))
        if unknown or not scopes:
            raise InputError(f"scopes: expected some of {', '.join(SCOPES)}, got {list(scopes)}")
        text = PREFIX + secrets.token_urlsafe(32)
        made = Key(
            name,
            _hashed(text),
            tuple(sorted(set(scopes))),
            None if groups is None else tuple(groups),
            time.time(),
        )
        with self._alone():
            known = self.all()
            if any(key.name == name for key in known):
                raise InputError(f"there is a key named {name!r} already")
            self._write((*known, made))
        return text

    def revoke(self, name: str) -> None:
        """Forget a key; it counts no longer with the next request.

        Raises:
            InputError: if there is none of this name.
            StoreError: if the file is damaged, or another command is changing it.
        """
        with self._alone():
            known = self.all()
            kept = tuple(key for key in known if key.name != name)
            if len(kept) == len(known):
                raise InputError(f"there is no key named {name!r}")
            self._write(kept)

    def caller(self, text: str) -> Caller | None:
        """Who holds a key; None if nobody does.

        All keys are compared, so the time says nothing of which one comes near.
        """
        given, found = _hashed(text), None
        for key in self.all():
            if hmac.compare_digest(given, key.sha256):
                found = Caller(key.name, frozenset(key.scopes), key.groups)
        return found

    def _alone(self) -> AbstractContextManager[None]:
        """Keep other commands from writing what they read before: a revoked key would come back."""
        said = "another command is changing it; try again"
        return exclusive(self._path.with_suffix(".lock"), self._path, said)

    def _write(self, keys: Sequence[Key]) -> None:
        rows: list[dict[str, Any]] = [asdict(key) for key in keys]
        try:
            self._path.touch(mode=0o600)
            write_whole(self._path, json.dumps(rows, indent=2) + "\n")
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written: {error.strerror}") from error
        self._read = None


def make_folder(folder: Path) -> None:
    """Make the folder of a server, which only its owner may look into.

    Raises:
        InputError: if it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error


def _key(row: Any) -> Key:  # noqa: ANN401
    """A key as the file has it; whatever error, if it is none."""
    scopes, groups = row["scopes"], row["groups"]
    key = Key(
        **row | {"scopes": tuple(scopes), "groups": None if groups is None else tuple(groups)}
    )
    if not all(isinstance(text, str) for text in (key.name, *key.scopes, *(key.groups or ()))):
        raise TypeError("expected names as texts")
    if not _HASH.fullmatch(key.sha256):
        raise ValueError("expected a sha256 in hex")
    return key


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
