"""Every method against enumeration, and the invariants of inference."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from factcheck_local.core.errors import InferenceError
from factcheck_local.core.types import RelationLabel
from factcheck_local.markov import (
    Factor,
    Limits,
    Marginals,
    Method,
    Network,
    infer,
    prior_factor,
    relation_factor,
)
from factcheck_local.markov.arrays import compile_network
from factcheck_local.markov.reduce import reduce

from .enumeration import enumerate_marginals
from .strategies import fr2_network, networks_with_zeros, relation_networks

METHODS: tuple[Method, ...] = ("auto", "exact", "bp", "gibbs")
few = settings(max_examples=60, deadline=None)


def assert_same(actual: Marginals, expected: Marginals, tolerance: float = 1e-9) -> None:
    assert list(actual.p_true) == list(expected.p_true)
    assert actual.p_true == pytest.approx(dict(expected.p_true), abs=tolerance)
    assert actual.log_z == pytest.approx(expected.log_z, abs=tolerance, rel=tolerance)


def test_enumeration_by_hand() -> None:
    # x true weighs 0.25 * (2 + 1), x false 0.75 * (1 + 4): 0.75 and 3.75.
    network = Network(("y", "x"), (Factor(("x", "y"), [[1, 4], [2, 1]]), prior_factor("x", 0.25)))
    marginals = enumerate_marginals(network)
    assert marginals.p_true["x"] == pytest.approx(0.75 / 4.5)
    assert marginals.p_true["y"] == pytest.approx((0.75 * 4 + 0.25 * 1) / 4.5)
    assert marginals.log_z == pytest.approx(math.log(4.5))


def test_enumeration_refuses_large_networks() -> None:
    with pytest.raises(InferenceError, match="at most 20 variables, got 21"):
        enumerate_marginals(Network(tuple(f"v{i}" for i in range(21)), ()))


@pytest.mark.parametrize("method", ["auto", "exact"])
@given(network=relation_networks())
@few
def test_random_networks_agree_with_enumeration(network: Network, method: Method) -> None:
    marginals = infer(network, method)
    assert marginals.exact
    assert marginals.converged
    assert_same(marginals, enumerate_marginals(network))


@given(relation_networks(max_variables=16, max_relations=40))
@few
def test_exact_agrees_up_to_sixteen_variables(network: Network) -> None:
    assert_same(infer(network, "exact"), enumerate_marginals(network))


@given(relation_networks(forest=True))
@few
def test_forests_collapse_and_need_no_elimination(network: Network) -> None:
    assert reduce(compile_network(network)).parts == ()
    marginals = infer(network)
    assert marginals.method == "exact (leaf elimination)"
    assert_same(marginals, enumerate_marginals(network))


#: Of what surrounds v2 Gibbs sampling has a P of 1 and a bit, by which v2 was below 0.
ROUNDED = Network(
    ("v0", "v1", "v2", "v3"),
    (
        *[Factor(("v1", "v0"), [[0.0, 0.0], [0.3, 0.0]])] * 5,
        Factor(("v0", "v3"), [[0.0, 0.3], [0.0, 0.0]]),
        Factor(("v3",), [0.0, 0.3]),
        Factor(("v1", "v2"), [[0.0, 0.3], [0.3, 0.0]]),
        Factor(("v3", "v1"), [[0.0, 0.0], [0.0, 0.3]]),
    ),
)


@given(networks_with_zeros())
@example(ROUNDED)
@settings(max_examples=200, deadline=None)
def test_zeros_give_the_exact_answer_or_an_error(network: Network) -> None:
    try:
        expected = enumerate_marginals(network)
    except InferenceError:
        for method in METHODS:
            with pytest.raises(InferenceError, match="conflict is between"):
                infer(network, method)
        return
    assert_same(infer(network), expected)
    for method in ("bp", "gibbs"):
        approximate = infer(network, method)
        assert all(0.0 <= p <= 1.0 for p in approximate.p_true.values())
        assert math.isfinite(approximate.log_z)


@given(relation_networks(max_variables=7), st.randoms(use_true_random=False))
@few
def test_order_does_not_matter(network: Network, random: Random) -> None:
    variables, factors = list(network.variables), list(network.factors)
    random.shuffle(variables)
    random.shuffle(factors)
    turned = [Factor(f.variables[::-1], f.table.T) for f in factors]
    permuted = infer(Network(tuple(variables), tuple(turned)))
    original = infer(network)
    assert dict(permuted.p_true) == pytest.approx(dict(original.p_true), abs=1e-9)
    assert permuted.log_z == pytest.approx(original.log_z, abs=1e-9)


def test_several_components_are_exact_only_together() -> None:
    """A triangle, a tree and an isolated variable: widths and Z combine."""
    triangle = [Factor(p, [[1, 2], [3, 5]]) for p in (("x", "y"), ("y", "z"), ("z", "x"))]
    rest = [Factor(("u", "v"), [[1, 0.5], [0.25, 2]]), prior_factor("w", 0.3)]
    network = Network(("x", "u", "y", "v", "z", "w"), (*triangle, *rest))
    assert infer(network).method == "exact (variable elimination, width 2)"
    assert_same(infer(network), enumerate_marginals(network))


def test_factors_over_three_variables_are_eliminated() -> None:
    table = np.arange(1.0, 9.0).reshape(2, 2, 2)
    factors = (Factor(("z", "x", "y"), table), Factor(("x", "leaf"), [[1, 2], [3, 1]]))
    network = Network(("x", "y", "z", "leaf"), factors)
    assert_same(infer(network), enumerate_marginals(network))
    for method in ("bp", "gibbs"):
        with pytest.raises(InferenceError, match="one or two variables"):
            infer(network, method)


def complete_network(n: int) -> Network:
    names = [f"v{i}" for i in range(n)]
    factors = [prior_factor(v, 0.3) for v in names]
    factors += [
        Factor((x, y), [[1.1, 1.0], [1.0, 1.1]]) for i, x in enumerate(names) for y in names[:i]
    ]
    return Network(tuple(names), tuple(factors))


def test_the_width_limit_is_kept() -> None:
    """A complete graph over n variables has width n - 1."""
    wide = complete_network(14)
    marginals = infer(wide, limits=Limits(max_width=12))
    assert marginals.method == "belief propagation, checked by sampling"
    assert not marginals.exact
    assert marginals.converged
    assert not marginals.multimodal
    expected = enumerate_marginals(wide)
    assert_same(marginals, expected, tolerance=0.01)
    assert infer(wide, limits=Limits(max_width=13)).exact
    with pytest.raises(InferenceError, match="limited to width 12; 14 connected"):
        infer(wide, "exact", Limits(max_width=12))


def test_one_wide_component_makes_the_whole_inexact() -> None:
    wide = complete_network(12)
    triangle = [Factor(p, [[1, 2], [3, 5]]) for p in (("x", "y"), ("y", "z"), ("z", "x"))]
    network = Network((*wide.variables, "x", "y", "z"), (*wide.factors, *triangle))
    marginals = infer(network, limits=Limits(max_width=4))
    assert not marginals.exact
    alone = enumerate_marginals(Network(("x", "y", "z"), tuple(triangle)))
    assert marginals.p_true["x"] == pytest.approx(alone.p_true["x"], abs=1e-12)


def test_a_network_of_fr2_is_eliminated_exactly() -> None:
    """25 atoms, 25 contexts, 80 relations; exact and approximate differ little."""
    network = fr2_network(25, 25, 80, seed=1)
    marginals = infer(network)
    assert marginals.exact
    # Too large to enumerate: conditioning on one variable must add up.
    weights = []
    for clamp in ([1.0, 0.0], [0.0, 1.0]):
        clamped = Network(network.variables, (*network.factors, Factor(("c3",), clamp)))
        weights.append(math.exp(infer(clamped).log_z - marginals.log_z))
    assert sum(weights) == pytest.approx(1.0, abs=1e-9)
    assert weights[1] == pytest.approx(marginals.p_true["c3"], abs=1e-9)
    assert infer(network, "bp").p_true == pytest.approx(dict(marginals.p_true), abs=1e-3)


def test_many_small_weights_do_not_underflow() -> None:
    """A ring of 400 variables: Z by the trace of the transfer matrix's 400th power."""
    n, table = 400, np.array([[1e-4, 3e-4], [2e-4, 1e-4]])
    names = [f"v{i}" for i in range(n)]
    factors = [Factor((names[i], names[(i + 1) % n]), table) for i in range(n)]
    marginals = infer(Network(tuple(names), tuple(factors)))
    # Eigenvalues 1e-4 * (1 ± sqrt 6); ring log Z = log(l1^n + l2^n).
    large = n * math.log(1e-4 * (1 + math.sqrt(6)))
    ratio = ((math.sqrt(6) - 1) / (1 + math.sqrt(6))) ** n
    assert marginals.exact
    assert marginals.log_z == pytest.approx(large + math.log1p(ratio), rel=1e-12)
    # det and trace give both states the same diagonal: P = 1/2.
    assert marginals.p_true["v7"] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("n", [900, 1030, 3000])
def test_many_assignments_do_not_overflow(n: int) -> None:
    """A ring of equivalences: all 2^n assignments weigh as much as the likeliest one."""
    names = [f"v{i}" for i in range(n)]
    half = [[0.5, 0.5], [0.5, 0.5]]
    factors = [Factor((names[i], names[(i + 1) % n]), half) for i in range(n)]
    marginals = infer(Network(tuple(names), tuple(factors)))
    assert marginals.exact
    assert marginals.log_z == pytest.approx(0.0, abs=1e-9)
    assert marginals.p_true["v7"] == pytest.approx(0.5, abs=1e-9)


def test_a_star_of_a_thousand_leaves_does_not_underflow() -> None:
    # Each leaf multiplies the odds of the centre by 1/1.8 (table1, p = 0.9).
    leaves = [f"a{i}" for i in range(1000)]
    factors = [prior_factor("c", 0.99), *(prior_factor(v, 0.5) for v in leaves)]
    factors += [
        relation_factor(
            RelationLabel.ENTAILMENT, "c", v, 0.9, parameterisation="table1", prior_y=0.5
        )
        for v in leaves
    ]
    marginals = infer(Network(("c", *leaves), tuple(factors)))
    log_odds = math.log(99) - 1000 * math.log(1.8)
    assert math.log(marginals.p_true["c"]) == pytest.approx(log_odds, rel=1e-9)


def test_improbable_is_not_impossible() -> None:
    """A thousand and more doubts about x, less than the smallest float, and nothing else left."""
    leaves = [f"a{i}" for i in range(1500)]
    triangle = [Factor(p, [[1, 2], [3, 5]]) for p in (("y", "z"), ("z", "x"))]
    factors = [Factor(("x", "y"), [[0, 0], [1, 1]]), *triangle]
    factors += [Factor(("x", leaf), [[1.0, 1.0], [0.5, 0.5]]) for leaf in leaves]
    marginals = infer(Network(("x", "y", "z", *leaves), tuple(factors)))
    assert marginals.p_true["x"] == 1.0
    # Given x: f(y,z) f(z,x) over y, z is 1*2, 2*5, 3*2, 5*5 for (y,z) = 00, 01, 10, 11.
    assert marginals.p_true["y"] == pytest.approx(31 / 43)
    assert marginals.p_true["z"] == pytest.approx(35 / 43)


@pytest.mark.parametrize("method", METHODS)
def test_an_impossible_network_names_the_conflict(method: Method) -> None:
    """c1 is certain and certainly entails a; c2 likewise contradicts it; d is innocent."""
    factors = (
        prior_factor("c1", 1.0),
        prior_factor("c2", 1.0),
        prior_factor("d", 0.0),
        *(
            relation_factor(label, x, "a", 1.0, parameterisation="conditional", prior_y=0.5)
            for label, x in (
                (RelationLabel.ENTAILMENT, "c1"),
                (RelationLabel.CONTRADICTION, "c2"),
            )
        ),
    )
    with pytest.raises(InferenceError) as caught:
        infer(Network(("c1", "c2", "a", "d"), factors), method)
    message = str(caught.value)
    assert all(part in message for part in ("(c1)", "(c2)", "(c1, a)", "(c2, a)"))
    assert "(d)" not in message
    assert "\n" not in message


def test_certain_evidence_decides() -> None:
    factors = (
        prior_factor("c", 1.0),
        relation_factor(
            RelationLabel.ENTAILMENT, "c", "a", 1.0, parameterisation="conditional", prior_y=0.5
        ),
    )
    for method in METHODS:
        marginals = infer(Network(("c", "a"), factors), method)
        assert dict(marginals.p_true) == {"c": 1.0, "a": 1.0}
        assert marginals.log_z == 0.0


@given(relation_networks(max_variables=12, max_relations=20), st.data())
@few
def test_only_what_is_asked_for_is_computed(network: Network, data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.sampled_from(network.variables), unique=True))
    found = infer(network, wanted=wanted)
    expected = enumerate_marginals(network)
    assert list(found.p_true) == [v for v in network.variables if v in wanted]
    for variable, p in found.p_true.items():
        assert p == pytest.approx(expected.p_true[variable], abs=1e-9)
    assert found.log_z == pytest.approx(expected.log_z, abs=1e-9)


def test_an_unknown_variable_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown variable 'y'"):
        infer(Network(("x",), ()), wanted=["y"])


def test_thousands_of_variables_get_a_defined_result() -> None:
    """2,000 atoms, 6,000 passages, 17,000 relations, some of them certain, some doubled."""
    rng = np.random.default_rng(4)
    names = [*(f"a{i}" for i in range(2000)), *(f"c{i}" for i in range(6000))]
    factors = [prior_factor(v, 0.5 if v.startswith("a") else 0.9) for v in names]
    truth = rng.random(2000) < 0.5
    for _ in range(17000):
        atom = int(rng.integers(2000))
        certain = rng.random() < 0.01
        agrees = truth[atom] if certain else truth[atom] != (rng.random() < 0.1)
        factors.append(
            relation_factor(
                RelationLabel.ENTAILMENT if agrees else RelationLabel.CONTRADICTION,
                f"c{rng.integers(6000)}",
                f"a{atom}",
                1.0 if certain else 0.9,
                parameterisation="conditional",
                prior_y=0.5,
            )
        )
    found = infer(Network(tuple(names), tuple(factors)))
    assert len(found.p_true) == 8000
    assert all(0.0 <= p <= 1.0 for p in found.p_true.values())
    assert math.isfinite(found.log_z)
    assert found.error is not None
    right = [(found.p_true[f"a{i}"] > 0.5) == truth[i] for i in range(2000)]
    assert np.mean(right) > 0.95


def test_no_variables_is_no_problem() -> None:
    marginals = infer(Network((), ()))
    assert (dict(marginals.p_true), marginals.log_z, marginals.exact) == ({}, 0.0, True)


def test_unknown_method() -> None:
    with pytest.raises(ValueError, match="'ve'"):
        infer(Network((), ()), "ve")  # type: ignore[arg-type]
