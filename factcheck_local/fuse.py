"""Several rankings of the same things as one."""

from __future__ import annotations

from collections.abc import Sequence

#: Rank at which a ranking's say is halved, roughly; the constant of the original paper.
RANK_CONSTANT = 60


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], constant: float = RANK_CONSTANT
) -> list[tuple[str, float]]:
    """Ids by falling Σ 1 / (constant + rank), ranks from 1, ties by id.

    Source: Cormack, Clarke and Buettcher 2009, "Reciprocal rank fusion outperforms
    Condorcet and individual rank learning methods".

    Args:
        rankings: ids, best first, each once in a ranking.
        constant: above 0.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, id_ in enumerate(ranking, start=1):
            scores[id_] = scores.get(id_, 0.0) + 1.0 / (constant + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
