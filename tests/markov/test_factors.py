"""Potentials: validation, the table of the paper, and what each leaves of a prior."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from factcheck_local.core.types import RelationLabel
from factcheck_local.markov import (
    Factor,
    Network,
    Parameterisation,
    infer,
    prior_factor,
    relation_factor,
)

ENTAILMENT, CONTRADICTION, EQUIVALENCE = (
    RelationLabel.ENTAILMENT,
    RelationLabel.CONTRADICTION,
    RelationLabel.EQUIVALENCE,
)


def test_factor_copies_and_freezes_its_table() -> None:
    source = np.array([0.25, 0.75])
    factor = Factor(["x"], source)
    source[0] = 9.0
    assert factor.variables == ("x",)
    assert factor.table.tolist() == [0.25, 0.75]
    assert factor.table.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        factor.table[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        factor.variables = ("y",)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("variables", "table", "message"),
    [
        (("x", "y"), [0.1, 0.9], r"expected a table of shape \(2, 2\), got \(2,\)"),
        (("x",), [0.1, 0.2, 0.7], r"expected a table of shape \(2,\), got \(3,\)"),
        (("x",), [-0.1, 1.1], "finite entries >= 0"),
        (("x",), [math.nan, 1.0], "finite entries >= 0"),
        (("x",), [math.inf, 1.0], "finite entries >= 0"),
        (("x", "x"), [[1, 1], [1, 1]], "distinct"),
        ((), 1.0, "one or more"),
    ],
)
def test_factor_refuses(variables: tuple[str, ...], table: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Factor(variables, table)  # type: ignore[arg-type]


def test_prior_factor_puts_true_at_index_one() -> None:
    assert prior_factor("c", 0.99).table == pytest.approx(np.array([0.01, 0.99]))


# Index [x][y], 0 = false. Table 1 lists x,y / x,¬y / ¬x,y / ¬x,¬y: for p = 0.8
# entailment .8 .2 .8 .8, contradiction .2 .8 .8 .8, equivalence .8 .2 .2 .8.
@pytest.mark.parametrize(
    ("label", "parameterisation", "table"),
    [
        (ENTAILMENT, "table1", [[0.8, 0.8], [0.2, 0.8]]),
        (CONTRADICTION, "table1", [[0.8, 0.8], [0.8, 0.2]]),
        (EQUIVALENCE, "table1", [[0.8, 0.2], [0.2, 0.8]]),
        (ENTAILMENT, "conditional", [[0.6, 0.6], [0.2, 0.8]]),
        (CONTRADICTION, "conditional", [[0.6, 0.6], [0.8, 0.2]]),
        (EQUIVALENCE, "conditional", [[0.8, 0.2], [0.2, 0.8]]),
    ],
)
def test_relation_tables(
    label: RelationLabel, parameterisation: Parameterisation, table: list[list[float]]
) -> None:
    factor = relation_factor(
        label,
        "x",
        "y",
        0.8,
        parameterisation=parameterisation,
        prior_y=0.6,
    )
    assert factor.variables == ("x", "y")
    np.testing.assert_allclose(factor.table, table, rtol=1e-15)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"label": RelationLabel.NEUTRAL}, "neutral relation has no factor"),
        ({"probability": 1.1}, r"probability in \[0, 1\], got 1.1"),
        ({"probability": math.nan}, "probability"),
        ({"prior_y": -0.1}, "prior_y"),
        ({"parameterisation": "table2"}, "table2"),
        ({"y": "x"}, "distinct"),
    ],
)
def test_relation_factor_refuses(changed: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {
        "label": ENTAILMENT,
        "x": "x",
        "y": "y",
        "probability": 0.9,
        "parameterisation": "conditional",
        "prior_y": 0.5,
    }
    with pytest.raises(ValueError, match=message):
        relation_factor(**(arguments | changed))  # type: ignore[arg-type]


def context_of_unrelated_atoms(parameterisation: Parameterisation, count: int, p: float) -> float:
    """P(c) of a context with prior 0.99 that entails ``count`` otherwise isolated atoms."""
    atoms = [f"a{i}" for i in range(count)]
    factors = [prior_factor("c", 0.99), *(prior_factor(a, 0.5) for a in atoms)]
    factors += [
        relation_factor(
            ENTAILMENT,
            "c",
            atom,
            p,
            parameterisation=parameterisation,
            prior_y=0.5,
        )
        for atom in atoms
    ]
    return infer(Network(("c", *atoms), tuple(factors))).p_true["c"]


@pytest.mark.parametrize("count", [0, 1, 10, 300])
def test_conditional_keeps_a_context_at_its_prior(count: int) -> None:
    assert context_of_unrelated_atoms("conditional", count, 0.9) == pytest.approx(0.99, abs=1e-12)


def test_table1_wears_a_context_down() -> None:
    # Each atom multiplies the odds by (p + 1-p) / (p + p) = 1 / 1.8:
    # 99 / 1.8^10 = 0.27726, a probability of 0.21707.
    odds = 99 / 1.8**10
    p_context = context_of_unrelated_atoms("table1", 10, 0.9)
    assert p_context == pytest.approx(odds / (1 + odds), abs=1e-12)
    assert round(p_context, 2) == 0.22


@pytest.mark.parametrize(
    ("label", "prior_y", "ratio"),
    [
        (ENTAILMENT, 0.99, (0.9 * 0.99 + 0.1 * 0.01) / 0.99),  # 0.901: loses a little
        (CONTRADICTION, 0.99, (0.1 * 0.99 + 0.9 * 0.01) / 0.99),  # 0.109: loses a lot
        (ENTAILMENT, 0.1, (0.9 * 0.1 + 0.1 * 0.9) / 0.1),  # 1.8: gains from a doubtful one
    ],
)
def test_conditional_does_not_keep_the_prior_between_contexts(
    label: RelationLabel, prior_y: float, ratio: float
) -> None:
    factors = (
        prior_factor("x", 0.8),
        prior_factor("y", prior_y),
        relation_factor(label, "x", "y", 0.9, parameterisation="conditional", prior_y=prior_y),
    )
    odds = 0.8 / 0.2 * ratio
    p_x = infer(Network(("x", "y"), factors)).p_true["x"]
    assert p_x == pytest.approx(odds / (1 + odds), abs=1e-12)


@pytest.mark.parametrize("parameterisation", ["conditional", "table1"])
@pytest.mark.parametrize("label", [ENTAILMENT, CONTRADICTION])
def test_a_false_premise_leaves_the_hypothesis_at_its_prior(
    label: RelationLabel, parameterisation: Parameterisation
) -> None:
    factors = (
        prior_factor("x", 0.0),
        prior_factor("y", 0.3),
        relation_factor(
            label,
            "x",
            "y",
            0.9,
            parameterisation=parameterisation,
            prior_y=0.3,
        ),
    )
    assert infer(Network(("x", "y"), factors)).p_true["y"] == pytest.approx(0.3, abs=1e-12)
