"""An NLI encoder: any transformers sequence-classification checkpoint in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError, TooLongError
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.device import torch_device
from factcheck_local.models.labels import label_columns
from factcheck_local.models.loading import loading, read_as_text
from factcheck_local.models.windows import least_neutral, windows

BATCH_PAIRS = 16


class NliEncoder:
    """A three-way NLI classifier; implements ``PairClassifier``.

    Args:
        model_id: name of the model's card.
        sha256: hash of its files, as checked by the caller.
        folder: folder with config, tokenizer and safetensors weights.
        max_tokens: tokens of a pair that are read at once; a longer premise is read in windows.
        device: a torch device, such as ``cpu`` or ``cuda``.

    Raises:
        ModelError: if the folder holds no such model, or its config does not
            name the three labels.
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
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.id = model_id
        self.sha256 = sha256
        with loading(folder, "a sequence-classification model"):
            # use_safetensors: a pickled checkpoint could run code on loading.
            loaded: Any = AutoModelForSequenceClassification.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, output_loading_info=True
            )
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        if not self._tokenizer.is_fast:
            raise ModelError(f"{folder}: its tokenizer does not say where in a text a token stands")
        read_as_text(self._tokenizer)
        self._model, report = loaded
        if missing := sorted(report["missing_keys"]):
            raise ModelError(
                f"{folder}: its weights lack {missing[0]}, so it would judge at random"
            )
        self._columns = label_columns(self._model.config.id2label, where=str(folder))
        self._model.to(device).eval()
        self._device = device
        self._max_tokens = max_tokens

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

    def classify(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """p(entailment), p(contradiction), p(neutral) of each pair; see ``PairClassifier``.

        A premise that does not fit is read in windows, of which the least neutral one counts.

        Raises:
            TooLongError: if a hypothesis is longer than the model reads.
        """
        pieces = [self._pieces(*pair) for pair in pairs]
        rows = self._read([piece for own in pieces for piece in own])
        ends = np.cumsum([len(own) for own in pieces], dtype=int)
        found = [least_neutral(own) for own in np.split(rows, ends[:-1])] if pairs else []
        return np.array(found).reshape(len(pairs), 3)

    def _pieces(self, premise: str, hypothesis: str) -> list[tuple[str, str]]:
        """The pair, or one with each window of the premise.

        Raises:
            TooLongError: if the hypothesis leaves no token for it: half a claim is another claim.
        """
        room = self._max_tokens - self._tokenizer.num_special_tokens_to_add(pair=True)
        room -= len(self._tokenizer(hypothesis, add_special_tokens=False)["input_ids"])
        if room < 1:
            raise TooLongError(f"{self.id}: a claim does not fit in {self._max_tokens} tokens")
        own = self._tokenizer(premise, add_special_tokens=False, return_offsets_mapping=True)
        return [(piece, hypothesis) for piece in windows(premise, own["offset_mapping"], room)]

    def _read(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Probabilities of pairs that fit, shape (n, 3)."""
        import torch

        found = [np.empty((0, 3))]
        for at in range(0, len(pairs), BATCH_PAIRS):
            premises, hypotheses = zip(*pairs[at : at + BATCH_PAIRS], strict=True)
            inputs = self._tokenizer(
                list(premises),
                list(hypotheses),
                truncation="only_first",
                max_length=self._max_tokens,
                padding=True,
                return_tensors="pt",
            ).to(self._device)
            with torch.inference_mode():
                # Not doubled on the device: mps has no float64.
                logits = self._model(**inputs).logits.cpu().double()
            found.append(torch.softmax(logits, dim=-1).numpy()[:, self._columns])
        return np.concatenate(found)
