"""Leaf elimination: trees are solved in closed form, what is left is the core.

A leaf is a variable with one neighbour and no factor over three or more
variables. Summing it out sends one message to its neighbour; afterwards its
posterior is a mixture of its conditionals given that neighbour. Everything is
kept as natural logarithms, with the scales apart, so that nothing underflows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from factcheck_local.errors import InferenceError
from factcheck_local.markov.factors import Table, from_log_table, log_products
from factcheck_local.markov.network import Network


@dataclass(frozen=True, eq=False)
class _Step:
    """A variable summed out.

    Attributes:
        variable: the variable.
        neighbour: the one it depended on; None for the last one of a tree.
        p_true: shape (2,), P(variable true | neighbour false, neighbour true),
            or twice the same probability where there is no neighbour.
    """

    variable: str
    neighbour: str | None
    p_true: Table


@dataclass(frozen=True, eq=False)
class Reduction:
    """A network without its leaves, and how to get them back.

    Attributes:
        variables: all variables of the original network, in its order.
        core: what could not be stripped; each scope occurs once and the
            largest entry of each factor is 1. Without variables for a forest.
        log_scale: log Z of the network minus log Z of the core (natural).
    """

    variables: tuple[str, ...]
    core: Network
    log_scale: float
    _steps: tuple[_Step, ...]

    def restore(self, core_p_true: Mapping[str, float]) -> dict[str, float]:
        """P(true) of every variable, given that of every variable of the core.

        Exact if the core's are: a leaf depends on the rest only through its
        neighbour.
        """
        p_true = dict(core_p_true)
        for step in reversed(self._steps):
            weight = 0.0 if step.neighbour is None else p_true[step.neighbour]
            mixed = (1.0 - weight) * step.p_true[0] + weight * step.p_true[1]
            p_true[step.variable] = min(1.0, float(mixed))
        return {variable: p_true[variable] for variable in self.variables}


class _Stripper:
    """The working state: unary and pairwise logs, and the scale taken out of them."""

    def __init__(self, network: Network) -> None:
        self.log_scale = 0.0
        self.unary: dict[str, Table] = {v: np.zeros(2) for v in network.variables}
        #: variable → neighbour → log table, axes (variable, neighbour).
        self.pairs: dict[str, dict[str, Table]] = {v: {} for v in network.variables}
        self.larger: dict[tuple[str, ...], Table] = {}
        self.steps: list[_Step] = []
        for scope, logs in log_products(network.factors, network.positions).items():
            scaled = self._take_scale(logs, scope)
            if len(scope) == 1:
                self.unary[scope[0]] = scaled
            elif len(scope) == 2:
                x, y = scope
                self.pairs[x][y], self.pairs[y][x] = scaled, scaled.T
            else:
                self.larger[scope] = scaled
        self._pinned = {variable for scope in self.larger for variable in scope}

    def _take_scale(self, logs: Table, scope: tuple[str, ...]) -> Table:
        """Shift the largest entry to 0 and remember by how much."""
        peak = float(logs.max())
        if peak == -np.inf:
            raise InferenceError(
                f"no state of {', '.join(scope)} is possible: the relations rule out all of them"
            )
        self.log_scale += peak
        return logs - peak

    def strip(self, variable: str) -> str | None:
        """Sum out a variable if it is a leaf or alone; its neighbour, if it had one."""
        neighbours = self.pairs[variable]
        if len(neighbours) > 1 or variable in self._pinned:
            return None
        own = self.unary.pop(variable)
        del self.pairs[variable]
        if not neighbours:
            total = np.logaddexp(own[0], own[1])
            self.log_scale += float(total)
            self.steps.append(_Step(variable, None, np.full(2, np.exp(own[1] - total))))
            return None
        ((neighbour, table),) = neighbours.items()
        del self.pairs[neighbour][variable]
        joint = table.T + own
        message = np.logaddexp(joint[:, 0], joint[:, 1])
        # Where a state of the neighbour is impossible its weight in the
        # mixture is 0, and any conditional will do.
        possible = np.where(np.isneginf(message), 0.0, message)
        self.steps.append(_Step(variable, neighbour, np.exp(joint[:, 1] - possible)))
        self.unary[neighbour] = self._take_scale(self.unary[neighbour] + message, (neighbour,))
        return neighbour


def reduce(network: Network) -> Reduction:
    """Merge factors of equal scope and strip leaves until none is left.

    Raises:
        InferenceError: if a variable has no possible state left (Z = 0).
    """
    work = _Stripper(network)
    for variable in network.variables:
        current: str | None = variable
        while current in work.unary:
            current = work.strip(current)
    variables = tuple(v for v in network.variables if v in work.unary)
    position = network.positions
    factors = [from_log_table((v,), work.unary[v]) for v in variables]
    factors += [
        from_log_table((x, y), table)
        for x in variables
        for y, table in work.pairs[x].items()
        if position[x] < position[y]
    ]
    factors += [from_log_table(scope, table) for scope, table in work.larger.items()]
    core = Network(variables, tuple(factors))
    return Reduction(network.variables, core, work.log_scale, tuple(work.steps))
