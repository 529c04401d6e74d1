"""An adapter in torch as a relation model's scorer: what the product does with it, sooner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch

from factcheck_local.models.cards import sha256_of
from factcheck_local.models.chat_format import chat_format
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.relation.llm import ADAPTED_PROMPT
from factcheck_local.pipeline.relation.scorer import LogProbabilities, Premise
from training.adapter.export import layer_of, weights_and_scale
from training.adapter.groups import Claim, Group
from training.adapter.model import Adapted, load
from training.adapter.packing import Packer

#: Claims that are read behind one reading of the passage; more take more memory at once.
CLAIMS_AT_ONCE = 16


class TorchPairScorer:
    """An adapted model in torch; implements ``PairScorer``.

    All claims of a passage are read at once, which is several times as fast as llama.cpp one by
    one. The probabilities differ from llama.cpp's, which quantises activations, too.
    """

    def __init__(self, model: Adapted, packer: Packer, model_id: str, sha256: str) -> None:
        self.id = model_id
        self.sha256 = sha256
        self._model = model
        self._packer = packer

    @classmethod
    def load(cls, base: Path, adapter: Path, *, template: str, device: str) -> Self:
        """The model of a GGUF file with an adapter of ``training.adapter.train``, or exported."""
        weights, rank, scale = weights_and_scale(adapter)
        first = min(layer_of(name) for name in weights)
        model = load(base, rank=rank, alpha=scale * rank, device=device, first_layer=first)
        model.restore(weights)
        packer = Packer(model.tokenize, chat_format(template), load_prompt(ADAPTED_PROMPT))
        return cls(model, packer, f"{base.parent.name}/torch", sha256_of(adapter))

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        """Score each hypothesis against the premise; see ``PairScorer``."""
        rows = [np.empty((0, 3))]
        for at in range(0, len(hypotheses), CLAIMS_AT_ONCE):
            claims = tuple(Claim(h, "neutral") for h in hypotheses[at : at + CLAIMS_AT_ONCE])
            packed = self._packer.pack([Group("", premise.title, premise.text, claims)])
            with torch.no_grad():
                logits = self._model.logits(packed).double().cpu().numpy()
            rows.append(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
        return np.concatenate(rows)
