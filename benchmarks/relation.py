"""Relation models on the dev sets: accuracy, ranking, calibration, speed, memory.

    python -m benchmarks.relation --relation llm --relation smollm2-135m --gate --quotes

Writes ``relation.json``, ``relation.md`` and ROC curves (PNG) to ``--out``. Every model
is measured in a process of its own. A passage is given without a title, and all
pairs of a passage are scored together, so that it is read once, as in a run.

Scores are kept between runs (``--cache``), so that a second run costs nothing and an
interrupted one goes on. Timings are of real scorings only, on an otherwise idle
machine if they are to mean anything; ``--fresh-timing`` drops earlier ones.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.nli.gate import THRESHOLDS, gate_report
from benchmarks.nli.measures import RESAMPLES, Judged, Scored, measure
from benchmarks.nli.pairs import FILES, LABELS, DevSet, load_set, read_rows
from benchmarks.nli.plots import plot_roc
from benchmarks.nli.quotes import quote_report
from benchmarks.nli.sample import add_sample_options
from benchmarks.nli.table import to_markdown
from benchmarks.nli.wice import read_claims
from benchmarks.nli.worker import Task
from factcheck_local.evaluate.machine import machine
from factcheck_local.models.contracts import Embedder
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.relation import Calibration
from factcheck_local.pipeline.relation.quantities import compare_quantities
from factcheck_local.pipeline.settings import Settings

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Measure what is asked for, write the results, print the tables."""
    go_offline()
    options = _options()
    devs = [
        load_set(options.data, name, limit=options.limit, seed=options.seed)
        for name in options.sets
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {
        "machine": machine(),
        "settings": Settings().as_dict(),
        "sets": {dev.name: dev.summary() for dev in devs},
        "models": [],
    }
    judged: dict[str, dict[str, Judged]] = {dev.name: {} for dev in devs}
    for relation in options.relation:
        found = _score(relation, options)
        calibration = Calibration.from_values(found["calibration"])
        for dev in devs:
            own = found["sets"][dev.name]
            scored = scored_of(dev, own.pop("scores"))
            own["scored"] = len(scored.gold)
            own["unscored"] = len(dev.pairs) - len(scored.gold)
            own["measures"] = own["weighed"] = None
            if len(scored.gold):
                own["measures"] = measure(scored, calibration, seed=options.seed)
                judged[dev.name][relation] = Judged(scored, calibration)
                weighed = replace(scored, clashes=clashes_of(dev, scored))
                own["weighed"] = measure(weighed, calibration, seed=options.seed)
        result["models"].append({"relation": relation, **found})
    for dev in devs:
        result["sets"][dev.name]["roc"] = _plots(dev, judged[dev.name], options.out)
    if options.gate or options.quotes:
        _add_reports(result, devs, options)
    result["signature"] = _signature(options, devs, result["models"])
    (options.out / "relation.json").write_text(
        json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    text = to_markdown(result)
    (options.out / "relation.md").write_text(text, encoding="utf-8")
    print(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="relation models on the dev sets")
    parser.add_argument("--relation", action="append", help="model to measure; repeatable")
    add_sample_options(parser, limit=None)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--repeat", type=int, default=3, help="timed passes, where cheap")
    parser.add_argument("--fresh-timing", action="store_true", help="forget earlier timings")
    parser.add_argument("--gate", action="store_true", help="report on the relevance filter")
    parser.add_argument("--quotes", action="store_true", help="report on quotes, for wice-dev")
    options = parser.parse_args()
    if not (options.relation or options.gate or options.quotes):
        options.relation = ["llm"]
    options.relation = list(dict.fromkeys(options.relation or []))
    return options


def _signature(
    options: argparse.Namespace, devs: Sequence[DevSet], models: Sequence[Mapping[str, Any]]
) -> str:
    """What the numbers rest on; the full digests stand in the result."""
    sets = ",".join(f"{dev.name}@{dev.digest[:12]}" for dev in devs)
    scorers = ",".join(f"{model['id']}@{model['sha256'][:12]}" for model in models)
    return (
        f"{Settings().line()}|models:{scorers}|sets:{sets}|limit:{options.limit}"
        f"|seed:{options.seed}|resamples:{RESAMPLES}|machine:{machine()}"
    )


def _score(relation: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run the worker for one model; its messages pass through.

    Raises:
        CalledProcessError: if it failed.
    """
    task = Task(
        relation=relation,
        llm=options.llm,
        data=str(options.data.resolve()),
        sets=options.sets,
        limit=options.limit,
        seed=options.seed,
        cache=str(options.cache.resolve()),
        repeat=options.repeat,
        fresh_timing=options.fresh_timing,
    )
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "task.json", Path(folder) / "result.json"
        asked.write_text(json.dumps(asdict(task)), encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.nli.worker", str(asked), str(answered)]
        subprocess.run(command, cwd=ROOT, check=True)
        found: dict[str, Any] = json.loads(answered.read_text(encoding="utf-8"))
    return found


def scored_of(dev: DevSet, scores: Sequence[Sequence[float] | str]) -> Scored:
    """The pairs that have a score, with the set's clusters among them."""
    rows = [i for i, score in enumerate(scores) if not isinstance(score, str)]
    place = {row: i for i, row in enumerate(rows)}
    clusters = [[place[i] for i in cluster if i in place] for cluster in dev.clusters()]
    return Scored(
        labels=dev.labels,
        gold=np.array([LABELS.index(dev.pairs[i].label) for i in rows], dtype=np.int64),
        log_p=np.array([scores[i] for i in rows], dtype=np.float64).reshape(-1, 3),
        clusters=[cluster for cluster in clusters if cluster],
        rows=rows,
    )


def clashes_of(dev: DevSet, scored: Scored) -> npt.NDArray[np.bool_]:
    """Whether the quantities of each scored pair exclude each other."""
    return np.array(
        [
            compare_quantities(dev.pairs[row].premise, dev.pairs[row].hypothesis).n_mismatched > 0
            for row in scored.rows
        ]
    )


def _plots(dev: DevSet, models: Mapping[str, Judged], out: Path) -> list[str]:
    """ROC curves for entailment and contradiction; names of the files written."""
    written = []
    for label in ("entailment", "contradiction"):
        name = f"roc-{dev.name}-{label}.png"
        if models and plot_roc(models, label, f"{dev.name}: {label}", out / name):
            written.append(name)
    return written


def _add_reports(
    result: dict[str, Any], devs: Sequence[DevSet], options: argparse.Namespace
) -> None:
    settings = Settings()
    embedder: Embedder = load_model(settings.embedder, "embedder")
    result["embedder"] = {"id": embedder.id, "sha256": embedder.sha256}
    if options.gate:
        thresholds = sorted({*THRESHOLDS, settings.min_similarity})
        for dev in devs:
            result["sets"][dev.name]["gate"] = gate_report(dev, embedder, thresholds)
    if options.quotes:
        claims = read_claims(read_rows(options.data / FILES["wice-dev"]))
        result["quotes"] = quote_report(claims[: options.limit], embedder, seed=options.seed)


if __name__ == "__main__":
    main()
