"""The loss of claims' labels, three-way and two-way."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from training.adapter.groups import LABELS, NOT_ENTAILMENT


def loss_of(logits: torch.Tensor, labels: list[str], smoothing: float) -> torch.Tensor:
    """Summed cross entropy of the labels, in nats; of two-way labels that of "entailed or not".

    Args:
        logits: shape (n, 3).
        labels: n of them, ``NOT_ENTAILMENT`` among them.
        smoothing: share of a label's probability that is spread over all three.
    """
    log_p = logits.log_softmax(dim=1)
    three = [i for i, label in enumerate(labels) if label != NOT_ENTAILMENT]
    two = [i for i, label in enumerate(labels) if label == NOT_ENTAILMENT]
    total = logits.new_zeros(())
    if three:
        gold = torch.tensor([LABELS.index(labels[i]) for i in three], device=logits.device)
        total = total + F.cross_entropy(
            logits[three], gold, reduction="sum", label_smoothing=smoothing
        )
    if two:
        total = total - log_p[two, 1:].logsumexp(dim=1).sum()
    return total
