"""Relevance by a sentence-transformers cross-encoder, from a local folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.device import torch_device
from factcheck_local.models.loading import loading, read_as_text

#: Pairs read at once, of similar length.
BATCH_PAIRS = 16


class CrossEncoderScorer:
    """A sentence-transformers cross-encoder; implements ``RelevanceScorer``.

    Args:
        model_id: name of the model's card.
        sha256: hash of its files, as checked by the caller.
        folder: folder with config, tokenizer and safetensors weights.
        max_tokens: tokens of a pair that are read; the longer text is cut.
        device: a torch device, such as ``cpu`` or ``cuda``.

    Raises:
        ModelError: if the folder holds no such model, or it gives more than one number.
    """

    def __init__(
        self,
        model_id: str,
        sha256: str,
        folder: Path,
        *,
        max_tokens: int = 512,
        device: str = "cpu",
    ) -> None:
        from sentence_transformers import CrossEncoder

        self.id = model_id
        self.sha256 = sha256
        with loading(folder, "a cross-encoder"):
            self._model: Any = CrossEncoder(
                str(folder),
                device=device,
                max_length=max_tokens,
                local_files_only=True,
                # A pickled checkpoint could run code on loading.
                model_kwargs={"use_safetensors": True},
            )
        read_as_text(self._model.tokenizer)
        if self._model.num_labels != 1:
            raise ModelError(
                f"{folder}: expected a cross-encoder that gives one number, "
                f"got {self._model.num_labels}"
            )

    @classmethod
    def from_card(cls, card: ModelCard) -> Self:
        """Build from a card whose files were checked, on the device of ``device.torch_device``.

        Raises:
            ModelError: if there is no such device.
        """
        return cls(
            card.id,
            card.sha256,
            card.folder,
            max_tokens=int(card.options.get("max_tokens", 512)),
            device=torch_device(),
        )

    def relevance(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Shape (n,): the model's own number before any activation; see ``RelevanceScorer``."""
        from torch.nn import Identity

        # A sigmoid in float32 is 1 for several passages, which are then not in order.
        found = self._model.predict(
            list(pairs),
            batch_size=BATCH_PAIRS,
            activation_fn=Identity(),
            show_progress_bar=False,
        )
        return np.asarray(found, dtype=np.float64).reshape(len(pairs))
