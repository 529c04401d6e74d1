"""The benchmark of inference on its smallest graphs, and what it makes of failures."""

import argparse

import numpy as np
import pytest

from benchmarks.fact_graphs import FAMILIES, fact_graph
from benchmarks.inference import _row, _summary, measure, pgmpy, reference, to_markdown
from factcheck_local.markov import infer
from tests.markov.enumeration import enumerate_marginals

OPTIONS = argparse.Namespace(
    seeds=2, peer_seeds=0, repeat=1, timeout=30.0, memory=6 << 30, factors="conditional"
)


def test_graphs_are_seeded_and_of_their_family() -> None:
    one, again = (fact_graph(FAMILIES[2], 6, seed=3) for _ in range(2))
    assert one.variables == again.variables
    assert all((f.table == g.table).all() for f, g in zip(one.factors, again.factors, strict=True))
    own = fact_graph(FAMILIES[0], 6, seed=3)
    scopes = [f.variables for f in own.factors if len(f.variables) == 2]
    # Without sharing every passage is related to one atom.
    assert len({c for c, _ in scopes}) == len(scopes)
    assert infer(own).method == "exact (leaf elimination)"


def test_a_measurement_and_its_table() -> None:
    row = measure(FAMILIES[3], 4, OPTIONS)
    ours = row["engines"]["factcheck-local"]
    assert row["reference"] == "exact"
    assert row["exact"] == 2
    assert ours["worst_error"] == 0.0
    assert row["engines"]["pgmpy VE"] == {"failed": "not run"}
    result = {
        "seeds": 2,
        "factors": "conditional",
        "rows": [row],
        "large": {"seconds": 0.5, "method": "m", "error": 0.1},
        "signature": "s",
    }
    table = to_markdown(result)
    assert "| FR2 20 % | 4 |" in table
    assert "factcheck-local, exact 2 of 2" in table


def test_the_reference_and_pgmpy_agree_with_enumeration() -> None:
    network = fact_graph(FAMILIES[2], 3, seed=1)
    expected = enumerate_marginals(network).p_true
    found, kind = reference(network)
    assert kind == "exact"
    assert found == pytest.approx(dict(expected), abs=1e-9)
    for atom, p in pgmpy(network).items():
        assert p == pytest.approx(expected[atom], abs=1e-9)


def test_errors_and_failures_are_told_apart() -> None:
    good = _row(({"a0": 0.6, "a1": 0.4}, 0.01), {"a0": 0.4, "a1": 0.4, "c0": 1.0})
    assert good["mean"] == pytest.approx(0.1)
    assert (good["wrong"], good["worst"]) == (0.5, pytest.approx(0.2))
    found = _summary([good, _row("timeout", {})])
    assert found["graphs"] == 1
    assert found["failed"] == "timeout"
    assert np.isclose(found["milliseconds"], 10.0)
    assert _summary([_row("out of memory", {})]) == {"failed": "out of memory"}
