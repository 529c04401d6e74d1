"""What a run for an adapter draws from, and in which order: shares of tokens by source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from training.adapter.groups import SEVERAL, Group, sets_side_by_side, worded
from training.adapter.packing import Packer
from training.mixture import Source, in_turn, own_sources, public_sources, sets_file

#: Most tokens of a passage. What is longer is left out with its claims: memory
#: has an end, and what would be cut off may be what decides them.
MOST_PASSAGE_TOKENS = 440

#: The same of several passages that are read side by side.
MOST_SEVERAL_TOKENS = 1200

#: Share of a run's tokens, by authored file. What the shipped adapter has not read has half of
#: them; of what it has read there is some of each, so that plain documents are not forgotten.
AUTHORED = {
    "policies": 0.045,
    "technical": 0.03,
    "organisations": 0.045,
    "operations": 0.045,
    "encyclopedic": 0.03,
    "wiki": 0.02,
    "tables": 0.03,
    "tables-staff": 0.018,
    "tables-systems": 0.018,
    "tables-clinical": 0.018,
    "tables-industry": 0.018,
    "tables-public": 0.018,
    "tables-finance": 0.018,
    "lists": 0.018,
    "rules-staff": 0.025,
    "rules-systems": 0.025,
    "rules-clinical": 0.025,
    "rules-products": 0.025,
    "rules-public": 0.025,
    "rules-finance": 0.025,
    "rules-projects": 0.025,
    "long-claims": 0.02,
    "long-claims-2": 0.02,
    "evidence": 0.02,
    "pages-science": 0.03,
    "pages-culture": 0.03,
    "pages-everyday": 0.03,
    "handbook-people": 0.07,
    "handbook-technical": 0.07,
    "web-checks": 0.07,
    "web-checks-2": 0.12,
    "handbook-answers": 0.2,
    "handbook-plain": 0.2,
    "handbook-long": 0.3,
}

#: The same by file of sets.
SETS = {
    "industry": 0.02,
    "people": 0.02,
    "software": 0.02,
    "handbooks": 0.02,
    "systems": 0.02,
    "regulated": 0.02,
    "institutions": 0.02,
    "products": 0.02,
    "guides": 0.02,
    "projects": 0.02,
    "offices": 0.04,
    "services": 0.06,
    "intranets": 0.15,
    "manuals": 0.15,
    "answers": 0.15,
    "pages": 0.15,
}

#: The same by public file, with the fewest claims that a premise needs to be drawn.
PUBLIC = {
    "fever": (0.045, 2),
    "vitaminc": (0.045, 2),
    "check-covid": (0.015, 1),
    "check-covid-abstract": (0.003, 2),
    "scifact": (0.012, 1),
    "infotabs": (0.03, 6),
    "tabfact": (0.015, 2),
    "contractnli": (0.01, 1),
    "factcg-doc": (0.006, 1),
    "wice-partial": (0.005, 1),
    "wanli": (0.01, 1),
    "train-fool-me-twice": (0.02, 1),
}


def in_other_words(found: Sequence[Source], other: Mapping[str, str], share: float) -> list[Source]:
    """The sources, and beside them those of their claims that have another wording.

    Args:
        found: the sources.
        other: the wordings by claim, of at least one that is there.
        share: of all tokens, in [0, 1), with claims in other words; each passage as often as
            another.
    """
    groups = [(s.name, list(worded(s.groups, other))) for s in found]
    each = sum(s.share for s in found) * share / (1.0 - share) / sum(len(g) for _, g in groups)
    return [*found, *(Source(f"worded/{name}", each * len(g), g) for name, g in groups if g)]


def sources(own: Path, public: Path, side_by_side: float = 0.0) -> list[Source]:
    """All sources without what is held out.

    Args:
        own: the folder ``training/data``.
        public: a folder with ``public/*.jsonl`` and ``train-fool-me-twice.jsonl``.
        side_by_side: share of all tokens, in [0, 1), with several passages of a set as one text,
            each set as often as another.
    """
    found = [*own_sources(own, AUTHORED, SETS), *public_sources(public, PUBLIC)]
    if not side_by_side:
        return found
    several = {n: sets_side_by_side(sets_file(own, n), held_out=False) for n in SETS}
    whole = sum(source.share for source in found) * side_by_side / (1.0 - side_by_side)
    each = whole / sum(map(len, several.values()))
    found += [Source(f"side-by-side/{n}", each * len(g), g) for n, g in several.items() if g]
    return found


def batches(
    drawn_from: Sequence[Source], packer: Packer, *, tokens: int, seed: int
) -> Iterator[list[Group]]:
    """Endless batches of groups with at least ``tokens`` tokens each; see ``mixture.in_turn``.

    Groups with a passage of more than ``MOST_PASSAGE_TOKENS`` are passed over, or with several of
    more than ``MOST_SEVERAL_TOKENS``.
    """
    drawn = in_turn(drawn_from, packer.size, seed)
    while True:
        batch: list[Group] = []
        size = 0
        while size < tokens:
            group, count = next(drawn)
            most = MOST_SEVERAL_TOKENS if group.title == SEVERAL else MOST_PASSAGE_TOKENS
            if packer.passage_size(group) <= most:
                size += count
                batch.append(group)
        yield batch
