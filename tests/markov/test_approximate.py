"""Belief propagation and sampling, each for what it promises."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.fact_graphs import FAMILIES, Family, fact_graph
from factcheck_local.core.errors import InferenceError
from factcheck_local.markov import (
    Factor,
    Limits,
    Network,
    infer,
    prior_factor,
)
from factcheck_local.markov.approximate import fixed_points
from factcheck_local.markov.arrays import compile_network
from factcheck_local.markov.bp import Stage, belief_propagation
from factcheck_local.markov.gibbs import annealed_gibbs, colours

from .enumeration import enumerate_marginals
from .strategies import relation_networks

few = settings(max_examples=60, deadline=None)


def p_of(log_odds: np.ndarray) -> np.ndarray:
    found: np.ndarray = 1 / (1 + np.exp(-log_odds))
    return found


def test_belief_propagation_by_hand_with_zeros() -> None:
    # x is certain and entails y for certain; z contradicts y and is ruled out.
    factors = (
        prior_factor("x", 1.0),
        Factor(("x", "y"), [[0.5, 0.5], [0.0, 1.0]]),
        Factor(("z", "y"), [[0.5, 0.5], [1.0, 0.0]]),
        Factor(("z", "w"), [[0.2, 0.8], [1.0, 0.0]]),
    )
    beliefs = belief_propagation(compile_network(Network(("w", "x", "y", "z"), factors)))
    # Only ¬z is left, whose row of the last factor adds up to one.
    assert p_of(beliefs.log_odds[0]) == pytest.approx([0.8, 1.0, 1.0, 0.0], abs=1e-9)
    assert beliefs.log_z[0] == pytest.approx(math.log(0.5))


@given(relation_networks(forest=True))
@few
def test_belief_propagation_is_exact_on_forests_from_every_start(network: Network) -> None:
    beliefs = belief_propagation(compile_network(network), starts=5)
    assert beliefs.converged.all()
    expected = enumerate_marginals(network)
    for row in range(5):
        found = dict(zip(network.variables, p_of(beliefs.log_odds[row]), strict=True))
        assert found == pytest.approx(dict(expected.p_true), abs=1e-8)
        assert beliefs.log_z[row] == pytest.approx(expected.log_z, abs=1e-8)
    assert len(fixed_points(beliefs)) == 1


def test_urgent_messages_first_lead_to_the_same_beliefs() -> None:
    arrays = compile_network(fact_graph(FAMILIES[3], 10, seed=2))
    at_once = belief_propagation(arrays)
    urgent = belief_propagation(arrays, schedule=(Stage(400, residual=0.5),))
    assert at_once.converged.all()
    assert urgent.converged.all()
    assert urgent.iterations > at_once.iterations
    assert urgent.log_odds == pytest.approx(at_once.log_odds, abs=1e-6)


def two_camps(pull: float = 0.9) -> Network:
    """Sixteen texts that each say what the others do: all true or all false, a little more true."""
    names = [f"v{i}" for i in range(16)]
    factors = [prior_factor(v, 0.51) for v in names]
    factors += [
        Factor((x, y), [[pull, 1 - pull], [1 - pull, pull]])
        for i, x in enumerate(names)
        for y in names[:i]
    ]
    return Network(tuple(names), tuple(factors))


def test_two_fixed_points_are_noticed_and_weighed() -> None:
    """Belief propagation alone picks one of them; their weights are 0.51^16 to 0.49^16."""
    network = two_camps()
    found = infer(network, limits=Limits(max_width=10))
    assert found.multimodal
    assert not found.exact
    expected = enumerate_marginals(network)
    share = 0.51**16 / (0.51**16 + 0.49**16)
    assert expected.p_true["v3"] == pytest.approx(share, abs=1e-3)
    assert found.p_true["v3"] == pytest.approx(share, abs=0.02)
    alone = infer(network, "bp", Limits(max_width=10))
    assert alone.multimodal
    assert alone.p_true["v3"] > 0.99


@pytest.mark.parametrize("seed", range(4))
def test_a_frustrated_network_is_sampled_right(seed: int) -> None:
    """Random strong couplings on a complete graph: no fixed point that can be trusted."""
    names = [f"v{i}" for i in range(14)]
    rng = np.random.default_rng(seed)
    factors = [prior_factor(v, float(rng.uniform(0.2, 0.8))) for v in names]
    factors += [
        Factor((x, y), [[1, w], [w, 1]])
        for i, x in enumerate(names)
        for y, w in zip(names[:i], np.exp(rng.normal(0, 0.6, i)), strict=True)
    ]
    network = Network(tuple(names), tuple(factors))
    expected = enumerate_marginals(network)
    found = infer(network, limits=Limits(max_width=3, chains=512))
    error = max(abs(found.p_true[v] - expected.p_true[v]) for v in names)
    assert error < 0.04
    assert found.error is not None
    assert error < 4 * found.error
    assert found.log_z == pytest.approx(expected.log_z, abs=0.5)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_error_is_no_less_than_it_is_because_no_bias_shows(family: Family) -> None:
    networks = [fact_graph(family, 10, seed=seed) for seed in range(3)]
    for network in networks:
        found, expected = infer(network, limits=Limits(max_width=1)), infer(network)
        assert expected.exact
        error = max(abs(found.p_true[v] - p) for v, p in expected.p_true.items())
        assert found.error is not None
        assert found.exact or error / 2 < found.error < 0.05


def test_sampling_is_unbiased_and_seeded() -> None:
    arrays = compile_network(fact_graph(FAMILIES[3], 4, seed=5))
    network = fact_graph(FAMILIES[3], 4, seed=5)
    expected = enumerate_marginals(network)
    start = np.zeros((1, arrays.count))
    runs = [
        annealed_gibbs(arrays, start, chains=2000, anneal=30, sweeps=20, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert (runs[0].p_true == runs[1].p_true).all()
    assert (runs[0].p_true != runs[2].p_true).any()
    for run in runs:
        distance = np.abs(run.p_true - list(expected.p_true.values()))
        assert (distance < 5 * run.error + 1e-3).all()
        assert run.log_z == pytest.approx(expected.log_z, abs=0.05)


def test_few_chains_that_carry_all_the_weight_do_not_pass_for_certainty() -> None:
    """Strong couplings and a start that knows nothing: the weights are of very different size."""
    network = two_camps(pull=0.97)
    arrays = compile_network(network)
    found = annealed_gibbs(
        arrays, np.full((1, arrays.count), 0.0), chains=64, anneal=2, sweeps=5, seed=0
    )
    expected = enumerate_marginals(network)
    distance = np.abs(found.p_true - list(expected.p_true.values()))
    assert (distance < 3 * found.error).all()


def test_bipartite_graphs_have_two_blocks() -> None:
    arrays = compile_network(fact_graph(FAMILIES[3], 10, seed=1))
    blocks = colours(arrays)
    assert len(blocks) == 2
    assert sorted(np.concatenate(blocks).tolist()) == list(range(arrays.count))
    for block in blocks:
        assert not np.isin(arrays.ends, block).all(axis=1).any()


def test_no_fixed_point_is_said_so() -> None:
    """A frustrated complete graph with hard couplings."""
    names = [f"v{i}" for i in range(12)]
    rng = np.random.default_rng(3)
    factors = [
        Factor((x, y), rng.choice([[[1e-3, 1], [1, 1e-3]], [[1, 1e-3], [1e-3, 1]]]))
        for i, x in enumerate(names)
        for y in names[:i]
    ]
    factors.append(prior_factor("v0", 0.7))
    arrays = compile_network(Network(tuple(names), tuple(factors)))
    found = belief_propagation(arrays, starts=3, schedule=(Stage(5),))
    assert not found.converged.all()
    assert found.iterations == 5
    assert np.isfinite(found.log_odds).all()


def test_larger_factors_are_refused() -> None:
    cube = Factor(("x", "y", "z"), np.ones((2, 2, 2)))
    arrays = compile_network(Network(("x", "y", "z"), (cube,)))
    with pytest.raises(InferenceError, match="one or two variables"):
        belief_propagation(arrays)
    with pytest.raises(InferenceError, match="one or two variables"):
        annealed_gibbs(arrays, np.zeros((1, 3)), chains=2, anneal=1, sweeps=1, seed=0)
