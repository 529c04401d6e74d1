"""Fit an LLM's calibration as relation model, and say how well it separates.

    python benchmarks/calibrate.py --data DIR [--model qwen2.5-coder-1.5b] [--per-label 60]

DIR holds NLI pairs, JSON lines of {"premise", "hypothesis", "label"}. A seeded
sample with equally many pairs of each label is scored; slope and biases (vector
scaling) minimise the log loss with every label and every set weighing the same. A
set without neutral pairs is fitted on its two labels, renormalised. Prints the
table for the model's card.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from factcheck_local import __version__
from factcheck_local.metrics import auroc, balanced_accuracy
from factcheck_local.models.registry import DEFAULT_LLM, load_model
from factcheck_local.relate import Calibration, PairScorer, Premise
from factcheck_local.relate.llm import LlmPairScorer

LABELS = ("entailment", "contradiction", "neutral")
SETS = ("factcheckbench-dev", "fever-symmetric-dev")
SEED = 1

Scored = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def main() -> None:
    """Score, fit, print."""
    parser = argparse.ArgumentParser(description="fit a relation model's calibration")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default=DEFAULT_LLM)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--per-label", type=int, default=60)
    options = parser.parse_args()
    model = LlmPairScorer(load_model(options.model, "llm"))
    found = {
        name: _score(model, _sample(options.data / f"{name}.jsonl", options.per_label))
        for name in options.sets
    }
    best = minimize(
        lambda v: float(np.mean([_loss(_calibration(v), *scored) for scored in found.values()])),
        [0.0, 0.0, 0.0],
        method="Nelder-Mead",
        options={"maxiter": 2000},
    ).x
    fitted = _calibration(best)
    for name, (log_p, gold) in found.items():
        supports = auroc(log_p[:, 0].tolist(), (gold == 0).tolist())
        denies = auroc(log_p[:, 1].tolist(), (gold == 1).tolist())
        for kind, calibration in (("raw", Calibration()), ("calibrated", fitted)):
            predicted = calibration.apply(log_p).argmax(axis=1)
            print(
                f"{name} {kind}: AUROC entailment {supports:.3f}, "
                f"contradiction {denies:.3f}, balanced accuracy "
                f"{balanced_accuracy(gold.tolist(), predicted.tolist()):.3f} of {len(gold)}"
            )
    slope, bias = round(fitted.slope, 3), [round(b, 3) for b in fitted.bias]
    print(f"[calibration.{model.id.rpartition('/')[2]}]\nslope = {slope}\nbias = {bias}")
    print(
        f"signature: factcheck-local:{__version__}|{model.id}|sha256:{model.sha256}|"
        f"sets:{','.join(found)}|per-label:{options.per_label}|seed:{SEED}"
    )


def _sample(path: Path, per_label: int) -> list[dict[str, str]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    chosen = []
    generator = random.Random(SEED)
    for label in LABELS:
        own = [row for row in rows if row["label"] == label]
        generator.shuffle(own)
        chosen += own[:per_label]
    return chosen


def _score(model: PairScorer, rows: list[dict[str, str]]) -> Scored:
    log_p = [model.score(Premise("document", r["premise"]), [r["hypothesis"]])[0] for r in rows]
    return np.array(log_p), np.array([LABELS.index(r["label"]) for r in rows])


def _calibration(values: npt.NDArray[np.float64]) -> Calibration:
    return Calibration(float(np.exp(values[0])), (float(values[1]), float(values[2]), 0.0))


def _loss(
    calibration: Calibration, log_p: npt.NDArray[np.float64], gold: npt.NDArray[np.int64]
) -> float:
    labels = np.unique(gold)
    p = calibration.apply(log_p)[:, labels]
    own = np.log(p / p.sum(axis=1, keepdims=True))[
        np.arange(len(gold)), np.searchsorted(labels, gold)
    ]
    return -float(np.mean([own[gold == label].mean() for label in labels]))


if __name__ == "__main__":
    main()
