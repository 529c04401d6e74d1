"""The measures of a relation model, against calculations by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.nli.measures import Judged, Scored, measure
from benchmarks.nli.pairs import DevSet, Pair
from benchmarks.nli.plots import plot_roc
from benchmarks.nli.table import to_markdown
from benchmarks.relation import scored_of
from factcheck_local.pipeline.relation import Calibration

P = np.array([[0.55, 0.1, 0.35], [0.1, 0.65, 0.25], [0.19, 0.09, 0.72], [0.13, 0.15, 0.72]])


def scored(labels: tuple[str, ...], gold: list[int]) -> Scored:
    return Scored(labels, np.array(gold), np.log(P), [[0, 1], [2], [3]])


def test_a_set_of_two_labels_is_judged_two_ways() -> None:
    judged = Judged(scored(("entailment", "contradiction"), [0, 1, 1, 1]), Calibration())
    # Neutral is the most probable in the last two rows, and not asked for.
    assert judged.top.tolist() == [0, 1, 0, 1]
    assert judged.confidence == pytest.approx([55 / 65, 65 / 75, 19 / 28, 15 / 28])
    # Recall of entailment 1/1, of contradiction 2/3.
    assert judged.accuracy(np.arange(4)) == pytest.approx((1 + 2 / 3) / 2)


def test_a_clash_of_quantities_weighs_against_entailment() -> None:
    plain = scored(("entailment", "contradiction"), [0, 1, 1, 1])
    judged = Judged(replace(plain, clashes=np.array([True, False, False, False])), Calibration())
    assert judged.top.tolist() == [1, 1, 0, 1]
    assert judged.p[1:] == pytest.approx(P[1:])
    assert judged.p.sum(axis=1) == pytest.approx(1)


def test_measures_by_hand() -> None:
    found = measure(
        scored(("entailment", "contradiction", "neutral"), [0, 1, 2, 0]), Calibration(), seed=0
    )
    # Right, right, right, wrong; recalls 1/2, 1, 1.
    assert found["balanced_accuracy"]["value"] == pytest.approx(2.5 / 3)
    # p(entailment) of the true ones 0.55 and 0.13, of the others 0.1 and 0.19: 3 of 4 in order.
    assert found["auroc_entailment"]["value"] == pytest.approx(3 / 4)
    assert found["auroc_contradiction"]["value"] == 1.0
    # Bins: 0.55 right, 0.65 right, 0.72 twice, once right: (0.45 + 0.35 + |1 - 2 * 0.72|) / 4.
    assert found["ece"]["value"] == pytest.approx(1.24 / 4)
    assert found["confusion"]["rows_gold"] == [[1, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert found["ece"]["uncalibrated"] == found["ece"]["value"]


def test_what_does_not_occur_has_no_value() -> None:
    found = measure(scored(("entailment", "neutral"), [0, 2, 2, 2]), Calibration(), seed=0)
    assert found["auroc_contradiction"] == {"value": None, "ci95": None, "uncalibrated": None}


def test_a_calibration_changes_the_measures_but_not_those_without_it() -> None:
    pairs = scored(("entailment", "contradiction", "neutral"), [0, 1, 2, 2])
    biased = Calibration(1.0, (9.0, 0.0, 0.0))
    found = measure(pairs, biased, seed=0)["balanced_accuracy"]
    assert found["value"] == pytest.approx(1 / 3)
    assert found["uncalibrated"] == 1.0


def test_a_curve_is_drawn_where_there_is_one(tmp_path: Path) -> None:
    judged = Judged(scored(("entailment", "neutral"), [0, 2, 2, 2]), Calibration())
    assert plot_roc({"m": judged}, "entailment", "x: entailment", tmp_path / "e.png")
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    assert not plot_roc({"m": judged}, "contradiction", "x", tmp_path / "c.png")
    assert not (tmp_path / "c.png").exists()


def test_pairs_without_a_score_are_left_out_and_counted() -> None:
    rows = [Pair("p", "a", "entailment"), Pair("p", "b", "neutral"), Pair("q", "c", "neutral")]
    dev = DevSet("x", "", ("entailment", "neutral"), tuple(rows))
    found = scored_of(dev, [[-0.1, -3.0, -3.0], "too long", [-3.0, -3.0, -0.1]])
    assert found.gold.tolist() == [0, 2]
    assert found.clusters == [[0], [1]]


def test_the_table_says_what_there_is_no_number_for() -> None:
    found = measure(scored(("entailment", "neutral"), [0, 2, 2, 2]), Calibration(), seed=0)
    model = {
        "relation": "m",
        "id": "m/relate-v1",
        "sha256": "0" * 64,
        "load_seconds": None,
        "peak_bytes": 5_000_000,
        "sets": {
            "x": {"scored": 4, "unscored": 1, "measures": found, "weighed": None, "speed": None}
        },
    }
    sets = {"x": {"pairs": 5, "labels": {"entailment": 1, "neutral": 4}, "roc": ["r.png"]}}
    text = to_markdown({"sets": sets, "models": [model], "signature": "s"})
    row = next(line for line in text.splitlines() if line.startswith("| m | 4 (+1) |"))
    assert row.split(" | ")[4] == "–"
    assert "| m + quantities | 4 (+1) | – | – |" in text
    assert "5 MB" not in text
    assert "| – | 5 |" in text
