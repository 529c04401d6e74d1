"""Expert FACTOR (Muhlgay et al. 2024): the relation model on true and false completions.

The text with its true completion is the premise. The completion itself is entailed by it, each
of the three false ones, which change a detail, contradicts it. FactReasoner's paper draws ROC
curves of its relation models on this set (figures 7 and 8). A model that only compares words
does well on entailment here, since what is entailed stands in the premise.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import RecordError, ScoringError
from factcheck_local.evaluate.collection import digest_of
from factcheck_local.evaluate.lines import Results, key_of
from factcheck_local.metrics import auroc, bootstrap_ci
from factcheck_local.pipeline.relation import Premise, RelationModel, describe
from factcheck_local.pipeline.settings import Settings

FILE = "expert_factor.csv"

FALSE = ("contradiction_0", "contradiction_1", "contradiction_2")


Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Completion:
    """A text, how it goes on, and how it does not."""

    id: str
    context: str
    true: str
    false: tuple[str, ...]


def load(path: Path) -> tuple[list[Completion], str]:
    """Read the CSV file, or the one in a folder.

    Returns:
        The completions, and the sha256 of the file.

    Raises:
        RecordError: if it cannot be read, or it or a row lacks a column.
    """
    path = path / FILE if path.is_dir() else path
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = csv.DictReader(lines)
            found = []
            for number, row in enumerate(rows):
                context, true, *false = (row[name] for name in ("context", "completion", *FALSE))
                if None in (context, true, *false):
                    raise RecordError(f"{path}, line {rows.line_num}: too few columns")
                found.append(Completion(f"row{number}", context, true, tuple(false)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RecordError(f"{path}: cannot be read: {error}") from error
    except KeyError as error:
        raise RecordError(f"{path}: expected a column {error.args[0]!r}") from error
    return found, digest_of([path])


def run(
    items: Sequence[Completion],
    models: Mapping[str, RelationModel],
    out: Path,
    *,
    settings: Settings,
    limit: int | None,
    seed: int,
    progress: Callable[[str, int, int], None] = lambda _what, _done, _all: None,
) -> list[dict[str, Any]]:
    """Relations of every completion by every model; done ones are taken from ``out``."""
    if limit is not None and limit < len(items):
        chosen = sorted(random.Random(seed).sample(range(len(items)), limit))
        items = [items[i] for i in chosen]
    results = Results(out)
    rows = []
    for done, (name, item) in enumerate((n, i) for n in models for i in items):
        progress(f"{name} {item.id}", done, len(models) * len(items))
        model = models[name]
        said = [model.id, model.sha256, name, settings.line(), describe(model)]
        key = key_of({"model": said, "item": repr(item)})
        rows.append(results.get(key, lambda m=model, i=item, n=name: _row(m, i, n)))  # type: ignore[misc]
    return rows


def _row(model: RelationModel, item: Completion, name: str) -> dict[str, Any]:
    premise = Premise("", f"{item.context} {item.true}".strip())
    try:
        found = model.relate(premise, [item.true, *item.false])
    except ScoringError as error:
        return {"item": item.id, "model": name, "failure": str(error), "pairs": []}
    golds = ["entailment", *["contradiction"] * len(item.false)]
    pairs = [
        {"gold": gold, "entailment": r.entailment, "contradiction": r.contradiction}
        for gold, r in zip(golds, found, strict=True)
    ]
    return {"item": item.id, "model": name, "pairs": pairs}


def points(rows: Sequence[Row], label: str) -> tuple[list[float], list[bool]]:
    """p(label) of all pairs, and whether it is the true one."""
    pairs = [p for row in rows for p in row["pairs"]]
    return [p[label] for p in pairs], [p["gold"] == label for p in pairs]


def score(rows: Sequence[Row], *, seed: int = 0) -> dict[str, Any]:
    """AUROC of both labels of one model, items resampled."""
    return {
        "items": len(rows),
        "failures": sum("failure" in row for row in rows),
        "pairs": sum(len(row["pairs"]) for row in rows),
        "measures": {
            f"auroc_{label}": {
                "value": auroc(*points(rows, label)),
                "ci95": bootstrap_ci(
                    rows,
                    lambda drawn, label=label: auroc(*points(drawn, label)),  # type: ignore[misc]
                    seed=seed,
                ),
            }
            for label in ("entailment", "contradiction")
        },
    }
