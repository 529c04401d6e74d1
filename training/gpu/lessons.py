"""What a run on a GPU reads: token sequences with what is to be said of their parts.

A lesson is a beginning that all parts share (a passage with the prompt, or an answer), and the
parts that stand behind it as if each were the only one, see ``training.adapter.packing``. Of a
part either a label is asked, at its end, or the tokens of a reply. Lessons are kept as flat
arrays, and read as batches of rows of nearly equal length.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

#: Lessons sorted by length together, so that a batch holds little padding.
POOL = 512
#: Rows are padded to a multiple of it: with one of 64 the backward pass of the memory-efficient
#: attention of torch 2.11 gives gradients that are no numbers where a row has an odd multiple.
STEP = 128
NO_LABEL = -1


@dataclass(frozen=True, slots=True)
class Lesson:
    """One sequence.

    Attributes:
        shared: ids of the beginning.
        parts: ids of each part.
        begins: where the reply of each begins, its length where none is asked.
        labels: of each, as a number; ``NO_LABEL`` where none is asked.
        source: the file that it is from.
    """

    shared: Sequence[int]
    parts: Sequence[Sequence[int]]
    begins: Sequence[int]
    labels: Sequence[int]
    source: str

    def __len__(self) -> int:
        """Tokens in all."""
        return len(self.shared) + sum(map(len, self.parts))


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of B lessons, padded to L tokens; tensors on the device that was asked for.

    Attributes:
        tokens: ids, shape (B, L).
        positions: of each token in its own prompt, shape (B, L).
        owners: which part a token belongs to, 0 for what is shared, shape (B, L).
        ends: places in the flattened rows where a label is asked, shape (n,).
        labels: shape (n,).
        at: places in front of the tokens of replies, shape (m,).
        wanted: those tokens, shape (m,).
        first: which of them begin a reply, boolean, shape (m,).
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    owners: torch.Tensor
    ends: torch.Tensor
    labels: torch.Tensor
    at: torch.Tensor
    wanted: torch.Tensor
    first: torch.Tensor


def save(lessons: Sequence[Lesson], path: Path) -> None:
    """Write lessons as flat arrays."""
    flat: list[int] = []
    for lesson in lessons:
        flat += lesson.shared
        for part in lesson.parts:
            flat += part
    sources = list(dict.fromkeys(lesson.source for lesson in lessons))
    torch.save(
        {
            "tokens": torch.tensor(flat, dtype=torch.int32),
            "shared": torch.tensor([len(x.shared) for x in lessons], dtype=torch.int32),
            "counts": torch.tensor([len(x.parts) for x in lessons], dtype=torch.int32),
            "sizes": torch.tensor([len(p) for x in lessons for p in x.parts], dtype=torch.int16),
            "begins": torch.tensor([b for x in lessons for b in x.begins], dtype=torch.int16),
            "labels": torch.tensor([n for x in lessons for n in x.labels], dtype=torch.int8),
            "source": torch.tensor([sources.index(x.source) for x in lessons], dtype=torch.int16),
            "sources": sources,
        },
        path,
    )


def read(path: Path) -> list[Lesson]:
    """The lessons of a file."""
    kept: dict[str, Any] = torch.load(path, weights_only=True)
    columns = ("shared", "counts", "sizes", "begins", "labels", "source", "tokens")
    shared, counts, sizes, begins, labels, source, tokens = (kept[c].tolist() for c in columns)
    found, at, part = [], 0, 0
    for own, count, name in zip(shared, counts, source, strict=True):
        first, at = tokens[at : at + own], at + own
        parts = []
        for size in sizes[part : part + count]:
            parts.append(tokens[at : at + size])
            at += size
        here = slice(part, part + count)
        found.append(Lesson(first, parts, begins[here], labels[here], kept["sources"][name]))
        part += count
    return found


def batches(lessons: Sequence[Lesson], tokens: int, seed: int | None) -> Iterator[list[Lesson]]:
    """Batches of lessons of nearly equal length, one pass over all of them.

    Args:
        lessons: their order is kept from pool to pool.
        tokens: padded tokens of a batch at most, or one lesson.
        seed: of the order of a pool's batches; None for that of their lengths.
    """
    for pool in range(0, len(lessons), POOL):
        made: list[list[Lesson]] = [[]]
        for lesson in sorted(lessons[pool : pool + POOL], key=len):
            if made[-1] and (len(made[-1]) + 1) * padded(len(lesson)) > tokens:
                made.append([])
            made[-1].append(lesson)
        if seed is not None:
            random.Random(f"{seed} {pool}").shuffle(made)
        yield from made


def padded(length: int) -> int:
    """The length of a row that holds so many tokens."""
    return -(-length // STEP) * STEP


def rows(batch: Sequence[Lesson], read: Sequence[int], said: Sequence[int], device: str) -> Rows:
    """Lessons as tensors.

    Args:
        batch: some lessons.
        read: the new id of each old one, among those that are read.
        said: the same among those that can be said.
        device: where the tensors go.
    """
    length = padded(max(map(len, batch)))
    tokens = torch.zeros(len(batch), length, dtype=torch.long)
    positions, owners = torch.zeros_like(tokens), torch.zeros_like(tokens)
    ends: list[int] = []
    labels: list[int] = []
    at: list[int] = []
    wanted: list[int] = []
    first: list[bool] = []
    for row, lesson in enumerate(batch):
        ids, own = list(lesson.shared), [0] * len(lesson.shared)
        where = list(range(len(ids)))
        for number, (part, begin, label) in enumerate(
            zip(lesson.parts, lesson.begins, lesson.labels, strict=True), start=1
        ):
            here = row * length + len(ids)
            if label != NO_LABEL:
                ends.append(here + begin - 1)
                labels.append(label)
            at += range(here + begin - 1, here + len(part) - 1)
            wanted += part[begin:]
            first += [i == begin for i in range(begin, len(part))]
            where += range(len(lesson.shared), len(lesson.shared) + len(part))
            own += [number] * len(part)
            ids += part
        tokens[row, : len(ids)] = torch.tensor([read[i] for i in ids])
        positions[row, : len(ids)] = torch.tensor(where)
        owners[row, : len(ids)] = torch.tensor(own)

    def on(numbers: list[int]) -> torch.Tensor:
        return torch.tensor(numbers, dtype=torch.long).to(device)

    return Rows(
        tokens=tokens.to(device),
        positions=positions.to(device),
        owners=owners.to(device),
        ends=on(ends),
        labels=on(labels),
        at=on(at),
        wanted=on([said[i] for i in wanted]),
        first=torch.tensor(first, dtype=torch.bool).to(device),
    )
