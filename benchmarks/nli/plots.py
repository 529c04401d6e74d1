"""ROC curves of several models in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.nli.measures import Judged
from benchmarks.nli.pairs import LABELS
from factcheck_local.evaluate.plots import draw_roc


def plot_roc(models: Mapping[str, Judged], label: str, title: str, path: Path) -> bool:
    """Draw p(label) against the rest for every model.

    Args:
        models: scores by the name to show.
        label: one of ``LABELS``.
        title: above the picture.
        path: the PNG to write.

    Returns:
        Whether there was a curve to draw: the label and another one occur.
    """
    column = LABELS.index(label)
    points = {
        name: (judged.p[:, column].tolist(), (judged.gold == column).tolist())
        for name, judged in models.items()
    }
    return draw_roc(points, title, path) is not None
