"""What benchmarks share that score a sample of the dev sets and keep the scores."""

from __future__ import annotations

import argparse
from pathlib import Path

import platformdirs

from benchmarks.nli.pairs import FILES
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.registry import DEFAULT_LLM
from factcheck_local.pipeline.relation.load import load_pair_scorer, reading_of, scorer_key
from factcheck_local.pipeline.relation.score_cache import CachedPairScorer, ScoreCache

DATA = Path(__file__).parent.parent.parent.parent / "shared" / "data"
CACHE = platformdirs.user_cache_path("factcheck-local") / "benchmarks"


def add_sample_options(parser: argparse.ArgumentParser, *, limit: int | None) -> None:
    """Which pairs are scored, and where the scores are kept."""
    parser.add_argument("--llm", default=DEFAULT_LLM, help="what the model 'llm' stands for")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", nargs="+", choices=list(FILES), default=list(FILES))
    parser.add_argument("--limit", type=int, default=limit, help="pairs per label and set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--cache", type=Path, default=CACHE, help="folder of scores and timings that are kept"
    )


def kept_scorer(card: ModelCard, cache: Path) -> CachedPairScorer:
    """A model's uncalibrated scorer, loaded at the first pair that is not kept yet."""
    cache.mkdir(parents=True, exist_ok=True)
    return CachedPairScorer(
        lambda: load_pair_scorer(card),
        *scorer_key(card),
        ScoreCache(cache / "scores.sqlite"),
        reading=reading_of(card),
    )
