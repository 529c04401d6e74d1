"""An instructed LLM in this process: text generation and exact label scoring.

One mechanism serves both, see ``llama_cache``: prompts that share their beginning
(instructions and examples, then a passage) pay for it once.
"""

from __future__ import annotations

import codecs
import copy
import os
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.models.adapters import Adapter
from factcheck_local.models.cards import ModelCard, data_directory
from factcheck_local.models.chat_format import chat_format
from factcheck_local.models.contracts import Labelled, Message
from factcheck_local.models.llama_branches import extend, groups, read_after
from factcheck_local.models.llama_cache import PromptCache
from factcheck_local.models.llama_context import (
    BRANCH_CELLS,
    BRANCHES,
    LlamaContext,
    can_offload,
)
from factcheck_local.models.llama_writing import Written, next_token, written
from factcheck_local.models.prompt_states import PromptStates

#: Of passages, in a store's folder: bytes, and tokens of one with its instructions. With examples
#: in front of it a passage would take as much of the disk as seven without.
PASSAGE_BYTES, PASSAGE_TOKENS = 2**30, 1024

#: Endings that are read side by side before their texts are written, and the tokens that these may
#: take of the cache beside what they share.
ENDINGS, WRITING_CELLS = 16, 8192


def gpu_layers() -> int:
    """How many layers to offload: what FACTCHECK_GPU_LAYERS says, -1 for all.

    Without it all, where llama.cpp was built for a GPU and sees one, else none.

    Raises:
        ModelError: if it is not a number.
    """
    layers = os.environ.get("FACTCHECK_GPU_LAYERS")
    if layers is None:
        return -1 if can_offload() else 0
    if not re.fullmatch("-?[0-9]+", layers):
        raise ModelError(f"FACTCHECK_GPU_LAYERS is {layers!r}: expected a whole number")
    return int(layers)


class LlamaCppModel:
    """A GGUF chat model; implements ``Adaptable``, ``Remembering`` and, adapted, ``Adapted``.

    What ``adapted`` and ``remembering`` give shares the model and its memory.

    Args:
        model_id: name of the model's card.
        sha256: hash of the file, as checked by the caller.
        path: the GGUF file.
        context_length: tokens that a prompt and its continuations may take.
        template: name of the chat format.
        n_threads: threads; None takes the cores this process may use.
        n_gpu_layers: layers to offload; 0 keeps everything on the CPU.
        adapters: by the id of the prompt that each is for, checked by the caller.
        states: where the states of fixed prompts are kept; None for nowhere.
    """

    def __init__(
        self,
        model_id: str,
        sha256: str,
        path: Path,
        *,
        context_length: int,
        template: str,
        n_threads: int | None = None,
        n_gpu_layers: int = 0,
        adapters: Mapping[str, Adapter] | None = None,
        states: PromptStates | None = None,
    ) -> None:
        self.id = model_id
        self.sha256 = sha256
        self._format = chat_format(template)
        self._llama = LlamaContext(
            path,
            n_ctx=context_length,
            n_threads=n_threads,
            n_gpu_layers=n_gpu_layers,
            branch_cells=WRITING_CELLS if adapters else BRANCH_CELLS,
        )
        self._adapters = dict(adapters or {})
        self._cache = PromptCache(model_id, self._llama, self._adapters, states)
        self._prompt: str | None = None
        self._passages: PromptStates | None = None

    @classmethod
    def from_card(cls, card: ModelCard) -> Self:
        """Build from a card whose files were checked; its only file is the GGUF.

        Raises:
            ModelError: if FACTCHECK_GPU_LAYERS is not a number or llama.cpp refuses the file.
        """
        return cls(
            card.id,
            card.sha256,
            card.folder / card.files[0].path,
            context_length=int(card.options["context_length"]),
            template=card.options["chat_format"],
            n_gpu_layers=gpu_layers(),
            adapters=card.adapters,
            states=PromptStates(data_directory() / "prompt-states" / card.id, card.weights),
        )

    @property
    def adapters(self) -> dict[str, str]:
        """Hash of each adapter by the id of its prompt, none if one is on; see ``Adaptable``."""
        given = {} if self._prompt else self._adapters
        return {prompt: adapter.sha256 for prompt, adapter in given.items()}

    def adapted(self, prompt: str) -> Self:
        """The model with one of its adapters; see ``Adaptable``."""
        if prompt not in self.adapters:
            raise ModelError(f"{self.id}: no adapter for the prompt {prompt}")
        other = copy.copy(self)
        other._prompt = prompt
        return other

    def remembering(self, folder: Path, part: str = "") -> Self:
        """The same, what endings share kept in a folder; see ``Remembering``."""
        other = copy.copy(self)
        # A GPU reads a passage faster than its state comes from the disk.
        if not self._llama.on_gpu:
            other._passages = PromptStates(
                folder, self.sha256, limit=PASSAGE_BYTES, most=PASSAGE_TOKENS, part=part
            )
        return other

    def remembers(self, messages: Sequence[Message]) -> bool | None:
        """Whether the state of a chat's beginning is on the disk; see ``Remembered``."""
        if self._passages is None:
            return None
        self._cache.use(self._prompt)
        return self._cache.holds(self._tokens(messages, unfinished=True), self._passages)

    def remember(self, messages: Sequence[Message]) -> None:
        """Bring the state of a chat's beginning to the disk; see ``Remembered``."""
        if self.remembers(messages) is False:
            prefix = self._tokens(messages, unfinished=True)
            self._cache.read(prefix, room=0, fixed=self._fixed(messages), states=self._passages)

    def forget(self) -> None:
        """Empty the cache, so that the next prompt is read from its first token."""
        self._cache.forget()

    def close(self) -> None:
        """Free the model's memory."""
        self._llama.close()

    # ------------------------------------------------------------ generation

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        start: str = "",
        temperature: float = 0.0,
        seed: int = 0,
    ) -> str:
        """Continue the chat; see ``TextGenerator``."""
        self._cache.use(self._prompt)
        prompt = self._tokens(messages) + self._assistant_opening()
        prompt += self._llama.tokenize(start, markup=False)
        logits = self._cache.read(
            prompt, room=max_tokens, wants_logits=True, fixed=self._fixed(messages)
        )
        # A character may span tokens, so bytes are decoded incrementally.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = ""
        draw = np.random.default_rng(seed)
        # Read one by one: nothing of the reply is shared with the next prompt, see ``PromptCache``.
        for count in range(max_tokens):
            token = next_token(logits, temperature, draw)
            if self._llama.ends_turn(token):
                break
            text += decoder.decode(self._llama.piece(token))
            cut = min((at for at in map(text.find, stop) if at >= 0), default=-1)
            if cut >= 0:
                return text[:cut]
            logits = self._llama.decode([token], len(prompt) + count, wants_logits=True)
        return text + decoder.decode(b"", final=True)

    # --------------------------------------------------------------- scoring

    def score_labels(
        self, messages: Sequence[Message], endings: Sequence[str], labels: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Score labels after endings of one shared prompt; see ``LabelScorer``."""
        label_tokens = self._first_tokens(labels)
        scores = np.empty((len(endings), len(labels)))
        if not endings:
            return scores
        self._cache.use(self._prompt)
        tails = self._tails(messages, endings)
        prefix = self._tokens(messages, unfinished=True)
        longest, fixed = max(map(len, tails)), self._fixed(messages)
        self._cache.read(prefix, room=longest, fixed=fixed, states=self._passages)
        for i, logits in enumerate(read_after(self._llama, prefix, tails)):
            scores[i] = self._label_scores(logits, label_tokens)
        return scores

    def _label_scores(
        self, logits: npt.NDArray[np.float32], label_tokens: Sequence[int]
    ) -> npt.NDArray[np.float64]:
        chosen = logits[list(label_tokens)].astype(np.float64)
        if not np.isfinite(chosen).all():
            raise ScoringError(f"{self.id}: gave no numbers for its labels")
        found: npt.NDArray[np.float64] = chosen - np.logaddexp.reduce(chosen)
        return found

    def label_and_write(
        self,
        messages: Sequence[Message],
        endings: Sequence[str],
        labels: Sequence[str],
        *,
        least: float,
        max_tokens: int,
        draws: int = 0,
        progress: Progress = silent,
    ) -> list[Labelled]:
        """Labels and texts after endings of one shared prompt; see ``Adapted``.

        Raises:
            ModelError: without an adapter, too.
        """
        if self._prompt is None:
            raise ModelError(f"{self.id}: no adapter to write with")
        self._cache.use(self._prompt)
        stem = self._tokens(messages, unfinished=True)
        tails = self._tails(messages, endings)
        begin = self._llama.tokenize(f"{labels[0]}\n", markup=False)
        most = len(begin) + max_tokens
        longest = max(map(len, tails), default=0) + most
        self._cache.read(stem, room=longest, fixed=self._fixed(messages))
        label_tokens = self._first_tokens(labels)
        found: list[Labelled] = []
        begun = 0

        def told(going: int) -> None:
            progress(begun - going, len(tails))

        room = self._llama.cells - len(stem)
        for group in groups(tails, ENDINGS, room - most):
            branches = dict(enumerate(group, start=1))
            # So many have room to write side by side, should each text be as long as it may.
            together = (room - sum(map(len, group))) // most
            spare = range(ENDINGS + 1, BRANCHES + 1)
            texts: dict[int, Written] = {}
            with self._llama.branched(len(group), len(stem)):
                rows = extend(self._llama, {b: (tail, len(stem)) for b, tail in branches.items()})
                scores = [self._label_scores(row, label_tokens) for row in rows]
                writing = [b for b, s in enumerate(scores, start=1) if np.exp(s[0]) >= least]
                begun += len(group) - len(writing)
                each = min(draws, together - 1, len(spare))
                at_once = min(together // (1 + each), len(spare) // each if each else ENDINGS)
                for at in range(0, len(writing), at_once):
                    part = writing[at : at + at_once]
                    begun += len(part)
                    starts = {b: (begin, len(stem) + len(branches[b])) for b in part}
                    texts |= written(
                        self._llama,
                        starts,
                        max_tokens=max_tokens,
                        draws=each,
                        spare=spare,
                        left=told,
                    )
                    self._llama.drop(part)
            found += [
                Labelled(tuple(s.tolist()), *texts.get(b, (None, True, ())))
                for b, s in enumerate(scores, start=1)
            ]
        return found

    def _tails(self, messages: Sequence[Message], endings: Sequence[str]) -> list[list[int]]:
        """The tokens of each ending of a chat, up to where the reply begins."""
        closing = self._markup(self._format.close(messages[-1].role)) + self._assistant_opening()
        return [self._llama.tokenize(e, markup=False) + closing for e in endings]

    def _first_tokens(self, labels: Sequence[str]) -> list[int]:
        if not all(labels):
            raise ModelError(f"labels {list(labels)}: an empty label has no first token")
        tokens = [self._llama.tokenize(label, markup=False)[0] for label in labels]
        if len(set(tokens)) != len(tokens):
            raise ModelError(f"labels {list(labels)} do not differ in their first token")
        return tokens

    # ---------------------------------------------------------------- prompt

    def _fixed(self, messages: Sequence[Message]) -> int:
        """How many tokens the fixed messages at the beginning of a chat take."""
        fixed = list(takewhile(lambda message: message.fixed, messages))
        return len(self._tokens(fixed)) if fixed else 0

    def _tokens(self, messages: Sequence[Message], *, unfinished: bool = False) -> list[int]:
        """The chat as tokens; ``unfinished`` leaves the last turn open."""
        begin = self._llama.begin_token
        tokens = [] if begin is None else [begin]
        before = None
        for number, message in enumerate(messages, start=1):
            tokens += self._markup(self._format.open(message.role, before))
            tokens += self._llama.tokenize(message.content, markup=False)
            if not (unfinished and number == len(messages)):
                tokens += self._markup(self._format.close(message.role))
            before = message.role
        return tokens

    def _assistant_opening(self) -> list[int]:
        return self._markup(self._format.open("assistant"))

    def _markup(self, text: str) -> list[int]:
        return self._llama.tokenize(text, markup=True)
