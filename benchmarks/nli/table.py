"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_HEADS = (
    "model",
    "pairs",
    "balanced accuracy",
    "AUROC entailment",
    "AUROC contradiction",
    "ECE",
    "ECE uncalibrated",
    "pairs/s",
)


def to_markdown(result: Mapping[str, Any]) -> str:
    """The tables of a result of ``benchmarks.relation``."""
    parts = ["# Relation models on the dev sets"]
    for name, data in result["sets"].items():
        counts = ", ".join(f"{n} {label}" for label, n in data["labels"].items())
        parts.append(f"## {name}\n\n{data['pairs']} pairs: {counts}.")
        if result["models"]:
            rows = [
                row
                for m in result["models"]
                for row in (_row(m, name, "measures"), _row(m, name, "weighed"))
            ]
            parts.append(_table(_HEADS, rows))
        if data.get("roc"):
            parts.append("\n".join(f"![ROC curves]({path})" for path in data["roc"]))
        if "gate" in data:
            parts.append(_gate(data["gate"]))
    if result["models"]:
        heads = ("model", "id", "sha256", "load, s", "peak memory, MB")
        parts.append("## Models\n\n" + _table(heads, [_model_row(m) for m in result["models"]]))
    if "quotes" in result:
        parts.append("## Quotes of wice-dev\n\n" + _quotes(result["quotes"]))
    parts.append(f"signature: `{result['signature']}`")
    return "\n\n".join(parts) + "\n"


def _row(model: Mapping[str, Any], name: str, kind: str) -> list[str]:
    """A model's measures on a set; ``weighed`` are those with quantities weighing in."""
    found = model["sets"][name]
    measures = found[kind] or {}

    def cell(key: str, part: str = "value") -> str:
        return _number(measures[key][part]) if key in measures else "–"

    def with_interval(key: str) -> str:
        return cell(key) + _interval(measures[key]["ci95"]) if key in measures else "–"

    speed = found["speed"]
    scored = f"{found['scored']}" + (f" (+{found['unscored']})" if found["unscored"] else "")
    return [
        model["relation"] + (" + quantities" if kind == "weighed" else ""),
        scored,
        with_interval("balanced_accuracy"),
        with_interval("auroc_entailment"),
        with_interval("auroc_contradiction"),
        cell("ece"),
        cell("ece", "uncalibrated"),
        f"{speed['pairs_per_second']:.2f} ({speed['basis']})" if speed else "–",
    ]


def _model_row(model: Mapping[str, Any]) -> list[str]:
    load, peak = model["load_seconds"], model["peak_bytes"]
    return [
        model["relation"],
        f"`{model['id']}`",
        f"`{model['sha256'][:16]}…`",
        "–" if load is None else f"{load:.1f}",
        "–" if peak is None else f"{peak / 1e6:.0f}",
    ]


def _gate(gate: Mapping[str, Any]) -> str:
    heads = (
        "cosine at least",
        f"kept of {gate['related']} related",
        f"dropped of {gate['neutral']} neutral",
    )
    rows = [
        [f"{r['threshold']}", _number(r["related_kept"]), _number(r["neutral_dropped"])]
        for r in gate["thresholds"]
    ]
    return "Relevance filter:\n\n" + _table(heads, rows)


def _quotes(quotes: Mapping[str, Any]) -> str:
    heads = ("claims", "n", "quoted sentences", "precision", "recall", "precision of chance")
    rows = [
        [
            label,
            f"{r['claims']}",
            f"{r['quoted_sentences']}",
            _number(r["precision"]) + _interval(r["precision_ci95"]),
            _number(r["recall"]) + _interval(r["recall_ci95"]),
            _number(r["random_precision"]),
        ]
        for label, r in quotes["by_label"].items()
    ]
    left_out = f"\n\n{quotes['left_out']} claims are left out: all of their window supports."
    return _table(heads, rows) + left_out


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(ci: Sequence[float] | None) -> str:
    return "" if ci is None else f" [{ci[0]:.3f}, {ci[1]:.3f}]"
