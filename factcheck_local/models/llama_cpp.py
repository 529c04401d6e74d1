"""An instructed LLM in this process: text generation and exact label scoring.

One mechanism serves both: the cache keeps the tokens of the last prompt, and
a new prompt decodes only what differs from it. Prompts that
share their beginning (instructions and examples, then a passage) therefore
pay for it once.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.models.adapters import Adapter
from factcheck_local.models.cards import ModelCard, data_directory
from factcheck_local.models.chat_format import chat_format
from factcheck_local.models.contracts import Labelled, Message
from factcheck_local.models.llama_branches import LlamaBranches
from factcheck_local.models.llama_context import LlamaContext, can_offload
from factcheck_local.models.prompt_states import PromptStates

#: Replies that are written side by side, and the tokens that each may take of the cache.
BRANCHES, BRANCH_TOKENS = 16, 256


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
    """A GGUF chat model; implements ``ChatModel``.

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
        )
        self._cached: list[int] = []
        self._adapters = dict(adapters or {})
        self._using: str | None = None
        self._states = states

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
            states=PromptStates(data_directory() / "prompt-states" / card.id, card.sha256),
        )

    def forget(self) -> None:
        """Empty the cache, so that the next prompt is read from its first token."""
        self._llama.cut(0)
        self._cached = []

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
        return self.generate_adapted(
            None,
            messages,
            max_tokens=max_tokens,
            stop=stop,
            start=start,
            temperature=temperature,
            seed=seed,
        )

    def generate_adapted(
        self,
        adapter: str | None,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        start: str = "",
        temperature: float = 0.0,
        seed: int = 0,
    ) -> str:
        """``generate`` with the adapter for a prompt, None for none."""
        self._use(adapter)
        prompt = self._tokens(messages) + self._assistant_opening()
        prompt += self._llama.tokenize(start, markup=False)
        logits = self._read(prompt, room=max_tokens, wants_logits=True, fixed=self._fixed(messages))
        # A character may span tokens, so bytes are decoded incrementally.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = ""
        draw = np.random.default_rng(seed)
        # The reply's tokens, read one by one, are not kept for the next prompt; see ``_read``.
        for count in range(max_tokens):
            token = _next_token(logits, temperature, draw)
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
        return self.score_adapted(None, messages, endings, labels)

    @property
    def adapters(self) -> dict[str, str]:
        """Hash of each adapter by the id of its prompt; see ``Adaptable``."""
        return {prompt: adapter.sha256 for prompt, adapter in self._adapters.items()}

    def adapted(self, prompt: str) -> AdaptedModel:
        """The model with one of its adapters; see ``Adaptable``."""
        if prompt not in self._adapters:
            raise ModelError(f"{self.id}: no adapter for the prompt {prompt}")
        return AdaptedModel(self, prompt)

    def score_adapted(
        self,
        prompt: str | None,
        messages: Sequence[Message],
        endings: Sequence[str],
        labels: Sequence[str],
    ) -> npt.NDArray[np.float64]:
        """``score_labels`` with the adapter for a prompt, None for none."""
        label_tokens = self._first_tokens(labels)
        scores = np.empty((len(endings), len(labels)))
        if not endings:
            return scores
        self._use(prompt)
        closing = self._markup(self._format.close(messages[-1].role)) + self._assistant_opening()
        tails = [self._llama.tokenize(e, markup=False) + closing for e in endings]
        prefix = self._tokens(messages, unfinished=True)
        self._read(prefix, room=max(map(len, tails)), fixed=self._fixed(messages))
        for i, tail in enumerate(tails):
            logits = self._read(prefix + tail, room=0, wants_logits=True)
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
        prompt: str,
        messages: Sequence[Message],
        endings: Sequence[str],
        labels: Sequence[str],
        *,
        least: float,
        max_tokens: int,
    ) -> list[Labelled]:
        """Labels and texts with the adapter for a prompt; see ``Adapted``."""
        stem = self._tokens(messages, unfinished=True)
        tree = self._llama.branches(
            self._adapters[prompt].path,
            n_ctx=self._llama.n_ctx + BRANCHES * BRANCH_TOKENS,
            most=BRANCHES,
        )
        closing = self._markup(self._format.close(messages[-1].role)) + self._assistant_opening()
        tails = [self._llama.tokenize(e, markup=False) + closing for e in endings]
        begin = self._llama.tokenize(f"{labels[0]}\n", markup=False)
        longest = max(map(len, tails), default=0) + len(begin)
        if len(stem) + longest + max_tokens > self._llama.n_ctx:
            raise ScoringError(
                f"{self.id}: a prompt of {len(stem) + longest} tokens with {max_tokens} to follow "
                f"does not fit the context of {self._llama.n_ctx}"
            )
        label_tokens = self._first_tokens(labels)
        found: list[Labelled] = []
        for at in range(0, len(tails), BRANCHES):
            group = tails[at : at + BRANCHES]
            tree.grow(stem, len(group))
            rows = tree.extend([(b, tail, len(stem)) for b, tail in enumerate(group, start=1)])
            scores = [self._label_scores(row, label_tokens) for row in rows]
            writing = [b for b, s in enumerate(scores, start=1) if np.exp(s[0]) >= least]
            starts = {b: len(stem) + len(group[b - 1]) for b in writing}
            texts = self._written(tree, {b: (begin, starts[b]) for b in writing}, max_tokens)
            found += [
                Labelled(tuple(s.tolist()), texts.get(b)) for b, s in enumerate(scores, start=1)
            ]
        return found

    def _written(
        self,
        tree: LlamaBranches,
        pieces: Mapping[int, tuple[list[int], int]],
        max_tokens: int,
    ) -> dict[int, str]:
        """Go on with branches, each its likeliest token at a time, until its turn ends.

        Args:
            tree: the branches.
            pieces: by branch what it begins with and the position of that.
            max_tokens: of each.
        """
        said: dict[int, bytes] = dict.fromkeys(pieces, b"")
        going = dict(pieces)
        for _ in range(max_tokens):
            if not going:
                break
            rows = tree.extend([(branch, *piece) for branch, piece in going.items()])
            following = {}
            for (branch, (tokens, start)), row in zip(going.items(), rows, strict=True):
                token = int(np.argmax(row))
                if not self._llama.ends_turn(token):
                    said[branch] += self._llama.piece(token)
                    following[branch] = ([token], start + len(tokens))
            going = following
        return {branch: text.decode("utf-8", "replace") for branch, text in said.items()}

    def _use(self, prompt: str | None) -> None:
        """Switch to the adapter for a prompt; what was read with another one is forgotten."""
        if prompt != self._using:
            self._llama.adapt(self._adapters[prompt].path if prompt else None)
            self.forget()
            self._using = prompt

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

    def _read(
        self, tokens: list[int], *, room: int, wants_logits: bool = False, fixed: int = 0
    ) -> npt.NDArray[np.float32]:
        """Bring the cache to hold ``tokens``.

        Args:
            tokens: of a prompt.
            room: tokens that are to follow.
            wants_logits: of the last token.
            fixed: how many of the first tokens are the same in every run.

        Returns:
            Logits after the last token, shape (n_vocab,), or shape (0,) unless wanted.
        """
        if len(tokens) + room > self._llama.n_ctx:
            raise ScoringError(
                f"{self.id}: a prompt of {len(tokens)} tokens with {room} to follow does not "
                f"fit the context of {self._llama.n_ctx}"
            )
        shared = _common_prefix(self._cached, tokens)
        # A part of one token alone would take another kernel, see below.
        if self._states and shared < fixed - 1 and fixed < len(tokens) - 1:
            shared = self._read_fixed(self._states, tokens[:fixed])
        if wants_logits or shared < len(tokens):
            # Two tokens at least: one alone takes another kernel, and with it the
            # logits after one prompt in three differ (by up to 0.9, SmolLM2 Q4_1).
            shared = min(shared, max(len(tokens) - 2, 0))
        return self._decode(tokens, shared, wants_logits=wants_logits)

    def _read_fixed(self, states: PromptStates, tokens: list[int]) -> int:
        """Bring the cache to hold the fixed beginning of a prompt; how many tokens it has."""
        adapter = self._adapters[self._using].sha256 if self._using else ""
        if states.restore(self._llama, adapter, tokens):
            self._cached = list(tokens)
            return len(tokens)
        self._decode(tokens, 0, wants_logits=False)
        states.keep(self._llama, adapter, tokens)
        return len(tokens)

    def _decode(
        self, tokens: list[int], shared: int, *, wants_logits: bool
    ) -> npt.NDArray[np.float32]:
        """Decode ``tokens`` from position ``shared`` on; what the cache has there goes."""
        self._llama.cut(shared)
        self._cached = self._cached[:shared]
        logits = np.empty(0, dtype=np.float32)
        for part in _batches(range(shared, len(tokens)), self._llama.batch_tokens):
            piece = tokens[part.start : part.stop]
            logits = self._llama.decode(
                piece, part.start, wants_logits=wants_logits and part.stop == len(tokens)
            )
            self._cached += piece
        return logits

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


class AdaptedModel:
    """A model with one of its adapters, whose memory it shares; implements ``Adapted``."""

    def __init__(self, model: LlamaCppModel, prompt: str) -> None:
        self.id = model.id
        self.sha256 = model.sha256
        self._model = model
        self._prompt = prompt

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
        return self._model.generate_adapted(
            self._prompt,
            messages,
            max_tokens=max_tokens,
            stop=stop,
            start=start,
            temperature=temperature,
            seed=seed,
        )

    def score_labels(
        self, messages: Sequence[Message], endings: Sequence[str], labels: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Score labels after endings of one shared prompt; see ``LabelScorer``."""
        return self._model.score_adapted(self._prompt, messages, endings, labels)

    def label_and_write(
        self,
        messages: Sequence[Message],
        endings: Sequence[str],
        labels: Sequence[str],
        *,
        least: float,
        max_tokens: int,
    ) -> list[Labelled]:
        """Labels and texts after endings of one shared prompt; see ``Adapted``."""
        return self._model.label_and_write(
            self._prompt, messages, endings, labels, least=least, max_tokens=max_tokens
        )


def _next_token(
    logits: npt.NDArray[np.float32], temperature: float, draw: np.random.Generator
) -> int:
    """The likeliest token at temperature 0, else one drawn from the tempered softmax."""
    if temperature <= 0:
        return int(np.argmax(logits))
    # Gumbel's trick: the largest of logits / T + Gumbel noise is a draw from their softmax.
    tempered = logits.astype(np.float64) / temperature
    return int(np.argmax(tempered + draw.gumbel(size=tempered.shape)))


def _common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Number of leading tokens that two prompts share."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _batches(positions: range, most: int) -> Iterator[range]:
    """Cut positions into runs of nearly equal length, of at most so many each."""
    count = -(-len(positions) // most)
    for k in range(count):
        yield positions[len(positions) * k // count : len(positions) * (k + 1) // count]
