"""Networks: validation, components, and the way to pgmpy."""

import subprocess
import sys

import numpy as np
import pytest

from factcheck_local.core.errors import InferenceError
from factcheck_local.markov import Factor, Network, infer, infer_by_pgmpy, prior_factor

from .strategies import fr2_network


@pytest.mark.parametrize(
    ("variables", "factors", "message"),
    [
        (("x", "y", "x"), (), "duplicate variable 'x'"),
        (("x", ""), (), "not empty"),
        (("x",), (prior_factor("x", 0.5), prior_factor("z", 0.5)), "factor 1 .* 'z'"),
    ],
)
def test_network_refuses(
    variables: tuple[str, ...], factors: tuple[Factor, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Network(variables, factors)


def test_the_rightmost_variable_cycles_fastest_in_pgmpy() -> None:
    table = [[1.0, 2.0], [3.0, 5.0]]  # table[x][y], no symmetry
    (factor,) = Network(("x", "y"), (Factor(("x", "y"), table),)).to_pgmpy().get_factors()
    assert factor.get_value(x="false", y="true") == pytest.approx(2.0)
    assert factor.get_value(x="true", y="false") == pytest.approx(3.0)
    assert factor.values.ravel() == pytest.approx([1.0, 2.0, 3.0, 5.0])
    assert factor.state_names["x"] == ["false", "true"]


def test_an_asymmetric_cycle_by_hand() -> None:
    # Three variables in a cycle are a core, so they are eliminated. The sums
    # over the eight assignments, with f(x,y) f(y,z) f(x,z) written out:
    xy, yz, xz = np.array([[1, 2], [3, 5]]), np.array([[1, 7], [2, 1]]), np.array([[4, 1], [1, 1]])
    joint = np.einsum("xy,yz,xz->xyz", xy, yz, xz)
    factors = (Factor(("x", "y"), xy), Factor(("y", "z"), yz), Factor(("z", "x"), xz.T))
    marginals = infer(Network(("x", "y", "z"), factors))
    assert marginals.method == "exact (variable elimination, width 2)"
    assert marginals.log_z == pytest.approx(np.log(joint.sum()), abs=1e-12)
    assert marginals.p_true == pytest.approx(
        {
            "x": joint[1].sum() / joint.sum(),
            "y": joint[:, 1].sum() / joint.sum(),
            "z": joint[:, :, 1].sum() / joint.sum(),
        },
        abs=1e-12,
    )


def test_to_pgmpy_multiplies_equal_factors_and_completes_missing_ones() -> None:
    f = Factor(("x", "y"), [[1.0, 2.0], [3.0, 5.0]])
    model = Network(("x", "y", "alone"), (f, f)).to_pgmpy()
    assert model.check_model()
    # Z = 2 (alone, uniform) * (1 + 4 + 9 + 25)
    assert model.get_partition_function() == pytest.approx(2 * 39)


def test_pgmpy_gives_the_same_marginals_and_z() -> None:
    """Of more variables than a table over all of them could have."""
    network = fr2_network(40, 40, 60, seed=2)
    found, expected = infer_by_pgmpy(network), infer(network)
    assert found.p_true == pytest.approx(dict(expected.p_true), abs=1e-9)
    assert found.log_z == pytest.approx(expected.log_z, abs=1e-9)


def test_what_pgmpy_cannot_solve_is_an_error() -> None:
    impossible = (prior_factor("x", 1.0), Factor(("x",), [1.0, 0.0]))
    with pytest.raises(InferenceError, match="Z is 0"):
        infer_by_pgmpy(Network(("x",), impossible))


def test_imports_are_lazy_and_pgmpy_leaves_no_trace() -> None:
    """In a fresh process: cheap import, untouched root logger, silent conversion."""
    program = """
import logging, sys
import factcheck_local.markov as markov
heavy = {"pgmpy", "networkx", "pandas", "scipy", "torch"} & set(sys.modules)
if heavy:
    sys.exit(f"imported {heavy}")
cycle = [markov.Factor(pair, [[1, 2], [3, 5]]) for pair in (("x", "y"), ("y", "z"), ("z", "x"))]
network = markov.Network(("x", "y", "z"), tuple(cycle))
result = markov.infer(network)
if "pgmpy" in sys.modules or "variable elimination" not in result.method:
    sys.exit("pgmpy is not needed to infer")
network.to_pgmpy()
root = logging.getLogger()
if root.handlers or root.level != logging.WARNING:
    sys.exit(f"root logger: {root.handlers}, {root.level}")
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
