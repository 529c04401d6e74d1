"""States on disk: what a model made of the beginning of a prompt, kept between runs.

Two kinds are kept. A prompt's instructions and examples are the same in every run: only messages
that are marked ``fixed`` count, which come from the package's prompts and hold nothing of a
user's; they lie in the user's data directory. A passage is the same in every answer that it is
read for: what was made of it lies in its store's folder, and goes when its source changes, see
``Store.states``. Either part of the cache is written to a file after it was read once, and read
from there afterwards: the same bytes, so the same probabilities and replies.

Files are named by everything their content depends on: weights, adapter, tokens, llama.cpp's
version and the kernels that it takes on this processor. The name ends in the content's hash, so a
file that was damaged is read over, and written anew. Against somebody who can write to the folder
that is no protection; they could change the programs or the store as well.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from factcheck_local.models.cards import sha256_of

#: Shorter ones are read faster than a file is opened.
MIN_TOKENS = 128

#: Longer ones take more of the disk than they save; of a model of 1.5 B a token takes 28 KB.
MAX_TOKENS = 2048

#: Bytes of a folder, the latest used are kept.
LIMIT = 512 * 2**20

#: A file in a folder that says how many bytes it may take, where somebody has chosen that.
CHOSEN = "limit"

#: Seconds after which what was being written is of a process that was killed.
ABANDONED = 3600

#: Digits of the hashes in a file's name.
DIGITS = 32

logger = logging.getLogger(__name__)


class Stateful(Protocol):
    """A context whose sequence can be written to a file and read back."""

    @property
    def build(self) -> str:
        """What beside weights and tokens decides the content: the library and its kernels."""

    def save(self, path: Path, tokens: Sequence[int]) -> bool:
        """Write the sequence, which holds ``tokens``; False if that failed."""

    def load(self, path: Path, tokens: Sequence[int]) -> bool:
        """Make the sequence what a file holds; False if that is not of ``tokens``."""


def sizes(folder: Path) -> list[int]:
    """Bytes of each state in a folder and its parts."""
    return [about.st_size for _, about in _kept(folder)]


def give(folder: Path, limit: int) -> None:
    """Let the states in a folder take so many bytes from now on, whoever writes them.

    That goes with the folder.

    Raises:
        OSError: if the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CHOSEN).write_text(str(limit), encoding="ascii")


def given(folder: Path) -> int | None:
    """Bytes that the states in a folder may take, as somebody chose; None if nobody did.

    Raises:
        OSError: if the folder cannot be read.
    """
    try:
        return int((folder / CHOSEN).read_text(encoding="ascii"))
    except (FileNotFoundError, ValueError):
        return None


def _kept(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """The states in a folder and its parts, the latest used first."""
    found = []
    for path in folder.rglob("*.state"):
        with suppress(FileNotFoundError):  # another process may have made room
            found.append((path, path.stat()))
    return sorted(found, key=lambda one: -one[1].st_mtime_ns)


class PromptStates:
    """The states of one model.

    Args:
        folder: where its files are; made when the first is written.
        weights: hash of the model's file.
        limit: bytes that the folder may take, unless it was given others, see ``give``.
        most: tokens of a state; a longer one is not kept.
        part: a folder inside for those of this object, which can be removed apart from others.
    """

    def __init__(
        self,
        folder: Path,
        weights: str,
        *,
        limit: int = LIMIT,
        most: int = MAX_TOKENS,
        part: str = "",
    ) -> None:
        self._whole = folder
        self._folder = folder / part
        self._weights = weights
        self._limit = limit
        self._most = most

    def holds(self, context: Stateful, adapter: str, tokens: Sequence[int]) -> bool | None:
        """Whether the state of these tokens is kept; None if it never is, for their number.

        Args:
            context: that it would be of.
            adapter: hash of the adapter in use; empty for none.
            tokens: the beginning of a prompt.
        """
        if not MIN_TOKENS <= len(tokens) <= self._most:
            return None
        return any(self._folder.glob(f"{self._key(context, adapter, tokens)}.*.state"))

    def restore(self, context: Stateful, adapter: str, tokens: Sequence[int]) -> bool | None:
        """Bring a context to hold ``tokens``, if that was kept.

        Args:
            context: to be filled.
            adapter: hash of the adapter in use; empty for none.
            tokens: the beginning of a prompt.

        Returns:
            None if nothing was kept, the context is as it was; False if what was is damaged, the
            context is empty.
        """
        if not MIN_TOKENS <= len(tokens) <= self._most:
            return None
        found = None
        try:
            for path in self._folder.glob(f"{self._key(context, adapter, tokens)}.*.state"):
                whole = path.name.split(".")[1] == sha256_of(path)[:DIGITS]
                if whole and context.load(path, tokens):
                    # The latest used are kept; in a store that is only read, any are.
                    with suppress(OSError):
                        os.utime(path)
                    return True
                logger.info("%s: damaged; the prompt is read again", path)
                found = False
                path.unlink()
        except OSError as error:
            logger.info("%s: the state of a prompt cannot be read: %s", self._folder, error)
        return found

    def keep(self, context: Stateful, adapter: str, tokens: Sequence[int]) -> None:
        """Write the state of a context that holds ``tokens``.

        A folder that cannot be written to costs time in the next run and nothing else, so it is
        logged and no error.
        """
        if not MIN_TOKENS <= len(tokens) <= self._most:
            return
        key = self._key(context, adapter, tokens)
        partial = self._folder / f"{key}.{os.getpid()}.partial"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                if context.save(partial, tokens):
                    partial.replace(self._folder / f"{key}.{sha256_of(partial)[:DIGITS]}.state")
            finally:
                partial.unlink(missing_ok=True)
            self._make_room()
        except OSError as error:
            logger.info("%s: the state of a prompt is not kept: %s", self._folder, error)

    def _make_room(self) -> None:
        begun = time.time() - ABANDONED
        for partial in self._whole.rglob("*.partial"):
            with suppress(FileNotFoundError):
                if partial.stat().st_mtime < begun:
                    partial.unlink()
        chosen = given(self._whole)
        total, limit = 0, self._limit if chosen is None else chosen
        for path, about in _kept(self._whole):
            total += about.st_size
            if total > limit:
                path.unlink(missing_ok=True)

    def _key(self, context: Stateful, adapter: str, tokens: Sequence[int]) -> str:
        parts = "\n".join((self._weights, adapter, context.build, " ".join(map(str, tokens))))
        return hashlib.sha256(parts.encode()).hexdigest()[:DIGITS]
