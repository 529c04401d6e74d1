"""Fit the calibration that a relation model's card holds, and say what it does.

    python -m benchmarks.calibrate --relation llm --limit 60

A seeded sample with equally many pairs of each label of every dev set is scored, or
taken from what ``benchmarks.relation`` has kept; slope and biases (vector scaling)
minimise the log loss with every label and every set weighing the same. A set that
lacks a label is fitted on those it has, renormalised. Prints the table for the
model's card.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from benchmarks.nli.pairs import LABELS, load_set
from benchmarks.nli.sample import add_sample_options, kept_scorer
from benchmarks.nli.worker import score_set
from factcheck_local import __version__
from factcheck_local.metrics import auroc, balanced_accuracy
from factcheck_local.models.offline import go_offline
from factcheck_local.pipeline.relation import Calibration
from factcheck_local.pipeline.relation.load import relation_card
from training.fit_sets import fit_sets

Scored = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def main() -> None:
    """Score, fit, print."""
    go_offline()
    options = _options()
    card = relation_card(options.relation, options.llm)
    scorer = kept_scorer(card, options.cache)
    found: dict[str, Scored] = {}
    digests = []
    for name in options.sets:
        dev = load_set(options.data, name, limit=options.limit, seed=options.seed)
        scores = score_set(scorer, dev)
        kept = [(s, p.label) for s, p in zip(scores, dev.pairs, strict=True) if type(s) is list]
        gold = np.array([LABELS.index(label) for _, label in kept])
        found[name] = np.array([s for s, _ in kept]), gold
        digests.append(f"{name}@{dev.digest[:12]}")
    fitted = fit_sets([(log_p, gold.tolist()) for log_p, gold in found.values()])
    for name, scored in found.items():
        _show(name, *scored, fitted)
    slope, bias = round(fitted.slope, 3), [round(b, 3) for b in fitted.bias]
    key = scorer.id.partition("/")[2] or "encoder"
    print(f'[calibration."{key}"]\nslope = {slope}\nbias = {bias}')
    print(
        f"signature: factcheck-local:{__version__}|{scorer.id}|sha256:{scorer.sha256}|"
        f"sets:{','.join(digests)}|limit:{options.limit}|seed:{options.seed}"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="fit a relation model's calibration")
    parser.add_argument("--relation", default="llm")
    add_sample_options(parser, limit=60)
    return parser.parse_args()


def _show(
    name: str,
    log_p: npt.NDArray[np.float64],
    gold: npt.NDArray[np.int64],
    fitted: Calibration,
) -> None:
    """AUROC and accuracy of one set, before and after."""
    labels = np.unique(gold)
    for kind, calibration in (("raw", Calibration()), ("calibrated", fitted)):
        p = calibration.apply(log_p)
        ranked = [
            f"{LABELS[i]} {auroc(p[:, i].tolist(), (gold == i).tolist()):.3f}"
            for i in labels
            if LABELS[i] != "neutral"
        ]
        right = balanced_accuracy(gold.tolist(), labels[p[:, labels].argmax(axis=1)].tolist())
        print(
            f"{name} {kind}: AUROC {', '.join(ranked)}, "
            f"balanced accuracy {right:.3f} of {len(gold)}"
        )


if __name__ == "__main__":
    main()
