"""Several rankings of the same things as one."""

from __future__ import annotations

from collections.abc import Sequence

#: Rank at which a ranking's say is halved, roughly. The original paper has 60, for rankings of
#: a thousand; in ours, of some tens, the first places would then say hardly more than the last.
RANK_CONSTANT = 10


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]],
    constant: float = RANK_CONSTANT,
    weights: Sequence[float] | None = None,
) -> list[tuple[str, float]]:
    """Ids by falling Σ weight / (constant + rank), ranks from 1, ties by id.

    Source: Cormack, Clarke and Buettcher 2009, "Reciprocal rank fusion outperforms
    Condorcet and individual rank learning methods"; the weights are an addition.

    Args:
        rankings: ids, best first, each once in a ranking.
        constant: above 0.
        weights: of the rankings, at least 0; None for all the same.
    """
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, id_ in enumerate(ranking, start=1):
            scores[id_] = scores.get(id_, 0.0) + weight / (constant + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
