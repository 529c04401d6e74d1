"""Groups as pairs of token sequences, and pairs as batches of nearly equal length."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from factcheck_local.pipeline.relation.encoder import as_read
from factcheck_local.pipeline.relation.scorer import Premise
from training.adapter.groups import Claim, Group
from training.mixture import Source, in_turn

#: Pairs sorted by length together, so that a batch holds little padding.
POOL_PAIRS = 1024


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim with its passage, as the encoder reads them.

    Attributes:
        inputs: the tokenizer's lists by their names, ``input_ids`` among them.
        claim: with its label.
    """

    inputs: dict[str, list[int]]
    claim: Claim

    def __len__(self) -> int:
        """Tokens of both texts and the marks around them."""
        return len(self.inputs["input_ids"])


class Reader:
    """Writes groups as token sequences.

    Args:
        tokenizer: of transformers; special tokens in a text are text to it.
        max_tokens: of a pair. Longer ones are left out: what would be cut off may decide.
    """

    def __init__(self, tokenizer: Any, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens

    def pairs(self, group: Group) -> list[Pair]:
        """The claims of a group, each with the passage."""
        premise = as_read(Premise(group.title, group.passage))
        texts = [claim.text for claim in group.claims]
        read = self._tokenizer([premise] * len(texts), texts)
        found = [
            Pair({name: rows[i] for name, rows in read.items()}, claim)
            for i, claim in enumerate(group.claims)
        ]
        return [pair for pair in found if len(pair) <= self._max_tokens]

    def size(self, group: Group) -> int:
        """How many tokens the pairs of a group take; 1 for a group without any."""
        return max(1, sum(map(len, self.pairs(group))))

    def padded(self, batch: Sequence[Pair]) -> Any:
        """The inputs of a batch as tensors, shape (pairs, longest)."""
        columns = {name: [pair.inputs[name] for pair in batch] for name in batch[0].inputs}
        return self._tokenizer.pad(columns, return_tensors="pt")


def batches(
    drawn_from: Sequence[Source], reader: Reader, *, tokens: int, seed: int
) -> Iterator[list[Pair]]:
    """Endless batches of pairs of nearly equal length.

    Args:
        drawn_from: sources; their shares are kept in every ``POOL_PAIRS`` pairs.
        reader: makes pairs of groups.
        tokens: padded tokens of a batch at most, so that long pairs make small batches.
        seed: of the order.
    """
    rng = random.Random(seed)
    drawn = in_turn(drawn_from, reader.size, seed)
    stream = (pair for group, _ in drawn for pair in reader.pairs(group))
    while True:
        made = cut(sorted(islice(stream, POOL_PAIRS), key=len), tokens)
        rng.shuffle(made)
        yield from made


def cut(by_length: Sequence[Pair], tokens: int) -> list[list[Pair]]:
    """Cut pairs sorted by length into batches of at most ``tokens`` padded tokens."""
    made: list[list[Pair]] = [[]]
    for pair in by_length:
        if (len(made[-1]) + 1) * len(pair) > tokens and made[-1]:
            made.append([])
        made[-1].append(pair)
    return made
