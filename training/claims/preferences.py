"""Better and worse ways to take a part of an answer apart, and what preferring the worse costs.

Both ways are the model's own (``training.claims.ways``), so that they differ in what it gets wrong
and not in how people write: direct preference optimisation (Rafailov et al. 2023), with the better
way's cross entropy beside it, so that it does not become improbable with the worse (Pang et al.
2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from factcheck_local.core.types import Segment, Span
from factcheck_local.evaluate.lines import FILE, read
from training.adapter.model import Adapted
from training.claims.answers import LabelledAnswer, Part
from training.claims.packing import Taught

#: The better way is as like what people wrote as this.
GOOD = 0.8
#: The worse way is less like what people wrote by this, so that it is worse and not only another.
APART = 0.15
#: Weight of the better way's cross entropy beside the preference.
ANCHOR = 0.3


def pairs(path: Path) -> list[LabelledAnswer]:
    """Answers of which the parts are in twos: a part as it should be taken apart, and not so.

    Args:
        path: a folder written by ``training.claims.ways``.
    """
    found = [
        LabelledAnswer(
            row["question"],
            row["answer"],
            tuple(part for said in row["parts"] for part in _pair(said, row["answer"])),
            row["organisation"],
        )
        for _, row in read(path / FILE)
    ]
    return [answer for answer in found if answer.parts]


def _pair(said: Mapping[str, Any], answer: str) -> tuple[Part, ...]:
    """The better way and the worse of one part; none if there is nothing to tell them apart."""
    ways = sorted((w["likeness"], w["text"]) for w in said["ways"])
    if not ways:
        return ()
    (least, worse), (most, better) = ways[0], ways[-1]
    if most < GOOD or most - least < APART:
        return ()
    span = Span(*said["span"])
    segment = Segment(span.of(answer), span, 0, tuple(said["headings"]))
    return tuple(Part(segment, "claim", tuple(way.split("\n"))) for way in (better, worse))


class Preference:
    """The loss of pairs, beside a model as it is when this is made.

    Args:
        model: with the adapter that is trained.
        beta: how much a difference of log probabilities counts, per nat.
    """

    def __init__(self, model: Adapted, beta: float) -> None:
        self._model = model
        self._before = {name: p.detach().clone() for name, p in model.adapter.items()}
        self._beta = beta

    @contextmanager
    def before(self) -> Iterator[None]:
        """The model as it was, meanwhile."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for name, parameter in self._model.adapter.items():
            parameter.data, self._before[name] = self._before[name], parameter.data

    def loss(
        self, taught: Taught, nats: torch.Tensor, before: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean loss of a sequence's pairs, and by how much each prefers the better way.

        Args:
            taught: replies in twos, the better one first.
            nats: cross entropy of each token of the replies, shape (m,).
            before: the same of the model as it was.

        Returns:
            The loss, a scalar, and beta times the difference of the log ratios, shape (pairs,).
        """
        replies = taught.replies.to(nats.device)
        count = int(replies[-1]) + 1
        said = nats.new_zeros(count).index_add(0, replies, nats)
        said_before = nats.new_zeros(count).index_add(0, replies, before)
        gained = said_before - said
        preferred = self._beta * (gained[0::2] - gained[1::2])
        anchor = nats[replies % 2 == 0].mean()
        return F.softplus(-preferred).mean() + ANCHOR * anchor, preferred.detach()
