"""What a run for an adapter draws from, and in which order: shares of tokens by source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from training.adapter.groups import Group
from training.adapter.packing import Packer
from training.mixture import Source, in_turn, own_sources, public_sources

#: Share of a run's tokens, by authored file. Passages that are alike in kind weigh alike.
AUTHORED = {
    "policies": 0.015,
    "technical": 0.015,
    "organisations": 0.02,
    "operations": 0.025,
    "encyclopedic": 0.02,
    "wiki": 0.015,
    "tables": 0.03,
    "long-claims": 0.02,
    "long-claims-2": 0.02,
    "evidence": 0.02,
    "pages-science": 0.07,
    "pages-culture": 0.06,
    "pages-everyday": 0.06,
}

#: The same by file of sets.
SETS = {
    "industry": 0.03,
    "people": 0.03,
    "software": 0.03,
    "handbooks": 0.045,
    "systems": 0.045,
    "regulated": 0.045,
    "institutions": 0.045,
    "products": 0.045,
    "guides": 0.045,
    "projects": 0.045,
}

#: The same by public file, with the fewest claims that a premise needs to be drawn.
PUBLIC = {
    "fever": (0.05, 2),
    "vitaminc": (0.05, 2),
    "check-covid": (0.03, 1),
    "check-covid-abstract": (0.005, 2),
    "scifact": (0.015, 1),
    "infotabs": (0.03, 6),
    "tabfact": (0.025, 2),
    "contractnli": (0.015, 1),
    "factcg-doc": (0.01, 1),
    "wice-partial": (0.005, 1),
    "wanli": (0.01, 1),
    "train-fool-me-twice": (0.025, 1),
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
