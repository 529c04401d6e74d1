"""Scores that were computed before, kept in the store: a verdict cache.

What is kept is a scorer's raw log probabilities, to the last bit, so a run over the
cache gives the numbers of a run without it, and a calibration can change without a
pair being read again. The key is a hash of everything that a score depends on; the
id of the scorer names the prompt, and the prompt's version is raised with its wording.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from factcheck_local.core.errors import ModelError
from factcheck_local.core.keyed_file import KeyedFile
from factcheck_local.core.types import SUM_TOLERANCE
from factcheck_local.pipeline.relation.scorer import LogProbabilities, PairScorer, Premise

#: Little-endian, so that a store can be carried to another machine.
_ROW = np.dtype("<f8")


class ScoreCache:
    """A file of scores by key; several processes may share it."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            StoreError: if it is damaged, or of another version.
        """
        self._file = KeyedFile(
            path,
            "scores",
            "log_p",
            what="the cache of verdicts",
            hint=f"rm {path}*, which loses nothing but time; or --no-cache",
        )

    def get(self, keys: Sequence[bytes]) -> dict[bytes, LogProbabilities]:
        """The rows that are there, by key; each of shape (3,).

        Raises:
            StoreError: if the file is damaged.
        """
        return {key: self._decode(data) for key, data in self._file.read(keys).items()}

    def put(self, rows: Mapping[bytes, LogProbabilities]) -> None:
        """Keep rows of shape (3,) by key: all of them, on disk, or none.

        Raises:
            StoreError: if the file is damaged or cannot be written.
        """
        self._file.write({key: row.astype(_ROW).tobytes() for key, row in rows.items()})

    def _decode(self, data: object) -> LogProbabilities:
        if not isinstance(data, bytes) or len(data) != 3 * _ROW.itemsize:
            raise self._file.error("a score is not three numbers")
        row = np.frombuffer(data, dtype=_ROW).astype(np.float64)
        # A comparison with NaN is false, so this refuses NaN too.
        if not abs(np.exp(np.minimum(row, 1.0)).sum() - 1.0) <= SUM_TOLERANCE:
            raise self._file.error(f"a score is no distribution: {row.tolist()}")
        return row


class CachedPairScorer:
    """A scorer that reads only what it has not read before; implements ``PairScorer``.

    A failure is never kept: the pair is tried again the next time.

    Attributes:
        id: the wrapped scorer's.
        sha256: the wrapped scorer's.
    """

    def __init__(
        self,
        load: Callable[[], PairScorer],
        scorer_id: str,
        sha256: str,
        cache: ScoreCache,
        *,
        at_once: int = 1,
        reading: str = "",
    ) -> None:
        """Wrap a scorer that is loaded at the first miss.

        Args:
            load: gives the scorer; called at most once.
            scorer_id: its id, known beforehand.
            sha256: hash of its weights, known beforehand.
            cache: where scores are kept.
            at_once: threads that may ask it at the same time, known beforehand.
            reading: how it reads a pair, where that has changed: earlier scores are not used.
        """
        self._reading = (reading,) if reading else ()
        self._load = load
        self._cache = cache
        self.id = scorer_id
        self.sha256 = sha256
        self.at_once = at_once
        self._loading = threading.Lock()

    @property
    def scorer(self) -> PairScorer:
        """The wrapped scorer, loaded on first use, once for all threads.

        Raises:
            ModelError: if it cannot be loaded, or is not the one that was announced.
        """
        with self._loading:
            return self._scorer

    @cached_property
    def _scorer(self) -> PairScorer:
        found = self._load()
        if (found.id, found.sha256) != (self.id, self.sha256):
            raise ModelError(
                f"expected the scorer {self.id}, sha256 {self.sha256[:16]}…, "
                f"got {found.id}, sha256 {found.sha256[:16]}…"
            )
        return found

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        """Score each hypothesis against the premise; see ``PairScorer``.

        The missing ones are read together, and kept before this returns.

        Raises:
            StoreError: if the cache is damaged.
        """
        keys = [self._key(premise, h) for h in hypotheses]
        found = self._cache.get(keys)
        missing = {k: h for k, h in zip(keys, hypotheses, strict=True) if k not in found}
        if missing:
            scored = self.scorer.score(premise, list(missing.values()))
            new = dict(zip(missing, np.asarray(scored, dtype=np.float64), strict=True))
            self._cache.put(new)
            found |= new
        return np.array([found[k] for k in keys], dtype=np.float64).reshape(-1, 3)

    def _key(self, premise: Premise, hypothesis: str) -> bytes:
        # As JSON: its quotes and escapes keep one text from running into the next.
        parts = [self.id, self.sha256, premise.title, premise.text, hypothesis, *self._reading]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).digest()
