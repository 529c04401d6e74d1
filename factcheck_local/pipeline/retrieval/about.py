"""What an answer is about: the documents in which its claims find their passages.

An answer is written from a few documents. A claim of it that says too little to find its passage
alone ("half of the bonus comes when the person starts") finds it there. Only the last of a claim's
passages is chosen so: the others may come from anywhere, for a source that disagrees is seldom one
of those documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

#: By how much of it a passage's score grows where every other claim finds its document first. Of
#: 387 statements about three published handbooks, each with the line that decides it, that line is
#: among three passages of 0.917 without, 0.941 with 0.25, 0.948 with 0.5, 0.953 with 1, 0.959 with
#: 2, and among two of 0.876, 0.902, 0.930, 0.941 and 0.943. The more of it, the less is found of
#: what disagrees: with 1 and 2 two of the sample handbook's four conflicts are lost, with 0.5 none.
WEIGHT = 0.5

#: Passages of a claim that are looked at, for each that is wanted; more bring nothing.
DEPTH = 4


def by_documents(
    ranked: Sequence[Sequence[tuple[str, float]]], sources: Mapping[str, str], k: int
) -> list[list[str]]:
    """Passages anew, one of a document that the answer's other claims find among the first k.

    Args:
        ranked: of each claim passages with their scores, at least 0, best first.
        sources: the document of each passage.
        k: how many passages of a claim are wanted, and count for what it finds, at least 1.

    Returns:
        Of each claim the same passages: the first k - 1 as they are, the others by falling score *
        (1 + ``WEIGHT`` * share), ties by id. The share of a document, from 0 to 1, is the mean over
        the other claims of 1 / the rank of its first passage, 0 where none is among the k.
    """
    found = [_found([sources[id_] for id_, _ in passages[:k]]) for passages in ranked]
    total: defaultdict[str, float] = defaultdict(float)
    for one in found:
        for source, share in one.items():
            total[source] += share
    others = max(1, len(ranked) - 1)  # of a claim alone nothing grows

    def reordered(passages: Sequence[tuple[str, float]], own: Mapping[str, float]) -> list[str]:
        grown = {
            id_: score * (1 + WEIGHT * (total[sources[id_]] - own.get(sources[id_], 0.0)) / others)
            for id_, score in passages[k - 1 :]
        }
        kept = [id_ for id_, _ in passages[: k - 1]]
        return kept + sorted(grown, key=lambda id_: (-grown[id_], id_))

    return [reordered(passages, own) for passages, own in zip(ranked, found, strict=True)]


def _found(sources: Sequence[str]) -> dict[str, float]:
    """1 / the rank of the first passage of each document."""
    first: dict[str, float] = {}
    for rank, source in enumerate(sources, start=1):
        first.setdefault(source, 1 / rank)
    return first
