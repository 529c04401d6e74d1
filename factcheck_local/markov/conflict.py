"""Which factors make a network impossible (Z = 0).

Zeros of unary and pairwise factors over binary variables are clauses of at
most two literals, so whether any assignment survives is 2-satisfiability:
decidable in linear time at any treewidth (Aspvall, Plass and Tarjan 1979).
"""

from itertools import pairwise

import numpy as np

from factcheck_local.markov import _lazy
from factcheck_local.markov.factors import Factor
from factcheck_local.markov.network import Network


def find_conflict(network: Network) -> tuple[Factor, ...]:
    """Factors that together rule out every assignment; empty if Z > 0.

    Factors over three or more variables are not looked at: with those, an
    empty answer does not prove Z > 0. The set explains the conflict but need
    not be the smallest one.
    """
    with_zeros = [f for f in network.factors if len(f.variables) <= 2 and np.any(f.table == 0.0)]
    if not with_zeros:
        return ()
    nx = _lazy.networkx()
    graph = _implications(with_zeros)
    part_of = {
        literal: part
        for part, literals in enumerate(nx.strongly_connected_components(graph))
        for literal in literals
    }
    for variable in network.variables:
        false, true = (variable, 0), (variable, 1)
        if true in part_of and part_of[true] == part_of.get(false):
            there = nx.shortest_path(graph, false, true)
            back = nx.shortest_path(graph, true, false)
            steps = [*pairwise(there), *pairwise(back)]
            return tuple(dict.fromkeys(graph.edges[step]["factor"] for step in steps))
    return ()


def _implications(factors: list[Factor]) -> _lazy.Graph:
    """The implication graph: from a literal (variable, state) to what it forces."""
    graph = _lazy.networkx().DiGraph()
    for factor in factors:
        for index in np.argwhere(factor.table == 0.0).tolist():
            excluded = list(zip(factor.variables, index, strict=True))
            # A unary zero is the clause "not l or not l": l forces its own opposite.
            for one, other in zip(excluded, reversed(excluded), strict=True):
                variable, state = other
                graph.add_edge(one, (variable, 1 - state), factor=factor)
    return graph
