"""A llama.cpp model as one task sees it: with an adapter, or a folder for what it made of texts.

Several of these share one model and its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.models.contracts import Labelled, Message
from factcheck_local.models.prompt_states import PromptStates

if TYPE_CHECKING:
    from factcheck_local.models.llama_cpp import LlamaCppModel

#: Of passages, in a store's folder: bytes, and tokens of one with its instructions. With examples
#: in front of it a passage would take as much of the disk as seven without.
PASSAGE_BYTES, PASSAGE_TOKENS = 2**30, 1024


class AdaptedModel:
    """A model with one of its adapters, whose memory it shares; implements ``Adapted``.

    Args:
        model: the model.
        prompt: id of the prompt that the adapter is for; None for the model alone.
        folder: where states of what endings share are kept; None for nowhere.
    """

    def __init__(
        self, model: LlamaCppModel, prompt: str | None, folder: Path | None = None
    ) -> None:
        self.id = model.id
        self.sha256 = model.sha256
        self._model = model
        self._prompt = prompt
        self._states: PromptStates | None = None
        # A GPU reads a passage faster than its state comes from the disk.
        if folder is not None and not model.on_gpu:
            self._states = PromptStates(
                folder, model.sha256, limit=PASSAGE_BYTES, most=PASSAGE_TOKENS
            )

    def remembering(self, folder: Path) -> AdaptedModel:
        """The same, what endings share kept in a folder; see ``Remembering``."""
        return AdaptedModel(self._model, self._prompt, folder)

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
        return self._model.score_adapted(self._prompt, messages, endings, labels, self._states)

    def label_and_write(
        self,
        messages: Sequence[Message],
        endings: Sequence[str],
        labels: Sequence[str],
        *,
        least: float,
        max_tokens: int,
        progress: Progress = silent,
    ) -> list[Labelled]:
        """Labels and texts after endings of one shared prompt; see ``Adapted``.

        Raises:
            ModelError: without an adapter, too.
        """
        if self._prompt is None:
            raise ModelError(f"{self.id}: no adapter to write with")
        return self._model.label_and_write(
            self._prompt,
            messages,
            endings,
            labels,
            least=least,
            max_tokens=max_tokens,
            progress=progress,
        )
