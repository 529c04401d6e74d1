"""A Qwen2 model with low-rank adapters in torch alone, read in batches of rows.

What ``training.adapter.model`` does with transformers for one sequence at a time; here rows of
many lessons go through the fused attention at once, which a GPU needs to be busy.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from training.adapter.names import NAMES
from training.gpu.lessons import Rows
from training.gpu.weights import Weights

BIASED = ("attn_q", "attn_k", "attn_v")

_TORCH = {name: theirs for theirs, name in NAMES.items()}


class Model:
    """Frozen weights; adapters are handed to each call, so that several runs share them.

    Args:
        weights: those of the file.
        device: ``cpu`` or ``cuda``.
        dtype: in which they are held and used.
    """

    def __init__(self, weights: Weights, device: str, dtype: torch.dtype = torch.bfloat16) -> None:
        about = weights.about
        self.device, self.layers = device, int(about["layers"])
        self._heads, self._groups = int(about["heads"]), int(about["groups"])
        self._epsilon, self._theta = float(about["epsilon"]), float(about["theta"])

        def get(name: str) -> torch.Tensor:
            return weights.tensor(name, device).to(dtype)

        self.words = get("token_embd.weight")
        self.said = get("output.weight")
        self._last = get("output_norm.weight")
        self._maps = {
            (i, n): get(f"blk.{i}.{n}.weight") for i in range(self.layers) for n in NAMES.values()
        }
        self._biases = {
            (i, n): get(f"blk.{i}.{n}.bias") for i in range(self.layers) for n in BIASED
        }
        self._norms = {
            (i, n): get(f"blk.{i}.{n}.weight")
            for i in range(self.layers)
            for n in ("attn_norm", "ffn_norm")
        }

    def fresh(self, rank: int, first_layer: int) -> dict[str, nn.Parameter]:
        """An adapter that changes nothing, by its names in ``training.adapter``."""
        found = {}
        for layer in range(first_layer, self.layers):
            for theirs, name in NAMES.items():
                outputs, inputs = self._maps[layer, name].shape
                a = torch.empty(rank, inputs, device=self.device)
                nn.init.kaiming_uniform_(a, a=math.sqrt(5))
                where = f"model.layers.{layer}.{theirs}"
                found[f"{where}.a"] = nn.Parameter(a)
                found[f"{where}.b"] = nn.Parameter(torch.zeros(outputs, rank, device=self.device))
        return found

    def states(self, rows: Rows, adapter: dict[str, nn.Parameter], scale: float) -> torch.Tensor:
        """What the last layer makes of each token, normed, shape (B · L, width)."""
        x = F.embedding(rows.tokens, self.words)
        turn = self._turn(rows.positions)
        count = rows.tokens.shape[1]
        order = torch.arange(count, device=x.device)
        owners = rows.owners
        sees = (order[None, :] <= order[:, None]) & (
            (owners[:, None, :] == 0) | (owners[:, None, :] == owners[:, :, None])
        )
        hidden = torch.zeros(sees.shape, dtype=x.dtype, device=x.device)
        hidden = hidden.masked_fill_(~sees, float("-inf")).unsqueeze(1)
        low = {name: p.to(x.dtype) for name, p in adapter.items()}
        for layer in range(self.layers):
            x = x + self._attend(layer, self._norm(x, layer, "attn_norm"), turn, hidden, low, scale)
            y = self._norm(x, layer, "ffn_norm")
            gate = self._map(layer, "ffn_gate", y, low, scale)
            up = self._map(layer, "ffn_up", y, low, scale)
            x = x + self._map(layer, "ffn_down", F.silu(gate) * up, low, scale)
        return F.rms_norm(x, x.shape[-1:], self._last, self._epsilon).flatten(0, 1)

    def _norm(self, x: torch.Tensor, layer: int, name: str) -> torch.Tensor:
        return F.rms_norm(x, x.shape[-1:], self._norms[layer, name], self._epsilon)

    def _map(
        self, layer: int, name: str, x: torch.Tensor, low: dict[str, torch.Tensor], scale: float
    ) -> torch.Tensor:
        found = F.linear(x, self._maps[layer, name], self._biases.get((layer, name)))
        where = f"model.layers.{layer}.{_TORCH[name]}"
        if f"{where}.a" not in low:
            return found
        narrow = F.linear(x, low[f"{where}.a"]) * scale
        shape = found.shape
        added = torch.addmm(found.flatten(0, 1), narrow.flatten(0, 1), low[f"{where}.b"].T)
        return added.view(shape)

    def _attend(
        self,
        layer: int,
        x: torch.Tensor,
        turn: tuple[torch.Tensor, torch.Tensor],
        hidden: torch.Tensor,
        low: dict[str, torch.Tensor],
        scale: float,
    ) -> torch.Tensor:
        b, n, width = x.shape
        q = self._map(layer, "attn_q", x, low, scale).view(b, n, self._heads, -1).transpose(1, 2)
        k = self._map(layer, "attn_k", x, low, scale).view(b, n, self._groups, -1).transpose(1, 2)
        v = self._map(layer, "attn_v", x, low, scale).view(b, n, self._groups, -1).transpose(1, 2)
        q, k = _turned(q, turn), _turned(k, turn)
        each = self._heads // self._groups
        k, v = k.repeat_interleave(each, dim=1), v.repeat_interleave(each, dim=1)
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=hidden)
        found = found.transpose(1, 2).reshape(b, n, width)
        return self._map(layer, "attn_output", found, low, scale)

    def _turn(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosine and sine of each position's angles, shape (B, 1, L, head width)."""
        half = self.words.shape[1] // self._heads // 2
        pace = self._theta ** -(torch.arange(half, device=self.words.device).float() / half)
        angle = positions[:, None, :, None].float() * pace
        angle = torch.cat([angle, angle], dim=-1)
        return angle.cos().to(self.words.dtype), angle.sin().to(self.words.dtype)


def _turned(x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Rotary positions (Su et al. 2021): the halves of a head's width as pairs."""
    first, second = x.chunk(2, dim=-1)
    return x * turn[0] + torch.cat([-second, first], dim=-1) * turn[1]
