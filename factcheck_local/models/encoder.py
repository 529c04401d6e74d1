"""An NLI encoder: any transformers sequence-classification checkpoint in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.device import torch_device
from factcheck_local.models.labels import label_columns
from factcheck_local.models.loading import loading, read_as_text

BATCH_PAIRS = 16


class NliEncoder:
    """A three-way NLI classifier; implements ``PairClassifier``.

    Args:
        model_id: name of the model's card.
        sha256: hash of its files, as checked by the caller.
        folder: folder with config, tokenizer and safetensors weights.
        max_tokens: tokens of a pair that are read; a longer premise is cut.
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

        Raises:
            ScoringError: if a hypothesis is longer than the model reads.
        """
        import torch

        found = [np.empty((0, 3))]
        for at in range(0, len(pairs), BATCH_PAIRS):
            premises, hypotheses = zip(*pairs[at : at + BATCH_PAIRS], strict=True)
            self._refuse_long(hypotheses)
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

    def _refuse_long(self, hypotheses: Sequence[str]) -> None:
        """Only premises are cut: half a claim is another claim."""
        room = self._max_tokens - self._tokenizer.num_special_tokens_to_add(pair=True)
        lengths = map(len, self._tokenizer(list(hypotheses), add_special_tokens=False)["input_ids"])
        # One token of the premise has to be left.
        if max(lengths) >= room:
            raise ScoringError(f"{self.id}: a claim does not fit in {self._max_tokens} tokens")
