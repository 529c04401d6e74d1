"""Sentence embeddings by sentence-transformers, from a local folder.

Loading them takes seconds, so queries are embedded by what was exported of the model where it was;
see ``onnx_embedder``.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from factcheck_local.core.errors import ModelError
from factcheck_local.models.cards import ModelCard, find_card
from factcheck_local.models.contracts import Embedder, FloatArray
from factcheck_local.models.cores import has_native_bfloat16
from factcheck_local.models.device import CPU, torch_device
from factcheck_local.models.loading import loading, read_as_text
from factcheck_local.models.onnx_embedder import OnnxEmbedder, exported_file

#: Every batch has this many rows and a multiple of `LENGTH_STEP` tokens, filled up where texts
#: are fewer or shorter. A vector then depends on its text alone, to the last bit: kernels
#: round differently in other shapes, in bfloat16 by as much as 0.002.
BATCH_TEXTS = 8
LENGTH_STEP = 32


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
        from sentence_transformers import SentenceTransformer

        self.id = model_id
        self.sha256 = sha256
        with loading(folder, "a sentence-transformers model"):
            self._model: Any = SentenceTransformer(
                str(folder),
                device=device,
                local_files_only=True,
                # A pickled checkpoint could run code on loading.
                model_kwargs={"use_safetensors": True},
            )
        self._model.max_seq_length = max_tokens
        self._tokenizer = self._model.tokenizer
        read_as_text(self._tokenizer)
        dimension: int | None = self._model.get_embedding_dimension()
        if dimension is None:
            raise ModelError(f"{folder}: its vectors have no fixed length")
        self.dimension = dimension

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
            max_tokens=int(card.options["max_tokens"]),
            device=torch_device(),
        )

    @property
    def network(self) -> Any:  # noqa: ANN401
        """The model as sentence-transformers has it."""
        return self._model

    @property
    def tokenizer(self) -> Any:  # noqa: ANN401
        """Its tokenizer, as transformers has it."""
        return self._tokenizer

    def in_bfloat16(self) -> Self:
        """The same model in bfloat16 arithmetic; this one stays as it is."""
        import torch

        other = copy.copy(self)
        other._model = copy.deepcopy(self._model).to(torch.bfloat16)
        return other

    @property
    def on_cpu(self) -> bool:
        """Whether it runs on the processor."""
        return bool(self._model.device.type == "cpu")

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape (len(texts), dimension); see ``Embedder``."""
        import torch

        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for rows, length in self._batches(texts):
            filled = [texts[row] for row in rows] + [""] * (BATCH_TEXTS - len(rows))
            features = self._tokenizer(
                filled,
                truncation=True,
                padding="max_length",
                max_length=length,
                return_tensors="pt",
            ).to(self._model.device)
            with torch.inference_mode():
                found = self._model(dict(features))["sentence_embedding"].float()
            unit = torch.nn.functional.normalize(found, dim=1)
            vectors[rows] = unit[: len(rows)].cpu().numpy()
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], int]]:
        """Rows of the texts that go together, and the tokens they are filled up to."""
        if not texts:
            return
        longest = self._model.max_seq_length
        tokens = self._tokenizer(list(texts), truncation=True, max_length=longest)["input_ids"]
        by_length: defaultdict[int, list[int]] = defaultdict(list)
        for row, ids in enumerate(tokens):
            by_length[min(longest, -(-len(ids) // LENGTH_STEP) * LENGTH_STEP)].append(row)
        for length, rows in sorted(by_length.items()):
            for start in range(0, len(rows), BATCH_TEXTS):
                yield rows[start : start + BATCH_TEXTS], length


def load_embedder(card: ModelCard) -> Embedder:
    """The model of a card whose files were checked: exported, if it was and none names a GPU.

    Raises:
        ModelError: as for the two.
    """
    exported = exported_file(card) if torch_device() == CPU else None
    if exported:
        return OnnxEmbedder.from_card(card, exported)
    return SentenceTransformerEmbedder.from_card(card)


def for_passages(embedder: Embedder) -> Embedder:
    """The embedder for filling a store, in the fastest arithmetic that serves.

    Of one that was exported that is the model itself, in bfloat16 where the processor multiplies
    it natively, which is nearly twice as fast; cosines to what `embed` gives in float32 stay
    above 0.998 (``benchmarks/indexing.py``). Elsewhere it is the embedder as it is.
    """
    if isinstance(embedder, OnnxEmbedder):
        embedder = SentenceTransformerEmbedder.from_card(find_card(embedder.id, "embedder"))
    if (
        isinstance(embedder, SentenceTransformerEmbedder)
        and embedder.on_cpu
        and has_native_bfloat16()
    ):
        return embedder.in_bfloat16()
    return embedder
