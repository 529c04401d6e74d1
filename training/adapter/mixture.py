"""What a run for an adapter draws from, and in which order: shares of tokens by source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from training.adapter.groups import Group
from training.adapter.packing import Packer
from training.mixture import Source, in_turn, own_sources, public_sources

#: Share of a run's tokens, by authored file. Passages that are alike in kind weigh alike.
AUTHORED = {
    "policies": 0.01,
    "technical": 0.01,
    "organisations": 0.015,
    "operations": 0.02,
    "encyclopedic": 0.015,
    "wiki": 0.01,
    "tables": 0.025,
    "tables-staff": 0.05,
    "tables-systems": 0.05,
    "tables-clinical": 0.05,
    "tables-industry": 0.05,
    "tables-public": 0.05,
    "tables-finance": 0.05,
    "lists": 0.05,
    "long-claims": 0.015,
    "long-claims-2": 0.015,
    "evidence": 0.015,
    "pages-science": 0.035,
    "pages-culture": 0.03,
    "pages-everyday": 0.03,
}

#: The same by file of sets.
SETS = {
    "industry": 0.02,
    "people": 0.02,
    "software": 0.02,
    "handbooks": 0.03,
    "systems": 0.03,
    "regulated": 0.03,
    "institutions": 0.03,
    "products": 0.03,
    "guides": 0.03,
    "projects": 0.03,
}

#: The same by public file, with the fewest claims that a premise needs to be drawn.
PUBLIC = {
    "fever": (0.035, 2),
    "vitaminc": (0.035, 2),
    "check-covid": (0.02, 1),
    "check-covid-abstract": (0.003, 2),
    "scifact": (0.01, 1),
    "infotabs": (0.02, 6),
    "tabfact": (0.015, 2),
    "contractnli": (0.01, 1),
    "factcg-doc": (0.005, 1),
    "wice-partial": (0.003, 1),
    "wanli": (0.005, 1),
    "train-fool-me-twice": (0.015, 1),
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
