"""What is measured of scored pairs, by source, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from factcheck_local.metrics import auroc, balanced_accuracy, ece
from factcheck_local.pipeline.relation.calibration import Calibration
from factcheck_local.pipeline.relation.scorer import LogProbabilities
from training.adapter.mixture import AUTHORED
from training.fit_sets import fit_sets

LABELS = ("entailment", "contradiction", "neutral")
BINS = 10


@dataclass(frozen=True, slots=True)
class Row:
    """A scored pair.

    Attributes:
        key: names the pair.
        source: the file that it is from.
        label: the gold label.
        log_p: natural-log probabilities of entailment, contradiction and neutral.
    """

    key: str
    source: str
    label: str
    log_p: Sequence[float]

    def as_dict(self) -> dict[str, Any]:
        """As a line of JSON."""
        return asdict(self)


def table(rows: Sequence[Row], calibration: Calibration | None = None) -> str:
    """AUROC, balanced accuracy and false denials by source, and over all of the authored ones.

    Args:
        rows: of any number of sources.
        calibration: None fits one, see ``calibrated``.
    """
    three = [r for r in rows if r.label in LABELS]
    calibration = calibration or calibrated(three)
    sources = list(dict.fromkeys(r.source for r in three))
    named = _own(three)
    lines = [
        "| source | pairs | AUROC e | AUROC c | balanced accuracy | ECE e | ECE c "
        "| neutral called contradiction | entailed called contradiction |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, own in [*((s, [r for r in three if r.source == s]) for s in sources), *named.items()]:
        if own:
            lines.append(_line(name, own, calibration))
    return "\n".join([*lines, f"calibration: {calibration}"])


def calibrated(rows: Sequence[Row]) -> Calibration:
    """Fitted on the authored passages, the sets and the dev files, each weighing the same."""
    devs = {r.source for r in rows if r.source.endswith("-dev")}
    groups = [*_own(rows).values(), *([r for r in rows if r.source == d] for d in sorted(devs))]
    return fit_sets([_scored(own) for own in groups if own])


def _own(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The project's own passages and sets."""
    return {
        "authored": [r for r in rows if r.source in AUTHORED],
        "sets": [r for r in rows if r.source.startswith("sets/")],
    }


def _scored(rows: Sequence[Row]) -> tuple[LogProbabilities, list[int]]:
    return np.array([r.log_p for r in rows]), [LABELS.index(r.label) for r in rows]


def _line(name: str, rows: Sequence[Row], calibration: Calibration) -> str:
    log_p, labels = _scored(rows)
    p, gold = calibration.apply(log_p), np.array(labels)
    present = np.unique(gold)
    ranked = [
        f"{auroc(p[:, i].tolist(), (gold == i).tolist()):.3f}" if 0 < (gold == i).mean() < 1 else ""
        for i in (0, 1)
    ]
    chosen = present[p[:, present].argmax(axis=1)]
    right = balanced_accuracy(gold.tolist(), chosen.tolist()) if len(present) > 1 else None
    called = p.argmax(axis=1) == 1

    def share(label: int) -> str:
        own = gold == label
        return f"{called[own].mean():.3f}" if own.any() else ""

    accuracy = "" if right is None else f"{right:.3f}"
    errors = [f"{ece(p[:, i].tolist(), (gold == i).tolist(), BINS):.3f}" for i in (0, 1)]
    cells = (name, str(len(rows)), *ranked, accuracy, *errors, share(2), share(0))
    return f"| {' | '.join(cells)} |"
