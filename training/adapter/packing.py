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

#: Tokens of a passage that are read in training; of the longest ones the end is cut off.
MOST_PASSAGE_TOKENS = 460

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
        most: tokens of a passage that are read; None for all, as in use.
    """

    def __init__(
        self,
        tokenize: Tokenize,
        template: ChatFormat,
        prompt: Prompt,
        *,
        most: int | None = MOST_PASSAGE_TOKENS,
    ) -> None:
        self._most = most
        self._tokenize = tokenize
        self._format = template
        self._prompt = prompt
        self._closing = tokenize(template.close("user")) + tokenize(template.open("assistant"))

    def size(self, group: Group) -> int:
        """How many tokens a group takes."""
        return sum(map(len, self._parts(group)))

    def pack(self, groups: Sequence[Group]) -> Packed:
        """Put groups behind each other."""
        tokens: list[int] = []
        positions: list[int] = []
        segments, ends = [], []
        for group in groups:
            begin = len(tokens)
            prefix, *tails = self._parts(group)
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

    def _parts(self, group: Group) -> list[list[int]]:
        """The shared beginning, then each claim's own end."""
        title = group.title or UNTITLED
        system, user = self._prompt.opening(title=title, passage="\0")
        before, after = user.content.split("\0")
        whole = self._tokenize(user.content.replace("\0", group.passage))
        if self._most is not None and len(whole) > self._most:
            whole = self._tokenize(before + group.passage)[: self._most] + self._tokenize(after)
        prefix = [
            *self._tokenize(self._format.open("system")),
            *self._tokenize(system.content),
            *self._tokenize(self._format.close("system")),
            *self._tokenize(self._format.open("user", "system")),
            *whole,
        ]
        closes = (self._tokenize(self._prompt.close(claim=c.text)) for c in group.claims)
        return [prefix, *(close + self._closing for close in closes)]


def sees(owner: Sequence[int]) -> torch.Tensor:
    """Each token sees those before it of the passage (owner 0) and of its own claim."""
    part = torch.tensor(owner)
    earlier = torch.ones(len(owner), len(owner), dtype=torch.bool).tril()
    return earlier & ((part[None, :] == 0) | (part[None, :] == part[:, None]))
