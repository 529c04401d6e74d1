"""A benchmark's figures as JSON and Markdown, each with what it takes to make them again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factcheck_local import __version__
from factcheck_local.core.files import write_whole
from factcheck_local.evaluate.lines import prompts_digest
from factcheck_local.evaluate.machine import machine
from factcheck_local.evaluate.verdicts import MEASURES

SUMMARY, TABLE = "summary.json", "summary.md"

#: Of measures that are called otherwise than their names say.
_TITLES = {
    "f1": "F1",
    "auroc": "AUROC",
    "brier": "Brier",
    "ece": "ECE",
    "mae": "MAE of precision",
    "f1_at_k": "F1@K",
    "right_of_three": "right of three classes",
    "balanced_of_three": "balanced, of three",
    "right_of_four": "right of four verdicts",
    "supported_wrongly": "called supported and not",
    "true_contradicted": "true and called contradicted",
    "segment_f1": "F1 of wrong segments",
    "segment_balanced_accuracy": "balanced accuracy, segments",
    "segment_f1_unsupported": "F1, unsupported as wrong",
    "segment_balanced_accuracy_unsupported": "balanced accuracy, unsupported as wrong",
    "response_f1": "F1 of wrong answers",
    "response_balanced_accuracy": "balanced accuracy, answers",
    "auroc_entailment": "AUROC entailment",
    "auroc_contradiction": "AUROC contradiction",
    "recall_one_to_one": "recall, one to one",
    "precision_one_to_one": "precision, one to one",
    "check_worthiness_balanced_accuracy": "check-worthiness, balanced accuracy",
    "check_worthiness_f1": "check-worthiness, F1",
}

#: Shown in tables of their own, so that lines stay short.
_APART: tuple[Sequence[str], ...] = (
    tuple(MEASURES),
    ("f1", "precision", "recall", "balanced_accuracy", "auroc", "brier", "ece", "mae"),
)


@dataclass(frozen=True, slots=True)
class Signed:
    """What a figure was made with.

    Attributes:
        name: of the benchmark.
        command: what makes it again.
        digest: sha256 of the data.
        settings: the settings' signature.
        models: by role, as ``contracts.identity`` names them.
        limit: items drawn; None for all.
        seed: of the draw and of the intervals.
        notes: what a reader has to know.
    """

    name: str
    command: str
    digest: str
    settings: str
    models: Mapping[str, Mapping[str, Any]]
    limit: int | None
    seed: int
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """All of it, with version, prompts and machine."""
        return {
            "bench": self.name,
            "command": self.command,
            "version": __version__,
            "data": self.digest,
            "settings": self.settings,
            "models": {role: dict(m) for role, m in self.models.items()},
            "prompts": prompts_digest(),
            "limit": self.limit,
            "seed": self.seed,
            "machine": machine(),
            "notes": list(self.notes),
        }


def write(
    out: Path,
    signed: Signed,
    methods: Mapping[str, Mapping[str, Any]],
    *,
    differences: Sequence[Mapping[str, Any]] = (),
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
    pictures: Sequence[str] = (),
    keys: Sequence[str] = (),
) -> dict[str, Any]:
    """Write ``summary.json`` and ``summary.md``.

    Args:
        out: the folder.
        signed: what the figures were made with.
        methods: scores by method.
        differences: of methods on the same items: ``ours``, ``theirs``, ``measure``, ``value``,
            ``ci95``, ``left_out``.
        groups: scores by method, by group of items.
        pictures: names of files in the folder.
        keys: of the lines that the figures are of; others may be of another run.
    """
    result = {
        **signed.as_dict(),
        "methods": dict(methods),
        "differences": list(differences),
        "groups": dict(groups or {}),
        "pictures": list(pictures),
        "keys": list(keys),
    }
    write_whole(out / SUMMARY, json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    write_whole(out / TABLE, to_markdown(result))
    return result


def to_markdown(result: Mapping[str, Any], *, level: int = 1, pictures: str = "") -> str:
    """The figures as tables.

    Args:
        result: what ``write`` writes as JSON.
        level: of the heading.
        pictures: the folder of the pictures, seen from where the text will be.
    """
    lines = [f"{'#' * level} {result['bench']}", ""]
    lines += [f"    {result['command']}", ""]
    names = _names(result["methods"])
    for apart in _APART:
        lines += _table(result["methods"], [n for n in names if n in apart])
    lines += _table(result["methods"], [n for n in names if not any(n in a for a in _APART)])
    lines += _confusion(result["methods"])
    lines += _counts(result["methods"])
    for group, methods in result["groups"].items():
        lines += [f"{'#' * (level + 1)} {result['bench']}: {group}", ""]
        lines += _table(methods, _names(methods))
    if result["differences"]:
        lines += _differences(result["differences"])
    lines += [f"- {note}" for note in result["notes"]] + [""] * bool(result["notes"])
    lines += [f"![{name}]({pictures}{name})" for name in result["pictures"]]
    lines += [""] * bool(result["pictures"])
    lines += [f"signature: `{signature(result)}`"]
    return "\n".join(lines) + "\n"


def signature(result: Mapping[str, Any]) -> str:
    """Settings, models, data, seed and machine on one line."""
    models = "|".join(f"{role}:{_named(m)}" for role, m in result["models"].items())
    return (
        f"{result['settings']}|{models}|prompts:{result['prompts'][:12]}|"
        f"data:{result['data'][:12]}|limit:{result['limit']}|seed:{result['seed']}|"
        f"machine:{result['machine']}"
    )


def _named(model: Mapping[str, Any]) -> str:
    """A model with the beginnings of its hash and of its adapters'."""
    adapters = (f"+{prompt}@{sha[:8]}" for prompt, sha in model.get("adapters", {}).items())
    return f"{model['id']}@{model['sha256'][:12]}{''.join(adapters)}"


def _names(methods: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The measures of some method that are defined."""
    found = dict.fromkeys(
        name
        for scores in methods.values()
        for name, m in scores["measures"].items()
        if m["value"] is not None
    )
    return list(found)


def _title(measure: str) -> str:
    return _TITLES.get(measure, measure.replace("_", " "))


def _table(methods: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    if not names:
        return []
    lines = [
        "| method | " + " | ".join(map(_title, names)) + " |",
        "|---|" + "---:|" * len(names),
    ]
    for method, scores in methods.items():
        cells = [cell(scores["measures"].get(name)) for name in names]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _confusion(methods: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Of each method how often an expected verdict was given as which, where that is known."""
    found = {name: scores["confusion"] for name, scores in methods.items() if "confusion" in scores}
    given = dict.fromkeys(v for rows in found.values() for row in rows.values() for v in row)
    if not given:
        return []
    lines = [
        "| method | expected \\ given | " + " | ".join(v.replace("_", " ") for v in given) + " |",
        "|---|---|" + "---:|" * len(given),
    ]
    for method, rows in found.items():
        for expected, row in rows.items():
            cells = [str(row.get(v, 0)) for v in given]
            lines.append(f"| {method} | {expected.replace('_', ' ')} | {' | '.join(cells)} |")
    return [*lines, ""]


def _counts(methods: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Counts and cost, those that the methods have."""
    titles = {
        "items": "items",
        "claims": "claims",
        "labelled": "labelled",
        "unscored": "unscored",
        "unscored_segments": "unscored segments",
        "pairs": "pairs",
        "human_atoms": "human atoms",
        "own_atoms": "own atoms",
        "split_further": "sentences split further",
        "split_less": "split less",
        "from_another_sentence": "atoms from another sentence",
        "threshold": "threshold",
        "failures": "failures",
        "k": "K",
        "seconds_a_claim": "seconds a claim",
        "calls_a_claim": "model calls a claim",
    }
    names = [n for n in titles if any(n in scores for scores in methods.values())]
    lines = [
        "| method | " + " | ".join(titles[n] for n in names) + " |",
        "|---|" + "---:|" * len(names),
    ]
    for method, scores in methods.items():
        values = [scores.get(name) for name in names]
        cells = [
            "–" if v is None else f"{v:.2f}" if isinstance(v, float) else str(v) for v in values
        ]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _differences(found: Sequence[Mapping[str, Any]]) -> list[str]:
    # What only one of the two gave a verdict on; summaries of before do not say.
    told = any(d.get("left_out") for d in found)
    lines = [
        "Differences on the same items, drawn in pairs; bold where the interval leaves out 0:",
        "",
        "| | measure | difference |" + " left out |" * told,
        "|---|---|---:|" + "---:|" * told,
    ]
    for d in found:
        sure = d["ci95"] is not None and (d["ci95"][0] > 0 or d["ci95"][1] < 0)
        mark = "**" if sure else ""
        lines.append(
            f"| {d['ours']} less {d['theirs']} | {_title(d['measure'])} "
            f"| {mark}{cell(d, signed=True)}{mark} |" + f" {d.get('left_out', 0)} |" * told
        )
    return [*lines, ""]


def cell(measure: Mapping[str, Any] | None, *, signed: bool = False) -> str:
    """A value with its interval; a dash where it is undefined."""
    if measure is None or measure["value"] is None:
        return "–"
    form = "+.3f" if signed else ".3f"
    shown = format(measure["value"], form)
    if measure["ci95"] is None:
        return shown
    low, high = measure["ci95"]
    return f"{shown} [{format(low, form)}, {format(high, form)}]"
