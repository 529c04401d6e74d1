"""A passage and its claims as one sequence: the passage is read once for all of them.

The tokens are those that ``models.llama_cpp`` makes of the same prompt: markup and content
are tokenised apart, and each claim with the closing of the turn stands behind the passage as
if it were the only one. It sees the passage and itself alone, and its positions start again
after the passage, so the states at its end are those of a prompt with this claim alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from factcheck_local.models.chat_format import ChatFormat
from factcheck_local.models.prompts import Prompt
from factcheck_local.pipeline.relation.llm import UNTITLED
from training.adapter.groups import Group

Tokenize = Callable[[str], list[int]]


@dataclass(frozen=True, slots=True)
class Packed:
    """Several groups as one sequence of n tokens.

    Attributes:
        tokens: ids, shape (n,).
        positions: of each token in its own prompt, shape (n,).
        segments: of each group its first token, the one after its last, and who sees
            whom among them, a boolean matrix.
        ends: index of the last token of each claim, in the groups' order.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    segments: tuple[tuple[int, int, torch.Tensor], ...]
    ends: torch.Tensor


class Packer:
    """Writes groups as token sequences.

    Args:
        tokenize: text to ids, without a begin token; markup is taken as such.
        template: the model's chat format.
        prompt: without examples, with title, passage and claim to fill in.
    """

    def __init__(self, tokenize: Tokenize, template: ChatFormat, prompt: Prompt) -> None:
        self._tokenize = tokenize
        self._format = template
        self._prompt = prompt
        self._closing = tokenize(template.close("user")) + tokenize(template.open("assistant"))

    def size(self, group: Group) -> int:
        """How many tokens a group takes."""
        return sum(map(len, self.parts(group)))

    def passage_size(self, group: Group) -> int:
        """How many tokens its passage alone has."""
        return len(self._tokenize(group.passage))

    def pack(self, groups: Sequence[Group]) -> Packed:
        """Put groups behind each other."""
        tokens: list[int] = []
        positions: list[int] = []
        segments, ends = [], []
        for group in groups:
            begin = len(tokens)
            prefix, *tails = self.parts(group)
            owner = [0] * len(prefix)
            tokens += prefix
            positions += range(len(prefix))
            for number, tail in enumerate(tails, start=1):
                tokens += tail
                positions += range(len(prefix), len(prefix) + len(tail))
                owner += [number] * len(tail)
                ends.append(len(tokens) - 1)
            segments.append((begin, len(tokens), sees(owner)))
        return Packed(
            torch.tensor(tokens), torch.tensor(positions), tuple(segments), torch.tensor(ends)
        )

    def parts(self, group: Group) -> list[list[int]]:
        """Ids of the shared beginning, then of each claim's own end."""
        title = group.title or UNTITLED
        system, user = self._prompt.opening(title=title, passage=group.passage)
        prefix = [
            *self._tokenize(self._format.open("system")),
            *self._tokenize(system.content),
            *self._tokenize(self._format.close("system")),
            *self._tokenize(self._format.open("user", "system")),
            *self._tokenize(user.content),
        ]
        closes = (self._tokenize(self._prompt.close(claim=c.text)) for c in group.claims)
        return [prefix, *(close + self._closing for close in closes)]


def sees(owner: Sequence[int]) -> torch.Tensor:
    """Each token sees those before it of the passage (owner 0) and of its own claim."""
    part = torch.tensor(owner)
    earlier = torch.ones(len(owner), len(owner), dtype=torch.bool).tril()
    return earlier & ((part[None, :] == 0) | (part[None, :] == part[:, None]))
