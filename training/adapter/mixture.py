"""What a training run draws from, and in which order: shares of tokens by source."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from factcheck_local.relate.tables import stated
from training.adapter.groups import Group, authored, pairs, sets
from training.adapter.packing import Packer


@dataclass(frozen=True, slots=True)
class Source:
    """Groups that are drawn in turn, in a new order each time all were.

    Attributes:
        share: of the tokens, relative to the other sources'.
    """

    name: str
    share: float
    groups: Sequence[Group]


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

#: How often a passage's tables are written out as statements, see ``relate.tables``.
STATED = 0.5


def sources(own: Path, public: Path) -> list[Source]:
    """All sources without what is held out.

    Args:
        own: the folder ``training/data``.
        public: a folder with ``public/*.jsonl`` and ``train-fool-me-twice.jsonl``.
    """
    found = [
        Source(name, share, authored(own / "authored" / f"{name}.jsonl", held_out=False))
        for name, share in AUTHORED.items()
    ]
    files = sorted((own / "authored" / "sets").glob("*.jsonl"))
    found.append(Source("sets", SETS, [g for f in files for g in sets(f, held_out=False)]))
    for name, (share, least) in PUBLIC.items():
        path = public / f"{name}.jsonl" if "train-" in name else public / "public" / f"{name}.jsonl"
        found.append(Source(name, share, pairs(path, held_out=False, least=least)))
    return found


def batches(
    drawn_from: Sequence[Source], packer: Packer, *, tokens: int, seed: int
) -> Iterator[list[Group]]:
    """Endless batches of groups with at least ``tokens`` tokens each, without chance in the shares.

    The source that is furthest behind its share of the tokens so far comes next.
    """
    rng = random.Random(seed)
    streams = [_endless(source, rng) for source in drawn_from]
    total = sum(source.share for source in drawn_from)
    taken = [0.0] * len(streams)
    while True:
        batch: list[Group] = []
        size = 0
        while size < tokens:
            at = min(range(len(streams)), key=lambda i: taken[i] * total / drawn_from[i].share)
            group = next(streams[at])
            count = packer.size(group)
            taken[at] += count
            size += count
            batch.append(group)
        yield batch


def _endless(source: Source, rng: random.Random) -> Iterator[Group]:
    own = random.Random(rng.random())
    groups = list(source.groups)
    while True:
        own.shuffle(groups)
        for group in groups:
            drawn = group.drawn(own)
            if own.random() < STATED:
                drawn = replace(drawn, passage=stated(drawn.passage))
            yield drawn
