"""A sentence-transformers model as one ONNX file made on this machine, for queries and quotes.

torch and sentence-transformers take longer to be imported than a search to be done. What
``models.embedder_export`` made of a model gives the same vectors within ``TOLERANCE`` and needs
neither. Passages are embedded by the model itself, many at a time and on a GPU where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from factcheck_local.models.cards import ModelCard, data_directory, sha256_of
from factcheck_local.models.contracts import FloatArray
from factcheck_local.models.cores import available_cores
from factcheck_local.models.loading import reading
from factcheck_local.models.onnx_files import inputs_of, open_session, open_tokenizer

#: Key of cards whose models can be exported, see ``registry.BACKENDS``.
EMBEDDER_BACKEND = "sentence_transformers"

#: How far a component of a vector may be from that of the model itself; a file that is further
#: off somewhere is not kept.
TOLERANCE = 1e-5

#: Digits of the hashes in a file's name.
DIGITS = 32


def exported_stem(card: ModelCard) -> Path:
    """Where the file of a model is, without the hash of its content that ends its name."""
    return data_directory() / "exported" / f"{card.id}.{card.sha256[:DIGITS]}"


def exported_file(card: ModelCard) -> Path | None:
    """The file that was made of a model, if there is one and it is whole."""
    stem = exported_stem(card)
    for path in sorted(stem.parent.glob(f"{stem.name}.*.onnx")):
        if path.name.split(".")[-2] == sha256_of(path)[:DIGITS]:
            return path
    return None


class OnnxEmbedder:
    """An exported sentence-transformers model on the CPU; implements ``Embedder``.

    Each text is a run of its own, so its vector depends on it alone, to the last bit.

    Args:
        model_id: name of the model's card.
        sha256: hash of the files that it was made of, as checked by the caller.
        path: the ONNX file.
        tokenizer: the model's ``tokenizer.json``.
        max_tokens: tokens of a text that are read; the rest is ignored.
        n_threads: texts embedded at once; None takes the cores this process may use.

    Raises:
        ModelError: if a file cannot be read.
    """

    def __init__(
        self,
        model_id: str,
        sha256: str,
        path: Path,
        tokenizer: Path,
        *,
        max_tokens: int,
        n_threads: int | None = None,
    ) -> None:
        self.id = model_id
        self.sha256 = sha256
        with reading(path, "an ONNX embedder"):
            self._session = open_session(path)
            self._tokenizer = open_tokenizer(tokenizer)
        self.dimension = int(self._session.get_outputs()[0].shape[-1])
        self._tokenizer.enable_truncation(max_tokens)
        self._workers = ThreadPoolExecutor(n_threads or available_cores())

    @classmethod
    def from_card(cls, card: ModelCard, path: Path) -> Self:
        """Build from a card whose files were checked and the file that was made of them."""
        return cls(
            card.id,
            card.sha256,
            path,
            card.folder / "tokenizer.json",
            max_tokens=int(card.options["max_tokens"]),
        )

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors, shape (len(texts), dimension); see ``Embedder``."""
        rows = list(self._workers.map(self._one, texts))
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)

    def _one(self, text: str) -> npt.NDArray[np.float32]:
        inputs = inputs_of(self._session, self._tokenizer.encode(text))
        vector: npt.NDArray[np.float32] = self._session.run(None, inputs)[0][0]
        return vector / max(float(np.linalg.norm(vector)), 1e-12)
