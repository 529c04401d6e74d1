"""The way to BIF, and what it refuses."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from factcheck_local.core.errors import InferenceError
from factcheck_local.markov import Factor, Network, infer, network_to_bif, prior_factor
from factcheck_local.markov._lazy import pgmpy
from factcheck_local.markov.bif import to_bayesian

from .strategies import fr2_network, networks_with_zeros, relation_networks

pytestmark = pytest.mark.long


def read_again(network: Network) -> dict[str, float]:
    """P(true) of each variable, as pgmpy reads the file and computes."""
    model = pgmpy("readwrite").BIFReader(string=network_to_bif(network)).get_model()
    assert model.check_model()
    assert set(model.nodes()) == set(network.variables)
    solver = pgmpy("inference").VariableElimination(model)
    return {
        v: float(solver.query([v], show_progress=False).get_value(**{v: "true"}))
        for v in network.variables
    }


def test_an_asymmetric_triangle_by_hand() -> None:
    xy, yz, xz = np.array([[1, 2], [3, 5]]), np.array([[1, 7], [2, 1]]), np.array([[4, 1], [1, 1]])
    joint = np.einsum("xy,yz,xz->xyz", xy, yz, xz)
    factors = (Factor(("x", "y"), xy), Factor(("y", "z"), yz), Factor(("z", "x"), xz.T))
    found = to_bayesian(Network(("x", "y", "z"), factors))
    # x is summed out first, so both others are its parents: P(x | y, z).
    table = found.get_cpds("x")
    assert table.variables[0] == "x"
    for state, row in enumerate(("false", "true")):
        at = {"x": row, "y": "true", "z": "false"}
        expected = joint[state, 1, 0] / joint[:, 1, 0].sum()
        assert table.get_value(**at) == pytest.approx(expected, abs=1e-15)
    assert read_again(Network(("x", "y", "z"), factors)) == pytest.approx(
        {
            "x": joint[1].sum() / joint.sum(),
            "y": joint[:, 1].sum() / joint.sum(),
            "z": joint[:, :, 1].sum() / joint.sum(),
        },
        abs=1e-12,
    )


@given(relation_networks(max_variables=8))
@settings(max_examples=15, deadline=None)
def test_pgmpy_reads_the_same_marginals(network: Network) -> None:
    assert read_again(network) == pytest.approx(dict(infer(network, "exact").p_true), abs=1e-9)


@given(networks_with_zeros())
@settings(max_examples=25, deadline=None)
def test_parents_that_cannot_be_so_together_change_nothing(network: Network) -> None:
    try:
        expected = infer(network, "exact").p_true
    except InferenceError:
        with pytest.raises(InferenceError, match="probability zero"):
            network_to_bif(network)
        return
    assert read_again(network) == pytest.approx(dict(expected), abs=1e-9)


def test_a_network_of_fr2() -> None:
    network = fr2_network(12, 12, 30, seed=1)
    assert read_again(network) == pytest.approx(dict(infer(network, "exact").p_true), abs=1e-9)


def test_too_wide_a_network_is_refused_in_one_line() -> None:
    names = [f"v{i}" for i in range(20)]
    factors = tuple(Factor(pair, [[1, 2], [3, 5]]) for pair in combinations(names, 2))
    with pytest.raises(InferenceError, match=r"20 variables .* more than 14 parents") as caught:
        network_to_bif(Network(tuple(names), factors))
    assert "\n" not in str(caught.value)
    assert "--write-uai" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("names", "said"),
    [(("a b",), "'a b' cannot be"), (("2nd",), "'2nd' cannot be"), (("A", "a"), "'A' and 'a'")],
)
def test_names_that_readers_take_for_something_else(names: tuple[str, ...], said: str) -> None:
    with pytest.raises(InferenceError, match=said):
        network_to_bif(Network(names, tuple(prior_factor(v, 0.3) for v in names)))
