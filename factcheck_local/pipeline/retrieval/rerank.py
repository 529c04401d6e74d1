"""Reading the best passages again: a reranker sees claim and passage together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Protocol

from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.types import Context
from factcheck_local.models.contracts import Identified
from factcheck_local.pipeline.retrieval.fusion import reciprocal_rank_fusion

#: Passages of a claim that are read again: reading one takes longer than finding all.
RERANKED = 20

#: Of the fusion with the search's ranking, where there is one: a few ranks at the top have
#: to matter. Chosen together with `EncoderReranker.search_weight`, see there.
CONSTANT = 1.0


class Reranker(Identified, Protocol):
    """Says how much a passage bears on a claim, for it or against it."""

    @property
    def search_weight(self) -> float:
        """What the search's own ranking counts beside the reranker's; 0 for nothing."""

    def scores(
        self, pairs: Sequence[tuple[str, Context]], progress: Progress = ...
    ) -> list[float | None]:
        """Score pairs of a claim and a passage.

        Args:
            pairs: n of them; each is read by itself.
            progress: called as they are read.

        Returns:
            n numbers, higher is better, comparable within one claim; None where the
            model cannot read the pair.
        """


def reorder(
    claims: Sequence[str],
    found: Sequence[Sequence[Context]],
    reranker: Reranker,
    progress: Progress = silent,
) -> tuple[list[list[Context]], int]:
    """Order the passages of each claim anew.

    Args:
        claims: n of them.
        found: the passages of each, best first.
        reranker: reads every one of them.
        progress: called as it reads.

    Returns:
        The same passages, best first, and for how many claims the order stayed as it
        was because the reranker could not read them.
    """
    pairs = [(claim, c) for claim, contexts in zip(claims, found, strict=True) for c in contexts]
    scores = iter(reranker.scores(pairs, progress))
    ordered: list[list[Context]] = []
    unread = 0
    for contexts in found:
        own = list(islice(scores, len(contexts)))
        read = [score for score in own if score is not None]
        if len(read) < len(own):
            unread += 1
            ordered.append(list(contexts))
        else:
            ordered.append(_reordered(contexts, read, reranker.search_weight))
    return ordered, unread


def _reordered(
    contexts: Sequence[Context], scores: Sequence[float], search_weight: float
) -> list[Context]:
    """Passages by the search's ranking and that of the scores, fused."""
    by_id = {c.id: c for c in contexts}
    searched = list(by_id)
    by_score = dict(zip(searched, scores, strict=True))
    # Of equal scores the search decides: the sort is stable.
    read = sorted(searched, key=lambda id_: -by_score[id_])
    fused = reciprocal_rank_fusion([searched, read], CONSTANT, weights=[search_weight, 1.0])
    return [by_id[id_] for id_, _ in fused]
