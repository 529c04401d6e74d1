"""The prompt that a llama.cpp context holds, and how it comes to hold another one.

The cache keeps the tokens of the last prompt, and a new prompt decodes only what differs from it.
What was read before and kept on disk is not read again; see ``prompt_states``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import TooLongError
from factcheck_local.models.adapters import Adapter
from factcheck_local.models.llama_context import LEAST_ROWS, LlamaContext
from factcheck_local.models.prompt_states import PromptStates
from factcheck_local.models.token_runs import runs


class PromptCache:
    """Tokens in, logits out, each token decoded once as long as prompts begin alike.

    Args:
        model_id: what an error calls the model.
        llama: the context; nothing else may decode with it.
        adapters: by the id of the prompt that each is for.
        states: where the states of fixed beginnings are kept; None for nowhere.
    """

    def __init__(
        self,
        model_id: str,
        llama: LlamaContext,
        adapters: Mapping[str, Adapter],
        states: PromptStates | None,
    ) -> None:
        self._id = model_id
        self._llama = llama
        self._adapters = adapters
        self._states = states
        self._tokens: list[int] = []
        self._using: str | None = None

    def forget(self) -> None:
        """Empty the cache, so that the next prompt is read from its first token."""
        self._llama.cut(0)
        self._tokens = []

    def use(self, prompt: str | None) -> None:
        """Switch to the adapter for a prompt; what was read with another one is forgotten."""
        if prompt != self._using:
            self._llama.adapt(self._adapters[prompt].path if prompt else None)
            self.forget()
            self._using = prompt

    def holds(self, tokens: list[int], states: PromptStates) -> bool | None:
        """Whether the state of ``tokens`` is on the disk; None if it never is."""
        return states.holds(self._llama, self._adapter, tokens)

    def read(
        self,
        tokens: list[int],
        *,
        room: int,
        wants_logits: bool = False,
        fixed: int = 0,
        states: PromptStates | None = None,
    ) -> npt.NDArray[np.float32]:
        """Bring the cache to hold ``tokens``.

        Args:
            tokens: of a prompt.
            room: tokens that are to follow.
            wants_logits: of the last token.
            fixed: how many of the first tokens are the same in every run.
            states: where the state of all of ``tokens`` is kept; None for nowhere. Logits are not.

        Returns:
            Logits after the last token, shape (n_vocab,), or shape (0,) unless wanted.

        Raises:
            TooLongError: if the context is too short.
        """
        if len(tokens) + room > self._llama.n_ctx:
            raise TooLongError(
                f"{self._id}: a prompt of {len(tokens)} tokens with {room} to follow does not "
                f"fit the context of {self._llama.n_ctx}"
            )
        whole = self._tokens[: len(tokens)] == tokens
        if states and not whole and self._restore(states, tokens):
            return np.empty(0, dtype=np.float32)
        shared = _common_prefix(self._tokens, tokens)
        # Fewer tokens would take another kernel, see ``llama_context``, and with it the logits
        # after one prompt in three differ (by up to 0.9 after a single one, SmolLM2 Q4_1).
        last = max(len(tokens) - LEAST_ROWS, 0)
        if self._states and shared < fixed - 1 and fixed < len(tokens):
            shared = self._read_fixed(self._states, tokens[:fixed])
        if wants_logits or shared < len(tokens):
            shared = min(shared, last)
        logits = self._decode(tokens, shared, wants_logits=wants_logits)
        if states and not (whole and self.holds(tokens, states)):
            states.keep(self._llama, self._adapter, tokens)
        return logits

    @property
    def _adapter(self) -> str:
        """Hash of the adapter in use; empty for none."""
        return self._adapters[self._using].sha256 if self._using else ""

    def _restore(self, states: PromptStates, tokens: list[int]) -> bool:
        """Take ``tokens`` from the disk; the cache is empty where a file proves to be damaged."""
        found = states.restore(self._llama, self._adapter, tokens)
        if found is not None:
            self._tokens = list(tokens) if found else []
        return bool(found)

    def _read_fixed(self, states: PromptStates, tokens: list[int]) -> int:
        """Bring the cache to hold the fixed beginning of a prompt; how many tokens it has."""
        if not self._restore(states, tokens):
            self._decode(tokens, 0, wants_logits=False)
            states.keep(self._llama, self._adapter, tokens)
        return len(tokens)

    def _decode(
        self, tokens: list[int], shared: int, *, wants_logits: bool
    ) -> npt.NDArray[np.float32]:
        """Decode ``tokens`` from position ``shared`` on; what the cache has there goes."""
        self._llama.cut(shared)
        self._tokens = self._tokens[:shared]
        logits = np.empty(0, dtype=np.float32)
        for part in runs(range(shared, len(tokens)), self._llama.batch_tokens):
            piece = tokens[part.start : part.stop]
            logits = self._llama.decode(
                piece, part.start, wants_logits=wants_logits and part.stop == len(tokens)
            )
            self._tokens += piece
        return logits


def _common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Number of leading tokens that two prompts share."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count
