"""What is measured of scored pairs, by source, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from factcheck_local.metrics import auroc, balanced_accuracy
from factcheck_local.relate.calibration import Calibration, fit
from training.adapter.mixture import AUTHORED

LABELS = ("entailment", "contradiction", "neutral")


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
        calibration: None fits one on all rows, each label weighing the same.
    """
    three = [r for r in rows if r.label in LABELS]
    if calibration is None:
        gold = [LABELS.index(r.label) for r in three]
        calibration = fit(np.array([r.log_p for r in three]), gold, balanced=True)
    sources = list(dict.fromkeys(r.source for r in three))
    named = {
        "authored": [r for r in three if r.source in AUTHORED],
        "sets": [r for r in three if r.source.startswith("sets/")],
    }
    lines = [
        "| source | pairs | AUROC e | AUROC c | balanced accuracy "
        "| neutral called contradiction | entailed called contradiction |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, own in [*((s, [r for r in three if r.source == s]) for s in sources), *named.items()]:
        if own:
            lines.append(_line(name, own, calibration))
    return "\n".join([*lines, f"calibration: {calibration}"])


def _line(name: str, rows: Sequence[Row], calibration: Calibration) -> str:
    p = calibration.apply(np.array([r.log_p for r in rows]))
    gold = np.array([LABELS.index(r.label) for r in rows])
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
    cells = (name, str(len(rows)), *ranked, accuracy, share(2), share(0))
    return f"| {' | '.join(cells)} |"
