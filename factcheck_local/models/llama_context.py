"""A thin, safe layer over llama.cpp's C interface: tokens in, logits out.

On a CPU it is used in the way that makes a token's logits independent, to the bit, of how the
tokens before it were cut into batches, of what else a batch holds and of where in the cache its own
tokens lie. That takes three things, each measured without it to move a probability by up to 0.03:

* fused attention with values kept in bfloat16. Of its kernels that makes it take the one that goes
  through the cells that a row sees in their order, whatever lies between them, and adds up in
  float32; with keys and values in one type it is another one from 64 rows on, and unfused the
  sums go by blocks of cells;
* weights not repacked for the processor's own matrix kernels;
* batches of at least ``LEAST_ROWS`` tokens, and logits of fewer of them: weights in K-quants are
  multiplied by tiles from there on. The caller sees to it where something is scored.

On a GPU no such promise can be kept, so it gets what is fast there: large batches, and values as
they are.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from factcheck_local.core.closing import Closing
from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.models.adapter_rank import LANES, with_full_lanes
from factcheck_local.models.cores import available_cores

#: Tokens that one call of llama_decode may carry; also its micro-batch. A GPU is idle with fewer.
BATCH_TOKENS, GPU_BATCH_TOKENS = 512, 2048

#: Of ggml.h; the bindings name the older types alone.
GGML_TYPE_BF16 = 30

#: Rows of a batch from which on llama.cpp multiplies weights in K-quants by tiles.
LEAST_ROWS = 8

#: Branches at a time, with the sequence no more than a batch has tokens, and the tokens that all
#: may take of the cache beside the sequence's own. Of a large model without grouped attention one
#: takes half a megabyte.
BRANCHES, BRANCH_CELLS = 79, 4096

#: A row of a batch: sequence (0, or a branch), token, position, whether logits are wanted.
Row = tuple[int, int, int, bool]


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


class LlamaContext(Closing):
    """A loaded GGUF model with a key-value cache: a sequence, and branches that go on from it.

    Args:
        path: the GGUF file.
        n_ctx: tokens that the sequence may have, one branch included.
        n_threads: threads; None takes the cores this process may use.
        n_gpu_layers: layers to offload where the build supports it; 0 is CPU.
        branch_cells: tokens that all branches may have beside the sequence's.

    Attributes:
        batch_tokens: that one call of ``decode`` may append.
        cells: tokens that the sequence and all branches may have, the shared ones once.
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
        branch_cells: int = BRANCH_CELLS,
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
        params.n_ctx = self.cells = n_ctx + branch_cells
        params.n_seq_max = BRANCHES + 1
        params.kv_unified = True
        self.on_gpu = n_gpu_layers != 0 and can_offload()
        self.batch_tokens = GPU_BATCH_TOKENS if self.on_gpu else BATCH_TOKENS
        params.n_batch = params.n_ubatch = self.batch_tokens
        if self.on_gpu:
            params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO
        else:
            params.flash_attn_type = llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
            params.type_v = GGML_TYPE_BF16
        params.n_threads = params.n_threads_batch = n_threads or available_cores()
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
        last = len(tokens) - 1
        rows = [(0, t, start + i, wants_logits and i == last) for i, t in enumerate(tokens)]
        found = self.decode_rows(rows)
        return found[0] if found else np.empty(0, dtype=np.float32)

    def decode_rows(self, rows: Sequence[Row]) -> list[npt.NDArray[np.float32]]:
        """Append at most ``batch_tokens`` tokens, each to its sequence; see ``decode``.

        Returns:
            Logits of each row that wants them, in their order.
        """
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, (sequence, token, position, wanted) in enumerate(rows):
            batch.token[i] = token
            batch.pos[i] = position
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = wanted
        code = self._lib.llama_decode(self._ctx, batch)
        if code != 0:
            raise ScoringError(f"llama.cpp could not decode {len(rows)} tokens (code {code})")
        return [
            np.ctypeslib.as_array(
                self._lib.llama_get_logits_ith(self._ctx, i), shape=(self.n_vocab,)
            ).astype(np.float32)
            for i, (_, _, _, wanted) in enumerate(rows)
            if wanted
        ]

    @contextmanager
    def branched(self, count: int, keep: int) -> Iterator[None]:
        """Within it, branches 1 to ``count`` begin with the first ``keep`` tokens of the sequence.

        What is appended to the branches is gone at its end, so that the sequence's next tokens
        come to lie right behind it: the order of a sequence's cells decides how sums are rounded.

        Args:
            count: at most ``BRANCHES``.
            keep: of the sequence's tokens, which stay as they are.
        """
        self.fork(0, range(1, count + 1), keep)
        try:
            yield
        finally:
            self.drop(range(1, count + 1))

    def fork(self, source: int, branches: Iterable[int], keep: int) -> None:
        """Let empty branches begin with the first ``keep`` tokens of another one, or the sequence.

        Args:
            source: that one; 0 for the sequence.
            branches: at most ``BRANCHES``; to be dropped again.
            keep: of the source's tokens.
        """
        for branch in branches:
            self._lib.llama_memory_seq_cp(self._memory, source, branch, 0, keep)

    def drop(self, branches: Iterable[int]) -> None:
        """Make room in the cache of what branches appended; they are empty then."""
        for branch in branches:
            self._lib.llama_memory_seq_rm(self._memory, branch, -1, -1)

    def adapt(self, path: Path | None) -> None:
        """Decode with the low-rank adapter of a file from now on; None: with the model alone.

        What is in the cache was read with the former one, so the caller has to cut it.

        Raises:
            ModelError: if llama.cpp refuses the file, or it is of another model.
        """
        if path is not None and path not in self._adapters:
            self._adapters[path] = self._load_adapter(path)
        used = [] if path is None else [self._adapters[path]]
        handles = (self._lib.llama_adapter_lora_p_ctypes * len(used))(*used)
        scales = (ctypes.c_float * len(used))(*[1.0] * len(used))
        if self._lib.llama_set_adapters_lora(self._ctx, handles, len(used), scales) != 0:
            raise ModelError(f"{path}: llama.cpp cannot use this adapter")

    def _load_adapter(self, path: Path) -> Any:  # noqa: ANN401
        """An adapter's handle; it lives as long as the model, which frees it."""
        try:
            with nullcontext(path) if self.on_gpu else with_full_lanes(path) as file:
                found = self._lib.llama_adapter_lora_init(self._model, os.fsencode(file))
        except (OSError, ValueError) as error:
            raise ModelError(f"{path}: cannot be read as an adapter: {error}") from error
        if not found:
            raise ModelError(f"{path}: llama.cpp cannot load this adapter for the model")
        return found

    @property
    def build(self) -> str:
        """What else decides the cache's content: llama.cpp's version, its kernels, the types."""
        values = "f16" if self.on_gpu else f"bf16, ranks by {LANES}"
        info = self._lib.llama_print_system_info().decode()
        return f"{self._lib.__version__} {info} fused, values {values}"

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
        if self._ctx:
            if hasattr(self, "_batch"):
                self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self._ctx)
            self._ctx = None
        if self._model:
            self._lib.llama_model_free(self._model)
            self._model = None
