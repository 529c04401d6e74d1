"""What a cascade's benchmark makes of two models' opinions."""

import numpy as np
import pytest

from benchmarks.cascade import Sample, fit, outcome
from factcheck_local.core.types import Relation
from factcheck_local.pipeline.relation.cascade import Sure

RIGHT = (Relation(0.96, 0.02, 0.02), Relation(0.02, 0.96, 0.02), Relation(0.02, 0.02, 0.96))
OPEN = Relation(0.3, 0.3, 0.4)
#: Taken for entailment, without much conviction.
MISLED = Relation(0.55, 0.3, 0.15)


def sample(fast: list[Relation]) -> Sample:
    gold = np.array([0, 1, 2] * 2)
    return Sample("s", gold, fast, [RIGHT[g] for g in gold])


def test_the_slow_model_reads_what_is_open() -> None:
    fast = [RIGHT[0], OPEN, RIGHT[2], MISLED, RIGHT[1], OPEN]
    found = outcome([sample(fast)], Sure(0.9, 0.9, 0.9), 1.0)
    assert found.read == pytest.approx(0.5)
    assert found.accuracy == 1.0
    assert found.entailment == 1.0
    alone = outcome([sample(fast)], Sure(0.0, 0.0, 0.0), 1.0)
    assert alone.read == 0.0
    assert alone.accuracy < 1.0


def test_a_fit_stops_asking_where_the_fast_model_is_right() -> None:
    fast = [RIGHT[0], OPEN, RIGHT[2], RIGHT[0], MISLED, RIGHT[2]]
    sure, weight = fit([sample(fast)], price=0.05)
    found = outcome([sample(fast)], sure, weight)
    assert found.read == pytest.approx(1 / 3)
    assert found.accuracy == 1.0
    assert weight == 1.0
