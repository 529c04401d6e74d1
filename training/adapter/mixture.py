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
    "technical": 0.005,
    "organisations": 0.01,
    "operations": 0.015,
    "encyclopedic": 0.01,
    "wiki": 0.005,
    "tables": 0.02,
    "tables-staff": 0.02,
    "tables-systems": 0.02,
    "tables-clinical": 0.02,
    "tables-industry": 0.02,
    "tables-public": 0.02,
    "tables-finance": 0.02,
    "lists": 0.03,
    "rules-staff": 0.04,
    "rules-systems": 0.04,
    "rules-clinical": 0.04,
    "rules-products": 0.04,
    "rules-public": 0.04,
    "rules-finance": 0.04,
    "rules-projects": 0.04,
    "long-claims": 0.01,
    "long-claims-2": 0.01,
    "evidence": 0.015,
    "pages-science": 0.025,
    "pages-culture": 0.025,
    "pages-everyday": 0.025,
}

#: The same by file of sets.
SETS = {
    "industry": 0.015,
    "people": 0.015,
    "software": 0.015,
    "handbooks": 0.05,
    "systems": 0.05,
    "regulated": 0.05,
    "institutions": 0.05,
    "products": 0.05,
    "guides": 0.05,
    "projects": 0.05,
}

#: The same by public file, with the fewest claims that a premise needs to be drawn.
PUBLIC = {
    "fever": (0.025, 2),
    "vitaminc": (0.025, 2),
    "check-covid": (0.015, 1),
    "check-covid-abstract": (0.003, 2),
    "scifact": (0.008, 1),
    "infotabs": (0.015, 6),
    "tabfact": (0.01, 2),
    "contractnli": (0.008, 1),
    "factcg-doc": (0.005, 1),
    "wice-partial": (0.003, 1),
    "wanli": (0.005, 1),
    "train-fool-me-twice": (0.012, 1),
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
