"""Settings of the network compared: the pipeline's own verdicts, from pairs that are read once."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import network_choices
from benchmarks.network_cases import NetworkCase, cases
from benchmarks.network_grid import (
    GRID,
    Choice,
    alone,
    difference,
    judged,
    settings_of,
    sorted_by_three,
)
from factcheck_local.evaluate.data import sets
from factcheck_local.evaluate.runner import corpus
from factcheck_local.evaluate.verdicts import EXPECTED, SAID, Matrix, matrix_of
from factcheck_local.indexer.store import Store
from factcheck_local.models.fake import FakeEmbedder, FakePairClassifier
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.settings import Settings

SET: dict[str, Any] = {
    "set": "sundara-leave",
    "passages": [
        {"id": "p1", "title": "Plan", "text": "Room Elm seats 40. Room Oak seats 8."},
        {"id": "p2", "title": "List", "text": "Room Elm seats 36. Room Ash seats 7."},
        {"id": "p3", "title": "Note", "text": "Room Elm seats many. The gate opens at six."},
    ],
    "claims": [
        {"text": "Room Elm seats 40.", "entailed_by": ["p1"], "contradicted_by": ["p2"]},
        {"text": "Room Oak seats 8.", "entailed_by": ["p1"], "contradicted_by": []},
        {"text": "Room Ash seats 9.", "entailed_by": [], "contradicted_by": ["p2"]},
        {"text": "Room Fir seats 3.", "entailed_by": [], "contradicted_by": []},
    ],
}


def says(premise: str, hypothesis: str) -> tuple[float, float, float]:
    """What stands there is entailed, another number for the same room contradicts."""
    if hypothesis in premise:
        return 0.9, 0.04, 0.06
    room = " ".join(hypothesis.split()[:2])
    return (0.05, 0.65, 0.3) if room in premise else (0.02, 0.03, 0.95)


@pytest.fixture
def classifier() -> FakePairClassifier:
    return FakePairClassifier(says)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    file = tmp_path / "some.jsonl"
    file.write_text(json.dumps(SET) + "\n" + json.dumps({**SET, "set": "wexcombe-parking"}) + "\n")
    with corpus(sets.load(file, held_out=True), FakeEmbedder(), tmp_path / "out") as made:
        assert made is not None
        yield made


def checker(settings: Settings, store: Store, classifier: FakePairClassifier) -> FactChecker:
    model = CalibratedRelationModel(EncoderPairScorer(classifier))
    return FactChecker(settings, store, embedder=FakeEmbedder(), relation_model=model)


def items(tmp_path: Path) -> Any:  # noqa: ANN401
    return sets.load(tmp_path / "some.jsonl", held_out=True).items


TRIED = [
    *(Settings(assessor=a, k=1) for a in ("fr1", "fr2", "fr3", "fr4")),
    *(
        Settings(assessor=a, retrieval="fused", strong=0.7, relation_correlation=0.0)
        for a in ("fr1", "fr2", "fr3", "fr4")
    ),
    Settings(factors="table1", strong=0.3),
    Settings(strong=0.9),
]


def test_verdicts_are_those_of_the_pipeline(
    store: Store, classifier: FakePairClassifier, tmp_path: Path
) -> None:
    (case, other) = cases(items(tmp_path), checker(Settings(), store, classifier), Settings(k=3))
    assert case.item.id != other.item.id
    seen = set()
    for settings in TRIED:
        counts = case.counts(settings)
        chosen = replace(settings, where=case.item.where)
        run = checker(chosen, store, classifier).verify(case.item.record)
        expected = matrix_of(
            [{"label": a.atom.label, "verdict": a.verdict.value} for a in run.assessment.atoms]
        )
        assert np.array_equal(counts, expected), settings
        assert counts.sum() == len(SET["claims"])
        seen.add(counts.tobytes())
    assert len(seen) > 2  # or nothing would have been compared


def test_other_settings_of_the_network_read_nothing_again(
    store: Store, classifier: FakePairClassifier, tmp_path: Path
) -> None:
    found = list(cases(items(tmp_path), checker(Settings(), store, classifier), Settings()))
    read = len(classifier.calls)
    assert read > 0
    judged(
        found, settings_of(Settings(), {"relation_correlation": (0.0, 1.0), "strong": (0.3, 0.9)})
    )
    assert len(classifier.calls) == read


def test_the_grid_has_every_combination_and_alone_one_change_each() -> None:
    tried = settings_of(Settings(), GRID)
    assert len(set(tried)) == len(tried) == 4 * 2 * 6 * 5 * 2 * 7
    single = alone(Settings(), GRID)
    assert len(single) == (4 - 1) + (2 - 1) + (6 - 1) + (5 - 1) + (2 - 1) + (7 - 1)
    for settings in single:
        changed = [n for n in GRID if getattr(settings, n) != getattr(Settings(), n)]
        assert len(changed) == 1


def counts(**given: int) -> Matrix:
    """Claims expected to be supported, by what was said of them."""
    found = np.zeros((len(EXPECTED), len(SAID)), dtype=np.int64)
    for verdict, number in given.items():
        found[0, SAID.index(verdict)] = number
    return found


def test_the_best_come_first_and_differences_are_drawn_in_pairs() -> None:
    better = Choice(Settings(k=1), (counts(supported=3, not_found=1), counts(supported=2)))
    worse = Choice(Settings(k=2), (counts(supported=2, not_found=2), counts(supported=2)))
    assert sorted_by_three([worse, better]) == [better, worse]
    assert better.value("right_of_three") == 5 / 6
    found = difference(better, worse, "right_of_three", seed=0)
    assert found["value"] == pytest.approx(1 / 6)
    # Drawn are only the first item (1/4), only the second (0), or both (1/6).
    assert found["ci95"] == pytest.approx((0.0, 1 / 4))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("assessor", "fr2,fr9", "expected fr1, fr2, fr3, fr4, got 'fr9'"),
        ("strong", "0.5,1.5", "strong: expected a number from"),
        ("k", "0", "k: expected a whole number from 1"),
    ],
)
def test_values_that_no_run_can_use_are_refused(name: str, text: str, said: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=said):
        network_choices.listed(type(GRID[name][0]), name)(text)


def test_the_tables(store: Store, classifier: FakePairClassifier, tmp_path: Path) -> None:
    collection = sets.load(tmp_path / "some.jsonl", held_out=True)
    made = checker(Settings(), store, classifier)
    found: list[NetworkCase] = list(cases(collection.items, made, Settings()))
    grid = {name: (getattr(Settings(), name),) for name in GRID} | {"strong": (0.3, 0.5, 0.9)}
    result = network_choices.compared(collection, made, found, grid, rows=2, seed=0)
    assert (result["items"], result["claims"]) == (2, 8)
    assert [row["changed"] for row in result["alone"]] == [{"strong": 0.3}, {"strong": 0.9}]
    assert len(result["choices"]) == 3
    values = [row["measures"]["right_of_three"]["value"] for row in result["choices"]]
    assert values == sorted(values, reverse=True)
    text = network_choices.to_markdown(result)
    assert "2 items, 8 claims" in text
    assert "Best 2 of 3 combinations:" in text
    assert collection.digest[:12] in text
    assert f"relation:{made.relation_model.id}@" in text
