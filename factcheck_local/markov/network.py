"""A Markov network over binary variables, and what inference returns for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from factcheck_local.markov._lazy import pgmpy
from factcheck_local.markov.factors import Factor, Table

if TYPE_CHECKING:
    from pgmpy.models import DiscreteMarkovNetwork

#: State names of every variable in pgmpy, in the order of the tables' indices.
STATES = ("false", "true")


@dataclass(frozen=True, eq=False)
class Network:
    """P(x) = (1/Z) ∏ factors, over binary variables; compared by identity.

    Attributes:
        variables: distinct, non-empty names; a variable that no factor
            mentions is uniform and multiplies Z by 2.
        factors: their scopes are among ``variables``; scopes may repeat.
    """

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        """Check the names.

        Raises:
            ValueError: if a name is empty or repeated, or a factor mentions a
                variable that the network does not have.
        """
        known = set(self.variables)
        if "" in known:
            raise ValueError("a variable needs a name that is not empty")
        if len(known) != len(self.variables):
            repeated = next(v for v in self.variables if self.variables.count(v) > 1)
            raise ValueError(f"duplicate variable {repeated!r}")
        for index, factor in enumerate(self.factors):
            for variable in factor.variables:
                if variable not in known:
                    raise ValueError(f"factor {index} mentions unknown variable {variable!r}")

    @property
    def positions(self) -> dict[str, int]:
        """Variable name → its index in ``variables``."""
        return {variable: i for i, variable in enumerate(self.variables)}

    def to_pgmpy(self) -> DiscreteMarkovNetwork:
        """The same network as a pgmpy ``DiscreteMarkovNetwork``, with the same Z.

        States are named ``STATES``. Factors over the same variables are
        multiplied: pgmpy's elimination along an order keeps factors in sets
        and would silently lose one of two equal ones. A variable
        without a factor gets a constant one, as pgmpy requires.
        """
        discrete_factor = pgmpy("factors.discrete").DiscreteFactor
        model = pgmpy("models").DiscreteMarkovNetwork()
        model.add_nodes_from(self.variables)
        position = self.positions
        products: dict[tuple[str, ...], Table] = {}
        for factor in self.factors:
            order = np.argsort([position[v] for v in factor.variables])
            scope = tuple(factor.variables[i] for i in order)
            products[scope] = factor.table.transpose(order) * products.get(scope, 1.0)
        touched = {variable for scope in products for variable in scope}
        products.update({(v,): np.ones(2) for v in self.variables if v not in touched})
        for scope, table in products.items():
            model.add_edges_from(combinations(scope, 2))
            # pgmpy reshapes in C order: the rightmost variable cycles fastest,
            # as in our tables and whatever its docstring says.
            names = {variable: list(STATES) for variable in scope}
            model.add_factors(discrete_factor(list(scope), list(table.shape), table, names))
        return model


@dataclass(frozen=True)
class Marginals:
    """The posterior of every variable, and how it was computed.

    Attributes:
        p_true: variable → P(variable is true), in [0, 1], in the network's order.
        log_z: natural logarithm of the partition function; an estimate of it, or
            of a part's, where that was approximated.
        exact: whether the numbers are exact up to rounding.
        converged: False if belief propagation stopped before a fixed point.
        method: what was used, for people to read.
        multimodal: whether belief propagation came to different beliefs from
            different starts.
        iterations: sweeps of an iterative method, 0 for the others.
        error: estimate of the largest error of a probability; 0 if exact, None if
            the method has none.
    """

    p_true: Mapping[str, float]
    log_z: float
    exact: bool
    converged: bool
    method: str
    multimodal: bool = False
    iterations: int = 0
    error: float | None = 0.0
