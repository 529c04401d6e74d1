"""ROC curves of several models in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.nli.measures import Judged
from benchmarks.nli.pairs import LABELS
from factcheck_local.metrics import roc_curve


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
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    column = LABELS.index(label)
    figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    drawn = False
    for name, judged in models.items():
        area = judged.auroc(label, np.arange(len(judged.gold)))
        curve = roc_curve(judged.p[:, column].tolist(), (judged.gold == column).tolist())
        if area is None or curve is None:
            continue
        false, true = curve
        axes.plot(false, true, label=f"{name} ({area:.3f})")
        drawn = True
    if drawn:
        axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle=":")
        axes.set(
            title=title,
            xlabel="false positive rate",
            ylabel="true positive rate",
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
        )
        axes.legend(loc="lower right", title="AUROC", fontsize="small")
        figure.savefig(path, dpi=120)
    plt.close(figure)
    return drawn
