"""The plan of docs/scale.md: queues that are known by heart."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from benchmarks import scale
from benchmarks.scale import claims, extrapolated, passages, plan

RESULTS = Path(__file__).parents[2] / "benchmarks/results"


def test_a_worker_that_is_half_busy() -> None:
    """One server, a fixed time of service, load ½: in the mean as much waits as M/D/1 says."""
    found = plan([8.0], 1, 5_400)
    assert found["busy"] == pytest.approx(0.5, abs=0.06)
    assert found["median_seconds"] >= 8.0
    assert found["p95_seconds"] < 60


def test_too_few_workers_fall_behind() -> None:
    """Twice what they can do: half of what came in the hour still waits."""
    found = plan([10.0], 2, 2 * 2 * 8_640)
    came = 3_600 / 10 * 2 * 2
    assert found["busy"] == pytest.approx(1.0, abs=0.01)
    assert found["waiting"] == pytest.approx(came / 2, rel=0.15)


def test_lost_workers_cost_their_answers_again() -> None:
    alone, twice = (plan([5.0], 4, 20_000, lost_each=p)["busy"] for p in (0.0, 0.5))
    assert twice == pytest.approx(2 * alone, rel=0.15), "each is done twice in the mean"


def test_what_is_measured_on() -> None:
    assert len(passages()) == len(set(passages())) == 16
    assert not set(claims(1)) & set(claims(2))


def test_a_million_passages_from_the_last_step() -> None:
    first: dict[str, float] = {"passages": 100, "seconds": 10, "writer_peak_mb": 50, "store_mb": 1}
    last: dict[str, float] = {"passages": 200, "seconds": 12, "writer_peak_mb": 60, "store_mb": 2}
    assert extrapolated([first, last], 500) == {
        "passages": 500,
        "seconds": 10 + 12 + 14 + 16 + 18,
        "writer_peak_mb": 90,
        "store_mb": 5,
    }


def test_the_plan_is_the_one_that_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the seconds that were measured its command makes the same table again."""
    shutil.copy(RESULTS / "scale-workers.json", tmp_path)
    monkeypatch.setattr(sys, "argv", ["scale", "plan", "--out", str(tmp_path)])
    scale.main()
    made, kept = (json.loads((f / "scale-plan.json").read_text()) for f in (tmp_path, RESULTS))
    assert made["rows"] == kept["rows"]
    assert made["mean_seconds"] == kept["mean_seconds"]


@pytest.mark.skipif("RAY_NODES" not in os.environ, reason="slow; make scale runs it")
def test_what_is_measured_of_workers_and_of_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scale.workers(6)
    assert set(found["seconds"]) == {"one process", "ray", "two nodes", "two nodes, one dies"}
    assert len(found["seconds_each"]) == 6
    monkeypatch.setattr(scale, "FILES", 10)
    steps = scale.index(40)["steps"]
    assert [row["passages"] for row in steps] == [10, 20, 30, 40]
    assert all(row["store_mb"] > 0 for row in steps)
