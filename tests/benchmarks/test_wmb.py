"""Weighted mini-buckets, which our inference is compared with: what they promise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.wmb import infer_by_wmb, weighted_mini_buckets
from factcheck_local.core.errors import InferenceError
from factcheck_local.core.types import RelationLabel
from factcheck_local.markov import (
    Factor,
    Marginals,
    Network,
    prior_factor,
    relation_factor,
)
from factcheck_local.markov.arrays import compile_network
from factcheck_local.markov.order import min_fill, neighbourhoods
from tests.markov.enumeration import enumerate_marginals
from tests.markov.strategies import networks_with_zeros, relation_networks

few = settings(max_examples=60, deadline=None)


def assert_same(actual: Marginals, expected: Marginals, tolerance: float = 1e-9) -> None:
    assert list(actual.p_true) == list(expected.p_true)
    assert actual.p_true == pytest.approx(dict(expected.p_true), abs=tolerance)
    assert actual.log_z == pytest.approx(expected.log_z, abs=tolerance, rel=tolerance)


@given(relation_networks(max_variables=9, max_relations=30))
@few
def test_mini_buckets_bound_log_z_from_above(network: Network) -> None:
    arrays = compile_network(network)
    order = min_fill(neighbourhoods(arrays), arrays.count)
    assert order is not None
    expected = enumerate_marginals(network)
    for i_bound in (1, 2, 3, 8):
        p_true, bound = weighted_mini_buckets(arrays, order, i_bound)
        assert bound >= expected.log_z - 1e-9
        assert ((p_true >= 0) & (p_true <= 1)).all()
        if i_bound >= order.width:
            assert bound == pytest.approx(expected.log_z, abs=1e-9)
            assert p_true == pytest.approx(list(expected.p_true.values()), abs=1e-9)


@given(relation_networks(max_variables=16, max_relations=40))
@few
def test_mini_buckets_that_hold_everything_are_exact(network: Network) -> None:
    whole = infer_by_wmb(network, i_bound=16)
    assert whole.exact
    assert_same(whole, enumerate_marginals(network))


@given(networks_with_zeros())
@settings(max_examples=200, deadline=None)
def test_zeros_give_a_bound_or_an_error(network: Network) -> None:
    try:
        expected = enumerate_marginals(network)
    except InferenceError:
        with pytest.raises(InferenceError, match="conflict is between"):
            infer_by_wmb(network)
        return
    found = infer_by_wmb(network)
    assert all(0.0 <= p <= 1.0 for p in found.p_true.values())
    assert math.isfinite(found.log_z)
    assert infer_by_wmb(network, i_bound=1).log_z >= expected.log_z - 1e-9


def test_factors_over_three_variables_fit_into_a_bucket() -> None:
    table = np.arange(1.0, 9.0).reshape(2, 2, 2)
    factors = (Factor(("z", "x", "y"), table), Factor(("x", "leaf"), [[1, 2], [3, 1]]))
    network = Network(("x", "y", "z", "leaf"), factors)
    assert_same(infer_by_wmb(network), enumerate_marginals(network))


def relation(label: RelationLabel, x: str, y: str) -> Factor:
    return relation_factor(label, x, y, 1.0, parameterisation="conditional", prior_y=0.5)


def test_an_impossible_network_names_the_conflict() -> None:
    """c1 is certain and certainly entails a; c2 likewise contradicts it; d is innocent."""
    factors = (
        prior_factor("c1", 1.0),
        prior_factor("c2", 1.0),
        prior_factor("d", 0.0),
        relation(RelationLabel.ENTAILMENT, "c1", "a"),
        relation(RelationLabel.CONTRADICTION, "c2", "a"),
    )
    with pytest.raises(InferenceError) as caught:
        infer_by_wmb(Network(("c1", "c2", "a", "d"), factors))
    message = str(caught.value)
    assert all(part in message for part in ("(c1)", "(c2)", "(c1, a)", "(c2, a)"))
    assert "(d)" not in message


def test_certain_evidence_decides() -> None:
    factors = (prior_factor("c", 1.0), relation(RelationLabel.ENTAILMENT, "c", "a"))
    marginals = infer_by_wmb(Network(("c", "a"), factors))
    assert dict(marginals.p_true) == {"c": 1.0, "a": 1.0}
    assert marginals.log_z == 0.0


def test_the_example_of_the_paper() -> None:
    """Example 1: one passage states a claim, another contradicts it."""
    factors = (
        prior_factor("a", 0.5),
        prior_factor("c1", 0.99),
        prior_factor("c2", 0.99),
        relation_factor(
            RelationLabel.ENTAILMENT, "c1", "a", 0.8, parameterisation="table1", prior_y=0.5
        ),
        relation_factor(
            RelationLabel.CONTRADICTION, "c2", "a", 0.9, parameterisation="table1", prior_y=0.5
        ),
    )
    true, false = 0.8 * 0.108, 0.206 * 0.9
    found = infer_by_wmb(Network(("a", "c1", "c2"), factors))
    assert found.p_true["a"] == pytest.approx(true / (true + false), abs=1e-9)
