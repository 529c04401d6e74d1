"""Shared-prefix label scoring against scoring each pair from scratch.

    python benchmarks/label_scoring.py [--model qwen2.5-coder-1.5b] [--repeat 3]

One passage of the handbook, 20 claims. Prints the largest difference of a
probability, the pairs per second of both, and their ratio (medians).
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from factcheck_local import __version__
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.registry import DEFAULT_LLM, load_model
from factcheck_local.pipeline.relation import Premise
from factcheck_local.pipeline.relation.llm import LlmPairScorer

PAGE = Path(__file__).parent.parent / "corpora" / "handbook" / "policies" / "leave.md"
PREMISE = Premise("Leave policy", PAGE.read_text(encoding="utf-8")[:900])
CLAIMS = [f"Full-time employees receive {days} days of annual leave." for days in range(15, 35)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="label scoring, shared against from scratch")
    parser.add_argument("--model", default=DEFAULT_LLM)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--scratch-pairs", type=int, default=5, help="pairs timed from scratch")
    options = parser.parse_args()
    llm: LlamaCppModel = load_model(options.model, "llm")
    relation = LlmPairScorer(llm)
    shared, scratch = [], []
    difference = 0.0
    for _ in range(options.repeat):
        llm.forget()
        begun = time.perf_counter()
        together = np.exp(relation.score(PREMISE, CLAIMS))
        shared.append(len(CLAIMS) / (time.perf_counter() - begun))
        apart = []
        begun = time.perf_counter()
        for claim in CLAIMS[: options.scratch_pairs]:
            apart.append(_from_scratch(llm, relation, claim))
        scratch.append(options.scratch_pairs / (time.perf_counter() - begun))
        gap = np.abs(np.array(apart) - together[: options.scratch_pairs]).max()
        difference = max(difference, float(gap))
    fast, slow = statistics.median(shared), statistics.median(scratch)
    print(f"pairs/s shared {fast:.2f}, from scratch {slow:.3f}, ratio {fast / slow:.1f}")
    print(f"largest difference of a probability: {difference:.1e}")
    print(
        f"signature: factcheck-local:{__version__}|{relation.id}|sha256:{relation.sha256}|"
        f"claims:{len(CLAIMS)}|repeat:{options.repeat}"
    )


def _from_scratch(
    llm: LlamaCppModel, relation: LlmPairScorer, claim: str
) -> npt.NDArray[np.float64]:
    llm.forget()
    scores: npt.NDArray[np.float64] = np.exp(relation.score(PREMISE, [claim])[0])
    return scores


if __name__ == "__main__":
    main()
