"""A GGUF model in torch with low-rank adapters, for training (LoRA, Hu et al. 2021).

The weights are those of the file, dequantised and frozen; so the adapter learns on
the model that llama.cpp will run, quantisation errors included.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from transformers import AttentionInterface, AutoModelForCausalLM, AutoTokenizer, GgufConfig

from factcheck_local.models.cores import has_native_bfloat16
from factcheck_local.pipeline.relation.llm import LABELS as LETTERS
from training.adapter.names import NAMES
from training.adapter.packing import Packed, Tokenize

ATTENTION = "packed_groups"


class LowRank(nn.Module):
    """A frozen linear map and a trained one of low rank: base(x) + alpha / rank · B A x."""

    def __init__(self, base: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.base = base
        self.scale = alpha / rank
        self.a = nn.Parameter(torch.empty(rank, base.in_features, device=base.weight.device))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank, device=base.weight.device))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of both maps, in the type of the frozen one."""
        low = F.linear(x, self.a.to(x.dtype))
        found: torch.Tensor = self.base(x) + F.linear(low, (self.b * self.scale).to(x.dtype))
        return found


@dataclass(frozen=True, slots=True)
class Adapted:
    """A model that scores claims of packed groups.

    Attributes:
        network: the causal language model, adapters within.
        tokenize: text to ids, markup taken as such.
        letters: ids of the label tokens, in the order of ``LABELS``.
        alpha: of the adapters; the rank is the adapters' own.
    """

    network: Any
    tokenize: Tokenize
    letters: list[int]
    alpha: float

    @property
    def adapter(self) -> dict[str, nn.Parameter]:
        """What is trained, by name, as ``model.layers.0.mlp.up_proj.a``."""
        return {n: p for n, p in self.network.named_parameters() if p.requires_grad}

    def logits(self, packed: Packed) -> torch.Tensor:
        """Logits of the label tokens behind each claim, shape (claims, 3), float32."""
        device = self.network.device
        states = self.network.model(
            input_ids=packed.tokens[None].to(device),
            position_ids=packed.positions[None].to(device),
            # A dictionary is handed on to the attention as it is.
            attention_mask={"full_attention": packed.segments},
            use_cache=False,
        ).last_hidden_state[0, packed.ends.to(device)]
        found: torch.Tensor = states.float() @ self.network.lm_head.weight[self.letters].float().T
        return found

    def restore(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put saved adapter weights into a model with adapters of the same rank and place."""
        with torch.no_grad():
            for name, parameter in self.adapter.items():
                parameter.copy_(weights[name])


def working_dtype(device: str) -> torch.dtype:
    """What a base's weights are held in: bfloat16, or float32 where that would be emulated.

    Args:
        device: ``cpu`` or ``cuda``.
    """
    native = device != "cpu" or has_native_bfloat16()
    return torch.bfloat16 if native else torch.float32


def load(
    path: Path, *, rank: int, alpha: float, device: str = "cpu", first_layer: int = 0
) -> Adapted:
    """The model of a GGUF file, with a fresh adapter on every linear map.

    Args:
        path: the GGUF file.
        rank: of each adapter.
        alpha: their scale is alpha / rank.
        device: ``cpu`` or ``cuda``.
        first_layer: the layers below it get none.
    """
    AttentionInterface.register(ATTENTION, _attention)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    network: Any = AutoModelForCausalLM.from_pretrained(
        path.parent,
        gguf_file=path.name,
        dtype=working_dtype(device),
        attn_implementation=ATTENTION,
        quantization_config=GgufConfig(dequantize=True),
    )
    network.to(device)
    network.requires_grad_(False)
    for layer in network.model.layers[first_layer:]:
        for where in NAMES:
            block, name = where.split(".")
            place = getattr(layer, block)
            setattr(place, name, LowRank(getattr(place, name), rank, alpha))

    def tokenize(text: str) -> list[int]:
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    return Adapted(network, tokenize, [tokenize(letter)[0] for letter in LETTERS], alpha)


def _attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    scaling: float,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Attention within each segment of ``Packed``; shapes (1, heads, n, width)."""
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    parts = []
    # Written out: the fused kernel's backward pass takes a third of a step on a CPU.
    for begin, end, sees in attention_mask:
        scores = query[:, :, begin:end] @ key[:, :, begin:end].transpose(2, 3) * scaling
        weights = scores.masked_fill(~sees.to(query.device), float("-inf")).softmax(dim=-1)
        parts.append(weights @ value[:, :, begin:end])
    return torch.cat(parts, dim=2).transpose(1, 2).contiguous(), None
