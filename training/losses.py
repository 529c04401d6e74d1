"""The loss of claims' labels, three-way and two-way."""

from __future__ import annotations

from collections.abc import Sequence

import torch

#: The number of a label of two-way sets, behind those of the three labels: anything but the first.
TWO_WAY = 3


def loss_of(logits: torch.Tensor, labels: Sequence[str], smoothing: float) -> torch.Tensor:
    """Summed cross entropy of the labels, in nats; see ``label_losses``.

    Args:
        logits: shape (n, 3).
        labels: n of them, ``groups.NOT_ENTAILMENT`` among them.
        smoothing: share of a label's probability that is spread over all three.
    """
    # Here, since a machine that has torch alone reads numbers.
    from training.adapter.groups import NUMBERS

    numbers = torch.tensor([NUMBERS[x] for x in labels], dtype=torch.long, device=logits.device)
    return label_losses(logits.log_softmax(dim=1), numbers, smoothing).sum()


def label_losses(log_p: torch.Tensor, labels: torch.Tensor, smoothing: float) -> torch.Tensor:
    """Cross entropy of each label, in nats; of two-way ones that of "entailed or not".

    Args:
        log_p: natural-log probabilities, shape (n, 3).
        labels: numbers, shape (n,), ``TWO_WAY`` among them.
        smoothing: share of a label's probability that is spread over all three.
    """
    two = labels == TWO_WAY
    gold = log_p.gather(1, labels.masked_fill(two, 0)[:, None]).squeeze(1)
    three_way = -(1.0 - smoothing) * gold - smoothing * log_p.mean(dim=1)
    return torch.where(two, -log_p[:, 1:].logsumexp(dim=1), three_way)
