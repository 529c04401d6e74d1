"""The models that rerank, by name: an NLI encoder, or a cross-encoder made for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.types import Context, titled
from factcheck_local.models.cards import ModelCard, find_card
from factcheck_local.models.contracts import RelevanceScorer
from factcheck_local.models.registry import DEFAULT_ENCODER, load_model
from factcheck_local.pipeline.relation.load import load_pair_scorer
from factcheck_local.pipeline.relation.scorer import PairScorer, Premise
from factcheck_local.pipeline.retrieval.rerank import Reranker

#: Pairs that a cross-encoder reads between two reports of progress.
_BATCH = 64


class EncoderReranker:
    """Ranks by 1 - p(neutral) of an NLI encoder; implements ``Reranker``.

    Evidence against a claim counts as much as evidence for it. The probabilities are the
    model's own, before calibration. Alone such a model ranks worse than the search, so
    it has one vote of three. The weight, ``retrieval.rerank.CONSTANT``, and 1 - p(neutral) rather
    than the larger of the other two were chosen on 150 claims each of WiCE dev and
    Factcheck-Bench (``benchmarks/retrieval.py --rerank encoder --limit 150``).
    """

    search_weight = 2.0

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer
        self.id = scorer.id
        self.sha256 = scorer.sha256

    def scores(
        self,
        pairs: Sequence[tuple[str, Context]],
        progress: Progress = silent,
    ) -> list[float | None]:
        """1 - p(neutral) of each pair, a passage at a time; see ``Reranker``."""
        places: dict[Premise, dict[str, list[int]]] = {}
        for place, (claim, context) in enumerate(pairs):
            premise = Premise(context.title, context.text)
            places.setdefault(premise, {}).setdefault(claim, []).append(place)
        found: list[float | None] = [None] * len(pairs)
        done = 0
        for premise, claims in places.items():
            for claim, score in self._read(premise, list(claims)).items():
                for place in claims[claim]:
                    found[place] = score
            done += sum(map(len, claims.values()))
            progress(done, len(pairs))
        return found

    def _read(self, premise: Premise, claims: Sequence[str]) -> dict[str, float]:
        """The scores of the claims that the encoder can read."""
        try:
            neutral = np.exp(self._scorer.score(premise, claims)[:, 2])
        except ScoringError:
            # One claim that is too long must not take the others with it.
            if len(claims) == 1:
                return {}
            return {c: s for claim in claims for c, s in self._read(premise, [claim]).items()}
        return dict(zip(claims, (1.0 - neutral).tolist(), strict=True))


class RelevanceReranker:
    """Ranks by the relevance that a cross-encoder gives; implements ``Reranker``."""

    search_weight = 0.0

    def __init__(self, scorer: RelevanceScorer) -> None:
        self._scorer = scorer
        self.id = scorer.id
        self.sha256 = scorer.sha256

    def scores(
        self,
        pairs: Sequence[tuple[str, Context]],
        progress: Progress = silent,
    ) -> list[float | None]:
        """The relevance of each pair; see ``Reranker``."""
        found: list[float | None] = []
        for at in range(0, len(pairs), _BATCH):
            batch = [(claim, titled(c.title, c.text)) for claim, c in pairs[at : at + _BATCH]]
            found += self._scorer.relevance(batch).tolist()
            progress(len(found), len(pairs))
        return found


def reranker_card(name: str) -> ModelCard:
    """The card of the model that a reranker's name stands for.

    Args:
        name: ``encoder`` for the NLI encoder that comes with the package, or the card of
            an NLI encoder or a reranker.

    Raises:
        ModelError: if there is no such model, or it is of another role.
    """
    card = find_card(DEFAULT_ENCODER if name == "encoder" else name)
    if card.role not in ("encoder", "reranker"):
        raise ModelError(f"model {name} is of role {card.role}; encoder or reranker is needed here")
    return card


def load_reranker(name: str, *, cache_dir: Path | None = None) -> Reranker:
    """Load the reranker called ``name``.

    Args:
        name: see ``reranker_card``.
        cache_dir: the folder of the store that keeps an NLI encoder's scores, so that
            what it read here it need not read as relation model; None keeps none.

    Raises:
        ModelError: if there is no such model, it is of another role, or it is not here.
        StoreError: if the store's cache is damaged.
    """
    card = reranker_card(name)
    if card.role == "reranker":
        return RelevanceReranker(load_model(card.id, card.role))
    return EncoderReranker(load_pair_scorer(card, cache_dir=cache_dir))
