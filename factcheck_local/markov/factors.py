"""Potentials over binary variables, and those that FactReasoner builds a network from.

Tables are linear (not logarithms), non-negative and unnormalised. Along every
axis index 0 means the variable is false, index 1 that it is true.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from factcheck_local.core.types import RelationLabel

Table = NDArray[np.float64]
Parameterisation = Literal["conditional", "table1"]


@dataclass(frozen=True, eq=False, init=False)
class Factor:
    """A non-negative function of a few binary variables; compared by identity.

    Attributes:
        variables: the scope, one distinct name for each axis of ``table``.
        table: float64 array of shape ``(2,) * len(variables)``, read-only, linear.
    """

    variables: tuple[str, ...]
    table: Table

    def __init__(self, variables: Iterable[str], table: ArrayLike) -> None:
        """Copy and freeze the table.

        Raises:
            ValueError: if the scope is empty or repeats a name, the table has
                another shape, or an entry is negative or not finite.
        """
        scope = tuple(variables)
        values = np.array(table, dtype=np.float64)
        if not scope or len(set(scope)) != len(scope):
            raise ValueError(f"expected one or more distinct variables, got {scope}")
        expected = (2,) * len(scope)
        if values.shape != expected:
            raise ValueError(
                f"factor over {scope}: expected a table of shape {expected}, got {values.shape}"
            )
        if not np.all(np.isfinite(values) & (values >= 0.0)):
            raise ValueError(
                f"factor over {scope}: expected finite entries >= 0, got {values.tolist()}"
            )
        values.setflags(write=False)
        object.__setattr__(self, "variables", scope)
        object.__setattr__(self, "table", values)


def prior_factor(variable: str, p_true: float) -> Factor:
    """The unary factor f(x) = ``p_true``, f(¬x) = 1 - ``p_true``.

    Source: FactReasoner, section 3.1 (0.5 for an atom, the reliability of its
    source for a context).

    Raises:
        ValueError: if ``p_true`` is outside [0, 1].
    """
    _check_probability("p_true", p_true)
    return Factor((variable,), [1.0 - p_true, p_true])


def relation_factor(
    label: RelationLabel,
    x: str,
    y: str,
    probability: float,
    *,
    parameterisation: Parameterisation,
    prior_y: float,
) -> Factor:
    """The binary factor for "X ``label`` Y with probability p", axes (x, y).

    Rows are the states of X, columns those of Y::

                         entailment          contradiction       equivalence
                         ¬y       y          ¬y       y          ¬y     y
        x                1-p      p          p        1-p        1-p    p
        ¬x, table1       p        p          p        p          p      1-p
        ¬x, conditional  prior_y  prior_y    prior_y  prior_y    p      1-p

    ``table1`` is Table 1 of the FactReasoner paper (section 3.1), ``conditional`` what the
    authors' later code does. They differ in what a relation says about X
    before anything is known of Y, which is Σ_y f(y)·factor(x, y):

    * Y an atom with prior ½. Under ``conditional`` both rows add up to one, so
      an otherwise unrelated atom leaves X at its prior, however many there
      are. Under ``table1`` the ¬x row adds up to 2p: each such relation
      multiplies the odds of X by 1/(2p).
    * Y with another prior q, a context as a rule. The ¬x row adds up to 2q,
      so the prior of X is **not** kept even under ``conditional``: its odds are
      multiplied by (p·q + (1-p)(1-q))/q for an entailment and by
      ((1-p)·q + p·(1-q))/q for a contradiction. At q = 0.99, p = 0.9 that is
      0.90 and 0.11. For q below ½ an entailment raises X, and q = 0 rules ¬x
      out altogether.
    * The prior of Y is kept by the ¬x row of either, which does not depend on
      y. Equivalence is the same in both and symmetric in X and Y; with a
      prior of ½ on one side it leaves the other where it is.

    Args:
        label: entailment, contradiction or equivalence.
        x: the premise.
        y: the hypothesis.
        probability: p of the relation model, in [0, 1].
        parameterisation: which value the ¬x row has.
        prior_y: prior P(y) in [0, 1], 0.5 for an atom; ``table1`` ignores it.

    Raises:
        ValueError: for a neutral relation, which has no factor; for a
            probability outside [0, 1]; for an unknown parameterisation; if x
            and y are the same variable.
    """
    _check_probability("probability", probability)
    _check_probability("prior_y", prior_y)
    if parameterisation not in ("conditional", "table1"):
        raise ValueError(f"expected 'conditional' or 'table1', got {parameterisation!r}")
    p, q = probability, 1.0 - probability
    premise_false = p if parameterisation == "table1" else prior_y
    match label:
        case RelationLabel.ENTAILMENT:
            table = [[premise_false, premise_false], [q, p]]
        case RelationLabel.CONTRADICTION:
            table = [[premise_false, premise_false], [p, q]]
        case RelationLabel.EQUIVALENCE:
            table = [[p, q], [q, p]]
        case _:
            raise ValueError(f"a {label} relation has no factor ({x} to {y})")
    return Factor((x, y), table)


def log_table(table: Table) -> Table:
    """Natural logarithm of a table, -inf where an entry is zero."""
    with np.errstate(divide="ignore"):
        return np.log(table)


def p_of_log_odds(log_odds: Table) -> Table:
    """Probability of each log odds; 0 below about -37, where a double near 1 ends, too."""
    found: Table = 0.5 + 0.5 * np.tanh(0.5 * log_odds)
    return found


def _check_probability(name: str, value: float) -> None:
    if not (math.isfinite(value) and 0.0 <= value <= 1.0):
        raise ValueError(f"expected {name} in [0, 1], got {value}")
