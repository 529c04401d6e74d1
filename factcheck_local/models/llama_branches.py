"""Several continuations of one prompt, decoded side by side in a context of their own.

Decoding is bound by reading the weights: a batch of eight continuations takes little more than
twice the time of one. The order in a batch is that of the continuations, so a run repeats to the
bit; among others a continuation's logits may differ in their last bits, so nothing that is
scored goes this way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError, ScoringError


class LlamaBranches:
    """A key-value cache that holds a stem and branches that go on from it.

    Args:
        lib: the bindings of llama.cpp.
        model: its handle of the model, which has to outlive this.
        params: of a context, with threads, batch size and attention set.
        n_ctx: tokens that the stem and all branches may have together.
        most: branches at a time.

    Raises:
        ModelError: if llama.cpp refuses the context.
    """

    def __init__(self, lib: Any, model: Any, params: Any, *, n_ctx: int, most: int) -> None:  # noqa: ANN401
        params.n_ctx = n_ctx
        params.n_seq_max = most + 1
        params.kv_unified = True
        self._lib = lib
        self.handle = lib.llama_init_from_model(model, params)
        if not self.handle:
            raise ModelError(
                f"llama.cpp cannot make a context of {n_ctx} tokens in {most} branches"
            )
        self._memory = lib.llama_get_memory(self.handle)
        self._batch = lib.llama_batch_init(params.n_batch, 0, 1)
        self._n_vocab = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))
        self._batch_tokens = int(params.n_batch)
        self._stem: list[int] = []
        self.n_ctx = n_ctx
        self.most = most

    def grow(self, stem: Sequence[int], count: int) -> None:
        """Begin anew: ``count`` empty branches on a stem, which is read unless it is there."""
        for branch in range(1, self.most + 1):
            self._lib.llama_memory_seq_rm(self._memory, branch, -1, -1)
        if list(stem) != self._stem:
            self.forget()
            for at in range(0, len(stem), self._batch_tokens):
                part = stem[at : at + self._batch_tokens]
                self._decode([(0, token, at + i, False) for i, token in enumerate(part)])
            self._stem = list(stem)
        for branch in range(1, count + 1):
            self._lib.llama_memory_seq_cp(self._memory, 0, branch, -1, -1)

    def forget(self) -> None:
        """Empty the cache."""
        self._lib.llama_memory_clear(self._memory, True)
        self._stem = []

    def extend(
        self, pieces: Sequence[tuple[int, Sequence[int], int]]
    ) -> list[npt.NDArray[np.float32]]:
        """Append tokens to branches.

        Args:
            pieces: branch (from 1), tokens (one at least), and the position of the first.

        Returns:
            For each the logits after its last token, shape (n_vocab,).

        Raises:
            ScoringError: if the cache has no room or the computation fails.
        """
        rows = [
            (branch, token, start + i, i == len(tokens) - 1)
            for branch, tokens, start in pieces
            for i, token in enumerate(tokens)
        ]
        found: list[npt.NDArray[np.float32]] = []
        for at in range(0, len(rows), self._batch_tokens):
            found += self._decode(rows[at : at + self._batch_tokens])
        return found

    def _decode(self, rows: Sequence[tuple[int, int, int, bool]]) -> list[npt.NDArray[np.float32]]:
        """One batch of (branch, token, position, wants logits)."""
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, (branch, token, position, wanted) in enumerate(rows):
            batch.token[i] = token
            batch.pos[i] = position
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = branch
            batch.logits[i] = wanted
        code = self._lib.llama_decode(self.handle, batch)
        if code != 0:
            self.forget()
            raise ScoringError(f"llama.cpp could not decode {len(rows)} tokens (code {code})")
        return [
            np.ctypeslib.as_array(
                self._lib.llama_get_logits_ith(self.handle, i), shape=(self._n_vocab,)
            ).astype(np.float32)
            for i, (_, _, _, wanted) in enumerate(rows)
            if wanted
        ]

    def close(self) -> None:
        """Free the context; a second call does nothing."""
        if self.handle:
            self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self.handle)
            self.handle = None
