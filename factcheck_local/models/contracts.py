"""What the stages need of a model: Protocols no wider than their callers.

A backend that satisfies one of these can stand in for any other; the fakes in
``factcheck_local.models.fake`` do so too and are there for users' own tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from factcheck_local.core.progress import Progress, silent

FloatArray = npt.NDArray[np.float32]

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat. ``content`` is data: no markup in it is ever obeyed.

    Attributes:
        role: who speaks.
        content: the text.
        fixed: whether it is of a prompt of the package, the same in every run, so that what a
            model makes of it may be kept on disk. Never set for what a user handed in.
    """

    role: Role
    content: str
    fixed: bool = field(default=False, compare=False)


class Identified(Protocol):
    """A model that can be named in a run's record."""

    @property
    def id(self) -> str:
        """Name of the model's card."""

    @property
    def sha256(self) -> str:
        """Hash of the weights that were loaded, lower-case hex."""


class TextGenerator(Identified, Protocol):
    """Continues a chat: the same messages, temperature and seed give the same text."""

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
        """Return the assistant's next turn.

        Args:
            messages: the chat so far; the last one is the user's.
            max_tokens: longest reply.
            stop: texts before the first of which the reply is cut.
            start: how the reply begins; not part of what is returned.
            temperature: of sampling, at least 0; at 0 the likeliest token is taken.
            seed: of sampling.

        Raises:
            ScoringError: if the messages do not fit the model's context.
        """


class LabelScorer(Identified, Protocol):
    """Reads how probable each label is as the first word of the next turn."""

    def score_labels(
        self,
        messages: Sequence[Message],
        endings: Sequence[str],
        labels: Sequence[str],
    ) -> npt.NDArray[np.float64]:
        """Score labels after each of several endings of one shared prompt.

        Args:
            messages: the chat so far; the last one is the user's, unfinished.
            endings: n texts, each of which finishes that last message.
            labels: L texts whose first tokens differ.

        Returns:
            Shape (n, L): natural-log probabilities, normalised over the labels.

        Raises:
            ScoringError: if a prompt does not fit the model's context.
        """


class ChatModel(TextGenerator, LabelScorer, Protocol):
    """An instructed LLM, as the card role ``llm`` promises it."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """What a model says of one ending of a prompt.

    Attributes:
        scores: natural-log probabilities of the labels, normalised over them.
        text: what it wrote behind the label that asks for more; None behind another.
        ended: whether it ended the text by itself; else that was cut at the most tokens.
        drawn: other texts that it might have written there, each ended by itself.
    """

    scores: tuple[float, ...]
    text: str | None
    ended: bool
    drawn: tuple[str, ...] = ()


class Remembered(ChatModel, Protocol):
    """A model that keeps on disk what it made of the beginnings of prompts."""

    def remembers(self, messages: Sequence[Message]) -> bool | None:
        """Whether what the endings of a chat share is kept.

        Args:
            messages: as ``score_labels`` takes them.

        Returns:
            None where it never is: it is short, long, or as soon read as fetched from a disk.
        """

    def remember(self, messages: Sequence[Message]) -> None:
        """Read what the endings of a chat share, and keep it, unless it never is.

        Args:
            messages: as ``score_labels`` takes them.

        Raises:
            ScoringError: if they do not fit the model's context.
        """


@runtime_checkable
class Remembering(Protocol):
    """A model that can keep on disk what it made of a prompt."""

    def remembering(self, folder: Path, part: str = "") -> Remembered:
        """The model, with what the endings of ``score_labels`` share kept in a folder.

        The same bytes come back, so the same scores. What is kept is the prompt in another form:
        the folder is for texts that lie beside it anyway.

        Args:
            folder: made when something is kept.
            part: a folder inside for what this one keeps, so that it can be removed by itself.
        """


class Adapted(ChatModel, Protocol):
    """A model with one of its adapters."""

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
        """Score labels after endings, and behind the first label write on where it is probable.

        A reply is a label, or the first label, a line break and a text, the likeliest token at a
        time; other texts are drawn. The endings' replies are written side by side.

        Args:
            messages: the chat so far; the last one is the user's, unfinished.
            endings: texts, each of which finishes that last message.
            labels: texts whose first tokens differ.
            least: probability of the first label from which its text is written, in [0, 1].
            max_tokens: longest text.
            draws: how many other texts are drawn for each that is written. The same ones again for
                the same endings in their order; one that does not end is left out.
            progress: called as replies are complete.

        Returns:
            One for each ending.

        Raises:
            ScoringError: if a prompt does not fit the model's context.
        """


@runtime_checkable
class Adaptable(Protocol):
    """An LLM whose card may have adapters."""

    @property
    def adapters(self) -> Mapping[str, str]:
        """Hash of each adapter by the id of the prompt that it was trained with."""

    def adapted(self, prompt: str) -> Adapted:
        """The model with the adapter that was trained with a prompt.

        Args:
            prompt: the prompt's id, one of ``adapters``.

        Raises:
            ModelError: if there is no such adapter, or it does not fit the model.
        """


def adapted_to(model: object, prompt: str) -> Adapted | None:
    """A model with its adapter for a prompt, by the prompt's id; None if it has none."""
    if isinstance(model, Adaptable) and prompt in model.adapters:
        return model.adapted(prompt)
    return None


def identity(model: Identified) -> dict[str, Any]:
    """What names a model in a record: its id, its hash, and those of its adapters if it has any."""
    found: dict[str, Any] = {"id": model.id, "sha256": model.sha256}
    if isinstance(model, Adaptable) and model.adapters:
        found["adapters"] = dict(model.adapters)
    return found


class Embedder(Identified, Protocol):
    """Maps texts to unit vectors whose dot product is their similarity."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return shape (len(texts), dimension), rows of Euclidean length 1."""


class PairClassifier(Identified, Protocol):
    """Classifies (premise, hypothesis) pairs, as an NLI encoder does."""

    def classify(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Return shape (n, 3): p(entailment), p(contradiction), p(neutral)."""


class RelevanceScorer(Identified, Protocol):
    """Says how relevant a text is to a query, as a cross-encoder made for search does."""

    def relevance(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Score pairs of a query and a text.

        Returns:
            Shape (n,): higher is more relevant, on a scale of the model's own.
        """
