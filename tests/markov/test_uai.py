"""The UAI format, both ways, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given, settings

from factcheck_local.core.errors import RecordError
from factcheck_local.markov import (
    Factor,
    Network,
    infer,
    network_from_uai,
    network_to_uai,
)

from .enumeration import enumerate_marginals
from .strategies import relation_networks

#: Two variables, P(x0) ∝ (1, 3), and a pair with axes (x1, x0).
SMALL = "MARKOV\n2\n2 2\n2\n1 0\n2 1 0\n\n2\n1 3\n\n4\n1 2 3 4\n"


def test_by_hand_the_rightmost_variable_changes_fastest() -> None:
    network = network_from_uai(SMALL)
    assert network.variables == ("x0", "x1")
    assert network.factors[1].variables == ("x1", "x0")
    assert network.factors[1].table.tolist() == [[1, 2], [3, 4]]
    # Weights of (x0, x1): 00 1*1, 01 1*3, 10 3*2, 11 3*4.
    assert infer(network).p_true == pytest.approx({"x0": 18 / 22, "x1": 15 / 22})
    assert np.exp(infer(network).log_z) == pytest.approx(22)


@given(relation_networks(max_variables=8))
@settings(max_examples=40, deadline=None)
def test_there_and_back_nothing_changes(network: Network) -> None:
    again = network_from_uai(network_to_uai(network))
    assert len(again.variables) == len(network.variables)
    name = dict(zip(network.variables, again.variables, strict=True))
    for old, new in zip(network.factors, again.factors, strict=True):
        assert new.variables == tuple(name[v] for v in old.variables)
        assert (new.table == old.table).all()


def test_larger_factors_and_none_at_all() -> None:
    cube = Factor(("x0", "x1", "x2"), np.arange(1.0, 9.0).reshape(2, 2, 2))
    network = Network(("x0", "x1", "x2", "x3"), (cube,))
    again = network_from_uai(network_to_uai(network))
    assert enumerate_marginals(again) == enumerate_marginals(network)
    assert network_from_uai(network_to_uai(Network((), ()))).variables == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BAYES\n0\n0", "expected a network of type MARKOV, got 'BAYES'"),
        ("MARKOV", "ends before the number of variables"),
        ("MARKOV x", "expected the number of variables, got 'x'"),
        ("MARKOV 1 3 0", "variable 0 has 3 values; only binary ones are taken"),
        ("MARKOV 1 2 1 2 0 0", "factor 0 is over 2 variables, expected 1 to 1"),
        ("MARKOV 2 2 2 1 2 0 0", "factor 0: expected 2 different variables below 2"),
        ("MARKOV 1 2 1 1 5", "factor 0: expected 1 different variables below 1"),
        ("MARKOV 1 2 1 1 0 3 1 1 1", "table 0 has 3 entries, expected 2"),
        ("MARKOV 1 2 1 1 0 2 1 -1", "entry 1 of table 0: expected a number >= 0, got '-1'"),
        ("MARKOV 1 2 1 1 0 2 1 nan", "entry 1 of table 0: expected a number >= 0, got 'nan'"),
        ("MARKOV 1 2 1 1 0 2 1 1 7", "expected the end, got '7'"),
        ("MARKOV 99999999999 2", "expected the number of variables"),
    ],
)
def test_what_is_malformed_is_named(text: str, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        network_from_uai(text)
    assert message in str(caught.value)
