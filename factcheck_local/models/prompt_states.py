"""Prompt states on disk: what a model made of instructions and examples, kept between runs.

A prompt's examples are many more tokens than what is asked, and the same in every run. Their part
of the cache is written to a file after it was read once, and read from there by the next process:
the same bytes, so the same probabilities and replies. Only messages that are marked ``fixed`` are
kept, which come from the package's prompts and hold nothing of a user's.

Files lie in the user's data directory, by everything their content depends on: weights, adapter,
tokens, llama.cpp's version and the kernels that it takes on this processor. The name ends in the
content's hash, so a file that was damaged is read over, and written anew. Against somebody who can
write to the directory that is no protection; they could change the programs there as well.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from factcheck_local.models.cards import sha256_of

#: Shorter ones are read faster than a file is opened.
MIN_TOKENS = 128

#: States that are kept for a model, the latest used; one of 1,500 tokens takes some 40 MB.
KEPT = 12

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


class PromptStates:
    """The states of one model.

    Args:
        folder: where its files are; made when the first is written.
        weights: hash of the model's file.
    """

    def __init__(self, folder: Path, weights: str) -> None:
        self._folder = folder
        self._weights = weights

    def restore(self, context: Stateful, adapter: str, tokens: Sequence[int]) -> bool:
        """Bring a context to hold ``tokens``, if that was kept; else it holds nothing.

        Args:
            context: to be filled; what it held is gone in either case.
            adapter: hash of the adapter in use; empty for none.
            tokens: the fixed beginning of a prompt.
        """
        if len(tokens) < MIN_TOKENS:
            return False
        try:
            for path in self._folder.glob(f"{self._key(context, adapter, tokens)}.*.state"):
                whole = path.name.split(".")[1] == sha256_of(path)[:DIGITS]
                if whole and context.load(path, tokens):
                    os.utime(path)  # the latest used are kept
                    return True
                logger.info("%s: damaged; the prompt is read again", path)
                path.unlink()
        except OSError as error:
            logger.info("%s: the state of a prompt cannot be read: %s", self._folder, error)
        return False

    def keep(self, context: Stateful, adapter: str, tokens: Sequence[int]) -> None:
        """Write the state of a context that holds ``tokens``.

        A folder that cannot be written to costs time in the next run and nothing else, so it is
        logged and no error.
        """
        if len(tokens) < MIN_TOKENS:
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
            found = sorted(self._folder.glob("*.state"), key=lambda p: -p.stat().st_mtime)
            for old in found[KEPT:]:
                old.unlink(missing_ok=True)
        except OSError as error:
            logger.info("%s: the state of a prompt is not kept: %s", self._folder, error)

    def _key(self, context: Stateful, adapter: str, tokens: Sequence[int]) -> str:
        parts = "\n".join((self._weights, adapter, context.build, " ".join(map(str, tokens))))
        return hashlib.sha256(parts.encode()).hexdigest()[:DIGITS]
