"""Scores the dev sets with one relation model, in a process of its own.

    python -m benchmarks.nli.worker TASK.json RESULT.json

Started by ``benchmarks.relation`` for each model, so that a model's peak memory
is its own. A pair that was scored before is not scored again.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_memory
from benchmarks.nli.pairs import DevSet, Pair, load_set
from benchmarks.nli.timings import TimingLog, speed
from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.evaluate.machine import machine
from factcheck_local.pipeline.relation import (
    CalibratedRelationModel,
    PairScorer,
    Premise,
    load_relation_model,
)
from factcheck_local.pipeline.relation.load import reading_of, relation_card
from factcheck_local.pipeline.relation.score_cache import CachedPairScorer, ScoreCache
from factcheck_local.pipeline.relation.scorer import LogProbabilities

#: Pairs of a timed pass, as whole premises.
PASS_PAIRS = 32

#: A pass that takes longer than this is not made.
CHEAP_SECONDS = 20.0

#: Natural-log probabilities in the order of ``LABELS``, or why there are none.
Score = list[float] | str


@dataclass(frozen=True, slots=True)
class Task:
    """What to score; plain values, so that it can be written as JSON.

    Attributes:
        relation: name of the relation model.
        llm: what the name ``llm`` stands for.
        data: folder of the data.
        sets: names of the sets.
        limit: pairs per label; None takes all.
        seed: of the sample.
        cache: folder of the scores and timings that are kept.
        repeat: timed passes over the first pairs of each set.
        fresh_timing: whether to drop the timings made on this machine before.
    """

    relation: str
    llm: str
    data: str
    sets: Sequence[str]
    limit: int | None
    seed: int
    cache: str
    repeat: int
    fresh_timing: bool


class TimedScorer:
    """A scorer that writes down how long it took; implements ``PairScorer``.

    Attributes:
        id: the scorer's.
        sha256: the scorer's.
        digest: of the set that is scored now.
        scored: pairs scored so far.
    """

    def __init__(self, scorer: PairScorer, log: TimingLog) -> None:
        self.id = scorer.id
        self.sha256 = scorer.sha256
        self.digest = ""
        self.scored = 0
        self._scorer = scorer
        self._log = log

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        """Score as the scorer does; a failure is not timed."""
        begun = time.perf_counter()
        rows = self._scorer.score(premise, hypotheses)
        self._log.add("scoring", len(hypotheses), time.perf_counter() - begun, self.digest)
        self.scored += len(hypotheses)
        return rows

    def time_pass(self, groups: Sequence[tuple[str, Sequence[Pair]]]) -> None:
        """Score premises with their pairs once more, as one measurement.

        Raises:
            ScoringError: if the scorer cannot take one; nothing is written then.
        """
        begun = time.perf_counter()
        for premise, pairs in groups:
            self._scorer.score(Premise("", premise), [pair.hypothesis for pair in pairs])
        size = sum(len(pairs) for _, pairs in groups)
        self._log.add("pass", size, time.perf_counter() - begun, self.digest)
        self.scored += size


def main() -> None:
    """Read the task, score, write what was found."""
    task = Task(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    result = run(task)
    Path(sys.argv[2]).write_text(json.dumps(result), encoding="utf-8")


def run(task: Task) -> dict[str, Any]:
    """Scores of every set, speed, memory, and what the model is."""
    begun = time.perf_counter()
    model = load_relation_model(
        task.relation,
        default_llm=task.llm,
        quantities=False,
        cut_instructions=False,
        tables="raw",
    )
    load_seconds = time.perf_counter() - begun
    if not isinstance(model, CalibratedRelationModel):
        raise ModelError(f"{model.id} gives no scores without a calibration")
    folder = Path(task.cache)
    folder.mkdir(parents=True, exist_ok=True)
    log = TimingLog(folder / "timings.jsonl", model.id, model.sha256, machine())
    timed = TimedScorer(model.scorer, log)
    cached = CachedPairScorer(
        lambda: timed,
        *(timed.id, timed.sha256),
        ScoreCache(folder / "scores.sqlite"),
        reading=reading_of(relation_card(task.relation, task.llm)),
    )
    sets = {}
    for name in task.sets:
        dev = load_set(Path(task.data), name, limit=task.limit, seed=task.seed)
        timed.digest = dev.digest
        if task.fresh_timing:
            log.forget(dev.digest)
        scores = score_set(cached, dev)
        time_passes(timed, dev, log, task.repeat)
        found = speed(log.read("pass", dev.digest), log.read("scoring", dev.digest))
        sets[name] = {"scores": scores, "speed": asdict(found) if found else None}
    if timed.scored:
        log.add("run", timed.scored, load_seconds, peak_bytes=peak_memory())
    runs = log.read("run")
    return {
        "id": model.id,
        "sha256": model.sha256,
        "calibration": asdict(model.calibration),
        "fresh_pairs": timed.scored,
        "load_seconds": statistics.median(t.seconds for t in runs) if runs else None,
        "peak_bytes": max((t.peak_bytes for t in runs), default=None),
        "sets": sets,
    }


def score_set(cached: CachedPairScorer, dev: DevSet) -> list[Score]:
    """A score, or the reason why there is none, for every pair of the set, in order."""
    found: dict[str, Score] = {}
    groups = dev.by_premise()
    for done, (premise, pairs) in enumerate(groups.items(), start=1):
        try:
            rows = cached.score(Premise("", premise), [pair.hypothesis for pair in pairs])
        except ScoringError as error:
            found |= {pair.key: str(error) for pair in pairs}
        else:
            found |= {p.key: row.tolist() for p, row in zip(pairs, rows, strict=True)}
        if done % 10 == 0 or done == len(groups):
            end = "\n" if done == len(groups) else ""
            print(f"\r{cached.id} {dev.name} {done}/{len(groups)}", end=end, file=sys.stderr)
    return [found[pair.key] for pair in dev.pairs]


def time_passes(timed: TimedScorer, dev: DevSet, log: TimingLog, repeat: int) -> None:
    """Make ``repeat`` timed passes over the first premises of a set, if that is cheap.

    Passes made before count, so a second run times nothing.
    """
    groups: list[tuple[str, list[Pair]]] = []
    for group in dev.by_premise().items():
        if sum(len(pairs) for _, pairs in groups) < PASS_PAIRS:
            groups.append(group)
    # With a single premise the second pass would find it read already.
    if len(groups) < 2:
        return
    size = sum(len(pairs) for _, pairs in groups)
    while len(made := log.read("pass", dev.digest)) < repeat:
        known = speed(made, log.read("scoring", dev.digest))
        if known and size / known.pairs_per_second > CHEAP_SECONDS:
            return
        try:
            timed.time_pass(groups)
        except ScoringError as error:
            print(f"{timed.id} {dev.name}: no timed pass: {error}", file=sys.stderr)
            return


if __name__ == "__main__":
    main()
