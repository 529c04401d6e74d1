"""Pictures of a benchmark: reliability diagram, ROC curves, precision and cost per method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from factcheck_local.evaluate.scores import BINS, points
from factcheck_local.metrics import auroc, roc_curve

Rows = Sequence[Mapping[str, Any]]


def draw(methods: Mapping[str, Rows], scores: Mapping[str, Any], out: Path) -> list[str]:
    """Write the pictures.

    Args:
        methods: lines by assessor.
        scores: what ``scores.score`` says, by assessor.
        out: the folder.

    Returns:
        Names of the files; none of a picture with nothing to show.

    Raises:
        ImportError: without matplotlib.
    """
    found = [
        _reliability(methods, out / "reliability.png"),
        draw_roc(
            {name: points(rows) for name, rows in methods.items()},
            "supported claims",
            out / "roc.png",
        ),
        _measure(scores, "precision", "precision of supported", out / "precision.png"),
        _cost(scores, out / "cost.png"),
    ]
    return [name for name in found if name]


def _axes(path: Path, size: tuple[float, float] = (5, 5)) -> Any:  # noqa: ANN401
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=size, layout="constrained")

    def save() -> str:
        figure.savefig(path, dpi=120)
        plt.close(figure)
        return path.name

    return axes, save


def _unit_square(axes: Any, title: str, xlabel: str, ylabel: str) -> None:  # noqa: ANN401
    """From 0 to 1 on both sides, with the diagonal to compare with."""
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle=":")
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel, xlim=(0, 1), ylim=(0, 1), aspect="equal")


def draw_roc(
    methods: Mapping[str, tuple[Sequence[float], Sequence[bool]]], title: str, path: Path
) -> str | None:
    """The ROC curves of scores, one a method, with their AUROC.

    Args:
        methods: scores and outcomes by the name to show.
        title: above the picture.
        path: the PNG to write.

    Returns:
        Its name; None, and no picture, where no method has both classes.
    """
    curves = {name: roc_curve(*found) for name, found in methods.items()}
    if not any(curves.values()):
        return None
    axes, save = _axes(path)
    for name, curve in curves.items():
        if curve is not None:
            axes.plot(*curve, label=f"{name} ({auroc(*methods[name]):.3f})")
    _unit_square(axes, title, "false positive rate", "true positive rate")
    axes.legend(loc="lower right", title="AUROC", fontsize="small")
    return str(save())


def _reliability(methods: Mapping[str, Rows], path: Path) -> str | None:
    known = {name: points(rows) for name, rows in methods.items()}
    if not any(p for p, _ in known.values()):
        return None
    axes, save = _axes(path)
    for name, (p, gold) in known.items():
        values, truth = np.array(p), np.array(gold, dtype=float)
        bins = np.minimum((values * BINS).astype(int), BINS - 1)
        used = np.unique(bins)
        axes.plot(
            [values[bins == b].mean() for b in used],
            [truth[bins == b].mean() for b in used],
            marker="o",
            label=name,
        )
    _unit_square(axes, "reliability", f"mean P in each of {BINS} bins", "share that is supported")
    axes.legend(fontsize="small")
    return str(save())


def _measure(scores: Mapping[str, Any], name: str, title: str, path: Path) -> str | None:
    known = {
        method: found["measures"][name]
        for method, found in scores.items()
        if found["measures"][name]["value"] is not None
    }
    if not known:
        return None
    axes, save = _axes(path, (6, 0.6 + 0.4 * len(known)))
    for row, found in enumerate(reversed(known.values())):
        low, high = found["ci95"] or (found["value"], found["value"])
        axes.plot([low, high], [row, row], color="grey")
        axes.plot(found["value"], row, marker="o", color="C0")
    axes.set(yticks=range(len(known)), yticklabels=list(reversed(known)), xlim=(0, 1), title=title)
    return str(save())


def _cost(scores: Mapping[str, Any], path: Path) -> str | None:
    known = {m: s["seconds_a_claim"] for m, s in scores.items() if s["seconds_a_claim"]}
    if not known:
        return None
    axes, save = _axes(path, (6, 0.6 + 0.4 * len(known)))
    axes.barh(list(reversed(known)), list(reversed(known.values())))
    axes.set(xlabel="seconds a claim")
    return str(save())
