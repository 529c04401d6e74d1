"""A thin, safe layer over llama.cpp's C interface: tokens in, logits out.

On a CPU it is used in the way that makes a token's logits independent, to the bit, of
how the tokens before it were cut into batches (measured: sharing a prefix
then changes no probability, while each of the following moved one by up to
0.03): attention without the fused kernel, weights not repacked for the
processor's own matrix kernels, and one sequence, so that a continuation lies
where it would lie had the prompt been read in one go. A batch of a single token
takes yet another kernel; the caller avoids it where a prompt is read. On a GPU no
such promise can be kept, so it gets what is fast there: fused attention, large batches.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.models.cores import available_cores
from factcheck_local.models.llama_branches import LlamaBranches

#: Tokens that one call of llama_decode may carry; also its micro-batch. A GPU is idle with fewer.
BATCH_TOKENS, GPU_BATCH_TOKENS = 512, 2048


def can_offload() -> bool:
    """Whether llama.cpp was built for a GPU and sees one."""
    import llama_cpp

    return bool(llama_cpp.llama_supports_gpu_offload())


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)  # type: ignore[untyped-decorator]
def _silent(_level: int, _text: bytes, _data: Any) -> None:  # noqa: ANN401
    """Swallow llama.cpp's log: its failures come back as return codes."""


def silence() -> None:
    """Let llama.cpp log nothing."""
    import llama_cpp

    llama_cpp.llama_log_set(_silent, ctypes.c_void_p(0))


class LlamaContext:
    """A loaded GGUF model with a key-value cache that holds one sequence.

    Args:
        path: the GGUF file.
        n_ctx: tokens that the sequence may have.
        n_threads: threads; None takes the cores this process may use.
        n_gpu_layers: layers to offload where the build supports it; 0 is CPU.

    Attributes:
        batch_tokens: that one call of ``decode`` may append.
        n_ctx: tokens that the sequence may have.
        n_vocab: length of a row of logits.
        on_gpu: whether layers are offloaded.

    Raises:
        ModelError: if llama.cpp refuses the file or the context.
    """

    def __init__(
        self,
        path: Path,
        *,
        n_ctx: int,
        n_threads: int | None = None,
        n_gpu_layers: int = 0,
    ) -> None:
        import llama_cpp

        self._lib: Any = llama_cpp
        self._model = self._ctx = None
        silence()
        llama_cpp.llama_backend_init()
        model_params = llama_cpp.llama_model_default_params()
        model_params.n_gpu_layers = n_gpu_layers
        model_params.use_extra_bufts = False
        self._model = llama_cpp.llama_model_load_from_file(os.fsencode(path), model_params)
        if not self._model:
            raise ModelError(f"{path}: llama.cpp cannot load this file (truncated, or not a GGUF)")
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = n_ctx
        self.on_gpu = n_gpu_layers != 0 and can_offload()
        self.batch_tokens = GPU_BATCH_TOKENS if self.on_gpu else BATCH_TOKENS
        params.n_batch = params.n_ubatch = self.batch_tokens
        params.flash_attn_type = (
            llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO
            if self.on_gpu
            else llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
        )
        params.n_threads = params.n_threads_batch = n_threads or available_cores()
        self._params = params
        self._ctx = llama_cpp.llama_init_from_model(self._model, params)
        if not self._ctx:
            self.close()
            raise ModelError(f"{path}: llama.cpp cannot make a context of {n_ctx} tokens")
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._memory = llama_cpp.llama_get_memory(self._ctx)
        self._batch = llama_cpp.llama_batch_init(self.batch_tokens, 0, 1)
        self.n_vocab: int = llama_cpp.llama_vocab_n_tokens(self._vocab)
        self.n_ctx = n_ctx
        self._adapters: dict[Path, Any] = {}
        self._branches: LlamaBranches | None = None
        self._branched: Path | None = None

    def tokenize(self, text: str, *, markup: bool) -> list[int]:
        """Token ids of ``text``, without a begin-of-text token.

        Args:
            text: what to tokenise.
            markup: whether control tokens written out in ``text`` are taken
                as such. True for a template's own pieces only, never for content.
        """
        data = text.encode("utf-8")
        capacity = len(data) + 8
        buffer = (self._lib.llama_token * capacity)()
        count = self._lib.llama_tokenize(
            self._vocab, data, len(data), buffer, capacity, False, markup
        )
        if count < 0:
            raise ScoringError(f"llama.cpp cannot tokenise a text of {len(text)} characters")
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; control tokens give none."""
        buffer = ctypes.create_string_buffer(256)
        size = self._lib.llama_token_to_piece(self._vocab, token, buffer, 256, 0, False)
        return buffer.raw[: max(size, 0)]

    def ends_turn(self, token: int) -> bool:
        """Whether the token closes the model's turn."""
        return bool(self._lib.llama_vocab_is_eog(self._vocab, token))

    @property
    def begin_token(self) -> int | None:
        """The begin-of-text token, where the model wants one in front."""
        if not self._lib.llama_vocab_get_add_bos(self._vocab):
            return None
        return int(self._lib.llama_vocab_bos(self._vocab))

    def decode(
        self, tokens: Sequence[int], start: int, *, wants_logits: bool
    ) -> npt.NDArray[np.float32]:
        """Append at most ``batch_tokens`` tokens at position ``start``.

        Returns:
            Logits after the last token, shape (n_vocab,), a copy since the next
            call overwrites llama.cpp's buffer; shape (0,) unless wanted.

        Raises:
            ScoringError: if the cache has no room or the computation fails.
        """
        batch = self._batch
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = start + i
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = 0
            batch.logits[i] = wants_logits and i == len(tokens) - 1
        code = self._lib.llama_decode(self._ctx, batch)
        if code != 0:
            raise ScoringError(f"llama.cpp could not decode {len(tokens)} tokens (code {code})")
        if not wants_logits:
            return np.empty(0, dtype=np.float32)
        pointer = self._lib.llama_get_logits_ith(self._ctx, -1)
        return np.ctypeslib.as_array(pointer, shape=(self.n_vocab,)).astype(np.float32)

    def adapt(self, path: Path | None) -> None:
        """Decode with the low-rank adapter of a file from now on; None: with the model alone.

        What is in the cache was read with the former one, so the caller has to cut it.

        Raises:
            ModelError: if llama.cpp refuses the file, or it is of another model.
        """
        self._adapt(self._ctx, path)

    def branches(self, path: Path | None, *, n_ctx: int, most: int) -> LlamaBranches:
        """A context for continuations side by side, with the adapter of a file; made once.

        Args:
            path: of the adapter; None for the model alone.
            n_ctx: tokens that stem and branches may have together.
            most: branches at a time.

        Raises:
            ModelError: if llama.cpp refuses the context, or as in ``adapt``.
        """
        if self._branches is None:
            self._branches = LlamaBranches(
                self._lib, self._model, self._params, n_ctx=n_ctx, most=most
            )
        if self._branched != path:
            self._adapt(self._branches.handle, path)
            self._branches.forget()
            self._branched = path
        return self._branches

    def _adapt(self, context: Any, path: Path | None) -> None:  # noqa: ANN401
        if path is not None and path not in self._adapters:
            # It lives as long as the model, which frees it.
            found = self._lib.llama_adapter_lora_init(self._model, os.fsencode(path))
            if not found:
                raise ModelError(f"{path}: llama.cpp cannot load this adapter for the model")
            self._adapters[path] = found
        used = [] if path is None else [self._adapters[path]]
        handles = (self._lib.llama_adapter_lora_p_ctypes * len(used))(*used)
        scales = (ctypes.c_float * len(used))(*[1.0] * len(used))
        if self._lib.llama_set_adapters_lora(context, handles, len(used), scales) != 0:
            raise ModelError(f"{path}: llama.cpp cannot use this adapter")

    @property
    def build(self) -> str:
        """llama.cpp's version and the kernels that it takes here, by which a cache may differ."""
        return f"{self._lib.__version__} {self._lib.llama_print_system_info().decode()}"

    def save(self, path: Path, tokens: Sequence[int]) -> bool:
        """Write the sequence to a file.

        Args:
            path: of the file.
            tokens: that the sequence holds.

        Returns:
            False if llama.cpp could not.
        """
        array = (self._lib.llama_token * len(tokens))(*tokens)
        size = self._lib.llama_state_seq_save_file(
            self._ctx, os.fsencode(path), 0, array, len(tokens)
        )
        return bool(size)

    def load(self, path: Path, tokens: Sequence[int]) -> bool:
        """Make the sequence what ``save`` wrote to a file.

        Returns:
            False if it is of other tokens or another model; the sequence is empty then.
        """
        self.cut(0)
        array, count = (self._lib.llama_token * len(tokens))(), ctypes.c_size_t(0)
        size = self._lib.llama_state_seq_load_file(
            self._ctx, os.fsencode(path), 0, array, len(tokens), ctypes.byref(count)
        )
        if size and list(array[: count.value]) == list(tokens):
            return True
        self.cut(0)
        return False

    def cut(self, keep: int) -> None:
        """Forget the tokens from position ``keep`` on."""
        self._lib.llama_memory_seq_rm(self._memory, 0, keep, -1)

    def close(self) -> None:
        """Free the model; a second call does nothing."""
        branches: LlamaBranches | None = getattr(self, "_branches", None)
        if branches is not None:
            branches.close()
            self._branches = None
        if self._ctx:
            if hasattr(self, "_batch"):
                self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self._ctx)
            self._ctx = None
        if self._model:
            self._lib.llama_model_free(self._model)
            self._model = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
