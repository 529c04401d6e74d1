"""Sources of labelled groups, drawn so that each keeps its share of a run's tokens."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from factcheck_local.pipeline.relation.tables import stated
from training.adapter.groups import Group, authored, pairs, sets
from training.overlap import Held

#: How often a passage's tables are written out as statements, see ``relation.tables``.
STATED = 0.5


@dataclass(frozen=True, slots=True)
class Source:
    """Groups that are drawn in turn, in a new order each time all were.

    Attributes:
        share: of the tokens, relative to the other sources'.
    """

    name: str
    share: float
    groups: Sequence[Group]


def own_sources(
    own: Path, shares: Mapping[str, float], sets_shares: Mapping[str, float]
) -> list[Source]:
    """The authored files and the sets, without what is held out.

    Args:
        own: the folder ``training/data``.
        shares: by authored file.
        sets_shares: by file of sets.
    """
    here = own / "authored"
    return [
        *(Source(n, s, authored(here / f"{n}.jsonl", held_out=False)) for n, s in shares.items()),
        *(
            Source(f"sets/{n}", s, sets(sets_file(own, n), held_out=False))
            for n, s in sets_shares.items()
        ),
    ]


def public_sources(public: Path, shares: Mapping[str, tuple[float, int]]) -> list[Source]:
    """The public files, without what is held out.

    Args:
        public: a folder with ``public/*.jsonl`` and ``train-*.jsonl``.
        shares: by file, with the fewest claims that a premise needs to be drawn.
    """
    return [
        Source(name, share, pairs(public_file(public, name), held_out=False, least=least))
        for name, (share, least) in shares.items()
    ]


def without(drawn_from: Sequence[Source], held: Held) -> list[Source]:
    """The sources without what shares a sentence with sets to be measured on.

    Args:
        drawn_from: the sources.
        held: the sentences; a passage is left out with all its claims if it or one of
            them shares any.
    """

    def shares(group: Group) -> bool:
        return any(held.shares(group.passage, claim.text) for claim in group.claims)

    return [replace(s, groups=[g for g in s.groups if not shares(g)]) for s in drawn_from]


def sets_file(own: Path, name: str) -> Path:
    """Where a file of sets is, by its name."""
    return own / "authored" / "sets" / f"{name}.jsonl"


def public_file(public: Path, name: str) -> Path:
    """Where a public file is, by its name."""
    return public / f"{name}.jsonl" if "train-" in name else public / "public" / f"{name}.jsonl"


def in_turn(
    drawn_from: Sequence[Source], size: Callable[[Group], int], seed: int
) -> Iterator[tuple[Group, int]]:
    """Endless groups with their sizes in tokens, without chance in the shares.

    The source that is furthest behind its share of the tokens so far comes next.

    Args:
        drawn_from: the sources; one without groups is left out.
        size: tokens of a group as it was drawn, at least 1.
        seed: of the order within each source.
    """
    rng = random.Random(seed)
    drawn_from = [source for source in drawn_from if source.groups]
    streams = [_endless(source, rng) for source in drawn_from]
    total = sum(source.share for source in drawn_from)
    taken = [0.0] * len(streams)
    while True:
        at = min(range(len(streams)), key=lambda i: taken[i] * total / drawn_from[i].share)
        group = next(streams[at])
        count = size(group)
        taken[at] += count
        yield group, count


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
