"""What a cascade gains and costs: which pairs the slow model reads, and how both are pooled.

    python -m benchmarks.cascade --fast encoder --slow llm --limit 40

Both models score a seeded sample of the dev sets, or what ``benchmarks.relation`` has
kept of it is used. For each weight of the slow model and each bound from which
the fast one's word stands: the share of pairs that the slow model reads, the mean log
loss, and the means of AUROC and balanced accuracy over the sets. With ``--fit`` the
bounds of the three labels are searched one by one and printed as a card's options.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import numpy.typing as npt

from benchmarks.nli.pairs import LABELS, DevSet, load_set
from benchmarks.nli.sample import add_sample_options, kept_scorer
from benchmarks.nli.worker import score_set
from factcheck_local import __version__
from factcheck_local.core.types import Relation
from factcheck_local.metrics import auroc, balanced_accuracy
from factcheck_local.models.offline import go_offline
from factcheck_local.pipeline.relation.cascade import Sure, pooled
from factcheck_local.pipeline.relation.guard import weighed
from factcheck_local.pipeline.relation.load import (
    card_calibration,
    relation_card,
    scorer_key,
)
from factcheck_local.pipeline.relation.quantities import compare_quantities

WEIGHTS = (0.3, 0.5, 0.7, 1.0)
BOUNDS = (0.0, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """A dev set's pairs as both models judge them.

    Attributes:
        name: of the set.
        gold: columns of the true labels, shape (n,).
        fast: relations of the fast model.
        slow: relations of the slow model.
    """

    name: str
    gold: npt.NDArray[np.int64]
    fast: Sequence[Relation]
    slow: Sequence[Relation]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a cascade makes of the samples; means over the sets.

    Attributes:
        read: share of the pairs that the slow model reads.
        loss: mean -ln p of the true label, labels and sets weighing the same.
        entailment: AUROC.
        contradiction: AUROC, of the sets that have the label.
        accuracy: balanced, among a set's labels.
    """

    read: float
    loss: float
    entailment: float
    contradiction: float
    accuracy: float

    def __str__(self) -> str:
        return (
            f"{self.read:.2f} | {self.loss:.3f} | {self.entailment:.3f} | "
            f"{self.contradiction:.3f} | {self.accuracy:.3f}"
        )


def main() -> None:
    """Score, print the table, and fit if asked to."""
    go_offline()
    options = _options()
    samples = _samples(options)
    print("| weight | sure from | read | loss | AUROC entailment | contradiction | balanced |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for weight in WEIGHTS:
        for bound in BOUNDS:
            print(f"| {weight} | {bound} | {outcome(samples, Sure(bound, bound, bound), weight)} |")
    if options.fit:
        sure, weight = fit(samples, options.price)
        print(f"\nsure = {sure}\nslow_weight = {weight}\n{outcome(samples, sure, weight)}")
    models = [scorer_key(relation_card(n, options.llm)) for n in (options.fast, options.slow)]
    print(
        f"\nsignature: factcheck-local:{__version__}|{models}|limit:{options.limit}"
        f"|seed:{options.seed}|price:{options.price}"
    )


def outcome(samples: Sequence[Sample], sure: Sure, weight: float) -> Outcome:
    """The measures of a cascade with these bounds and this weight."""
    rows: dict[str, list[float]] = {name: [] for name in Outcome.__annotations__}
    for sample in samples:
        settled = [sure.settles(r) for r in sample.fast]
        p = _values(
            [
                fast if done else pooled(fast, slow, weight)
                for fast, slow, done in zip(sample.fast, sample.slow, settled, strict=True)
            ]
        )
        rows["read"].append(1.0 - fmean(settled))
        columns = np.unique(sample.gold)
        own = p[:, columns] / p[:, columns].sum(axis=1, keepdims=True)
        right = own[np.arange(len(own)), np.searchsorted(columns, sample.gold)]
        losses = -np.log(np.maximum(right, 1e-12))
        rows["loss"].append(fmean(losses[sample.gold == c].mean() for c in columns))
        top = columns[own.argmax(axis=1)]
        rows["accuracy"].append(balanced_accuracy(sample.gold.tolist(), top.tolist()) or 0.0)
        for column, name in enumerate(("entailment", "contradiction")):
            if column in columns:
                ranked = auroc(p[:, column].tolist(), (sample.gold == column).tolist())
                rows[name].append(ranked or 0.0)
    return Outcome(**{name: fmean(values) for name, values in rows.items()})


def fit(samples: Sequence[Sample], price: float) -> tuple[Sure, float]:
    """Bounds and weight that minimise the loss plus ``price`` times the share that is read."""

    def cost(bounds: Sequence[float], weight: float) -> float:
        found = outcome(samples, Sure(*bounds), weight)
        return found.loss + price * found.read

    bounds, weight = [0.9, 0.9, 0.9], 1.0
    for _ in range(3):
        weight = min(np.arange(0.3, 1.01, 0.1).round(2).tolist(), key=lambda w: cost(bounds, w))
        for i in range(3):
            trials = [[*bounds[:i], b, *bounds[i + 1 :]] for b in BOUNDS]
            bounds = min(trials, key=lambda b: cost(b, weight))
    return Sure(*bounds), weight


def _samples(options: argparse.Namespace) -> list[Sample]:
    devs = [
        load_set(options.data, name, limit=options.limit, seed=options.seed)
        for name in options.sets
    ]
    fast, slow = (_relations(name, devs, options) for name in (options.fast, options.slow))
    found = []
    for dev, quick, second in zip(devs, fast, slow, strict=True):
        both = [
            (LABELS.index(pair.label), f, s)
            for pair, f, s in zip(dev.pairs, quick, second, strict=True)
            if f is not None and s is not None
        ]
        gold, of_fast, of_slow = zip(*both, strict=True)
        found.append(Sample(dev.name, np.array(gold), of_fast, of_slow))
    return found


def _relations(
    name: str, devs: Sequence[DevSet], options: argparse.Namespace
) -> list[list[Relation | None]]:
    """Calibrated relations, weighed against the quantities, of every pair of every set."""
    card = relation_card(name, options.llm)
    scorer = kept_scorer(card, options.cache)
    calibration = card_calibration(card)
    found = []
    for dev in devs:
        rows: list[Relation | None] = []
        for pair, score in zip(dev.pairs, score_set(scorer, dev), strict=True):
            if isinstance(score, str):
                rows.append(None)
                continue
            relation = Relation(*calibration.apply(np.array([score]))[0].tolist())
            clash = compare_quantities(pair.premise, pair.hypothesis).n_mismatched
            rows.append(weighed(relation) if clash else relation)
        found.append(rows)
    return found


def _values(relations: Sequence[Relation]) -> Floats:
    return np.array([(r.entailment, r.contradiction, r.neutral) for r in relations])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="what a cascade gains and costs")
    parser.add_argument("--fast", default="encoder")
    parser.add_argument("--slow", default="llm")
    add_sample_options(parser, limit=40)
    parser.add_argument("--fit", action="store_true", help="search bounds and weight")
    parser.add_argument(
        "--price", type=float, default=0.05, help="log loss that reading every pair may cost"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
