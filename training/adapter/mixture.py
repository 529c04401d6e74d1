"""What a run for an adapter draws from, and in which order: shares of tokens by source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from training.adapter.groups import Group
from training.adapter.packing import Packer
from training.mixture import Source, in_turn, own_sources, public_sources

#: Share of a run's tokens, by authored file. Passages that are alike in kind weigh alike.
AUTHORED = {
    "policies": 0.05,
    "technical": 0.05,
    "organisations": 0.05,
    "operations": 0.05,
    "encyclopedic": 0.05,
    "wiki": 0.06,
    "tables": 0.05,
    "long-claims": 0.045,
    "long-claims-2": 0.045,
    "evidence": 0.04,
}
SETS = 0.15

#: The same by public file, with the fewest claims that a premise needs to be drawn.
PUBLIC = {
    "fever": (0.06, 2),
    "vitaminc": (0.07, 2),
    "check-covid": (0.05, 1),
    "check-covid-abstract": (0.01, 2),
    "scifact": (0.03, 1),
    "infotabs": (0.045, 6),
    "tabfact": (0.035, 2),
    "contractnli": (0.02, 1),
    "factcg-doc": (0.02, 1),
    "wice-partial": (0.01, 1),
    "wanli": (0.01, 1),
    "train-fool-me-twice": (0.04, 1),
}


def sources(own: Path, public: Path) -> list[Source]:
    """All sources without what is held out.

    Args:
        own: the folder ``training/data``.
        public: a folder with ``public/*.jsonl`` and ``train-fool-me-twice.jsonl``.
    """
    return [*own_sources(own, AUTHORED, SETS), *public_sources(public, PUBLIC)]


def batches(
    drawn_from: Sequence[Source], packer: Packer, *, tokens: int, seed: int
) -> Iterator[list[Group]]:
    """Endless batches of groups with at least ``tokens`` tokens each; see ``mixture.in_turn``."""
    drawn = in_turn(drawn_from, packer.size, seed)
    while True:
        batch: list[Group] = []
        size = 0
        while size < tokens:
            group, count = next(drawn)
            size += count
            batch.append(group)
        yield batch
