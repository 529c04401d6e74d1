"""Scoring with what is kept: what is scored again, timed and failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.nli.pairs import DevSet, Pair
from benchmarks.nli.timings import Timing, TimingLog, speed
from benchmarks.nli.worker import TimedScorer, score_set, time_passes
from factcheck_local.core.errors import ScoringError
from factcheck_local.pipeline.relation import Premise
from factcheck_local.pipeline.relation.score_cache import CachedPairScorer, ScoreCache
from factcheck_local.pipeline.relation.scorer import LogProbabilities


class LengthScorer:
    """More sure of entailment the longer the claim; cannot take the premise ``huge``."""

    id = "length"
    sha256 = "0" * 64

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        if premise.text == "huge":
            raise ScoringError("does not fit")
        assert premise.title == ""
        self.calls.append((premise.text, len(hypotheses)))
        p = np.array([[1.0, 1.0, len(h)] for h in hypotheses])
        found: LogProbabilities = np.log(p / p.sum(axis=1, keepdims=True))
        return found


def dev_set(*texts: tuple[str, str]) -> DevSet:
    return DevSet("x", "digest", ("neutral",), tuple(Pair(p, h, "neutral") for p, h in texts))


class Bench:
    def __init__(self, folder: Path) -> None:
        self.scorer = LengthScorer()
        self.log = TimingLog(folder / "timings.jsonl", "length", "0" * 64, "here")
        self.timed = TimedScorer(self.scorer, self.log)
        self.timed.digest = "digest"
        self.cached = CachedPairScorer(
            lambda: self.timed, "length", "0" * 64, ScoreCache(folder / "scores.sqlite")
        )


def test_a_premise_is_read_once_and_only_what_is_new_is_scored(tmp_path: Path) -> None:
    first = Bench(tmp_path)
    scores = score_set(first.cached, dev_set(("p", "a"), ("q", "bb"), ("p", "ccc"), ("p", "a")))
    assert first.scorer.calls == [("p", 2), ("q", 1)]
    assert scores[0] == scores[3]
    assert scores[0] == pytest.approx(np.log([1 / 3] * 3).tolist())
    second = Bench(tmp_path)
    again = score_set(second.cached, dev_set(("p", "a"), ("p", "new"), ("q", "bb")))
    assert second.scorer.calls == [("p", 1)]
    assert again[0] == scores[0]
    timings = second.log.read("scoring", "digest")
    assert [t.pairs for t in timings] == [2, 1, 1]
    assert all(t.seconds > 0 for t in timings)


def test_a_failure_has_its_reason_and_is_neither_kept_nor_timed(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert score_set(bench.cached, dev_set(("huge", "a"), ("p", "b")))[0] == "does not fit"
    assert [t.pairs for t in bench.log.read("scoring", "digest")] == [1]


def test_passes_are_made_once(tmp_path: Path) -> None:
    bench, dev = Bench(tmp_path), dev_set(("p", "a"), ("q", "b"))
    time_passes(bench.timed, dev, bench.log, repeat=3)
    assert len(bench.scorer.calls) == 6
    time_passes(bench.timed, dev, bench.log, repeat=3)
    assert len(bench.scorer.calls) == 6
    assert [t.pairs for t in bench.log.read("pass", "digest")] == [2, 2, 2]


def test_no_pass_where_it_is_known_to_be_slow_or_would_measure_the_cache(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    time_passes(bench.timed, dev_set(("p", "a"), ("p", "b")), bench.log, repeat=3)
    bench.log.add("scoring", 1, 100.0, "digest")
    time_passes(bench.timed, dev_set(("p", "a"), ("q", "b")), bench.log, repeat=3)
    assert bench.scorer.calls == []


def test_timings_belong_to_a_model_a_machine_and_a_set(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    here = TimingLog(path, "m", "1", "here")
    for log in (here, TimingLog(path, "m", "1", "there"), TimingLog(path, "m", "2", "here")):
        log.add("scoring", 5, 1.0, "a")
    here.add("scoring", 7, 1.0, "b")
    assert [t.pairs for t in here.read("scoring", "a")] == [5]
    here.forget("a")
    assert here.read("scoring", "a") == []
    assert [t.pairs for t in here.read("scoring", "b")] == [7]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


def test_speed_is_the_median_of_passes_or_all_scorings_together() -> None:
    def timing(pairs: int, seconds: float) -> Timing:
        return Timing("m", "1", "here", "a", "scoring", pairs, seconds)

    scorings = [timing(2, 1.0), timing(1, 5.0)]
    passes = [timing(30, 10.0), timing(30, 15.0), timing(30, 60.0)]
    assert speed([], []) is None
    found = speed(passes[:1], scorings)
    assert found is not None
    assert found.pairs_per_second == pytest.approx(3 / 6)
    found = speed(passes, scorings)
    assert found is not None
    assert found.pairs_per_second == pytest.approx(2.0)
