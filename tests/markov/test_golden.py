"""The worked examples of the FactReasoner paper."""

import pytest

from factcheck_local.core.types import RelationLabel
from factcheck_local.markov import Network, Parameterisation, infer, prior_factor, relation_factor


def example(parameterisation: Parameterisation, third_context: float | None = None) -> Network:
    """c1 entails a (0.8), c2 contradicts a (0.9); optionally c3 contradicts c2."""
    relations = [
        (RelationLabel.ENTAILMENT, "c1", "a", 0.8, 0.5),
        (RelationLabel.CONTRADICTION, "c2", "a", 0.9, 0.5),
    ]
    contexts = ["c1", "c2"]
    if third_context is not None:
        contexts.append("c3")
        relations.append((RelationLabel.CONTRADICTION, "c3", "c2", third_context, 0.99))
    factors = [prior_factor("a", 0.5), *(prior_factor(c, 0.99) for c in contexts)]
    factors += [
        relation_factor(
            label,
            x,
            y,
            p,
            parameterisation=parameterisation,
            prior_y=prior,
        )
        for label, x, y, p, prior in relations
    ]
    return Network(("a", *contexts), tuple(factors))


def test_example_1_table1() -> None:
    # Summing each context out, true and false, for a and for ¬a:
    true = (0.99 * 0.8 + 0.01 * 0.8) * (0.99 * 0.1 + 0.01 * 0.9)  # 0.0864
    false = (0.99 * 0.2 + 0.01 * 0.8) * (0.99 * 0.9 + 0.01 * 0.9)  # 0.1854
    marginals = infer(example("table1"))
    assert marginals.p_true["a"] == pytest.approx(true / (true + false), abs=1e-12)
    assert round(marginals.p_true["a"], 3) == 0.318
    assert marginals.method == "exact (leaf elimination)"


def test_example_1_conditional() -> None:
    true = (0.99 * 0.8 + 0.01 * 0.5) * (0.99 * 0.1 + 0.01 * 0.5)  # 0.797 * 0.104
    false = (0.99 * 0.2 + 0.01 * 0.5) * (0.99 * 0.9 + 0.01 * 0.5)  # 0.203 * 0.896
    marginals = infer(example("conditional"))
    assert marginals.p_true["a"] == pytest.approx(true / (true + false), abs=1e-12)
    assert round(marginals.p_true["a"], 3) == 0.313


@pytest.mark.parametrize(("p", "printed"), [(0.9, 0.41), (0.985, 0.59)])
def test_example_2_table1(p: float, printed: float) -> None:
    # What c3 says to c2: its own prior against the two columns of the factor.
    c2_true = 0.99 * (0.99 * (1 - p) + 0.01 * p)
    c2_false = 0.01 * (0.99 * p + 0.01 * p)
    true = (0.99 * 0.8 + 0.01 * 0.8) * (c2_true * 0.1 + c2_false * 0.9)
    false = (0.99 * 0.2 + 0.01 * 0.8) * (c2_true * 0.9 + c2_false * 0.9)
    p_atom = infer(example("table1", p)).p_true["a"]
    assert p_atom == pytest.approx(true / (true + false), abs=1e-12)
    assert round(p_atom, 2) == printed
    assert p_atom > infer(example("table1")).p_true["a"]
