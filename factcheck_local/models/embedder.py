"""Sentence embeddings by sentence-transformers, from a local folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from factcheck_local.errors import ModelError
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.contracts import FloatArray
from factcheck_local.models.offline import quiet_transformers

#: Texts embedded at once. Fixed, since padding to a batch's longest text
#: changes the last bits of a vector.
BATCH_TEXTS = 32


class SentenceTransformerEmbedder:
    """A sentence-transformers model; implements ``Embedder``.

    Args:
        model_id: name of the model's card.
        sha256: hash of its files, as checked by the caller.
        folder: folder with the model.
        max_tokens: tokens of a text that are read; the rest is ignored.
        device: a torch device, such as ``cpu`` or ``cuda``.

    Raises:
        ModelError: if the folder holds no such model.
    """

    def __init__(
        self, model_id: str, sha256: str, folder: Path, *, max_tokens: int, device: str = "cpu"
    ) -> None:
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer

        quiet_transformers()
        self.id = model_id
        self.sha256 = sha256
        try:
            self._model: Any = SentenceTransformer(
                str(folder),
                device=device,
                local_files_only=True,
                # A pickled checkpoint could run code on loading.
                model_kwargs={"use_safetensors": True},
            )
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise ModelError(f"{folder}: not a sentence-transformers model: {error}") from error
        self._model.max_seq_length = max_tokens
        dimension: int | None = self._model.get_embedding_dimension()
        if dimension is None:
            raise ModelError(f"{folder}: its vectors have no fixed length")
        self.dimension = dimension

    @classmethod
    def from_card(cls, card: ModelCard) -> Self:
        """Build from a card whose files were checked."""
        return cls(card.id, card.sha256, card.folder, max_tokens=int(card.options["max_tokens"]))

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape (len(texts), dimension); see ``Embedder``."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = self._model.encode(
            list(texts),
            batch_size=BATCH_TEXTS,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)
