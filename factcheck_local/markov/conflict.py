"""Which factors make a network impossible (Z = 0).

Zeros of unary and pairwise factors over binary variables are clauses of at
most two literals, so whether any assignment survives is 2-satisfiability:
decidable in linear time at any treewidth (Aspvall, Plass and Tarjan 1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from factcheck_local.markov.factors import Factor
from factcheck_local.markov.network import Network

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def find_conflict(network: Network) -> tuple[Factor, ...]:
    """Factors that together rule out every assignment; empty if Z > 0.

    Factors over three or more variables are not looked at: with those, an
    empty answer does not prove Z > 0. The set explains the conflict but need
    not be the smallest one.
    """
    with_zeros = [f for f in network.factors if len(f.variables) <= 2 and np.any(f.table == 0.0)]
    if not with_zeros:
        return ()
    forced = _implications(with_zeros, network.positions)
    ends, size = np.array(list(forced)), 2 * len(network.variables)
    from scipy.sparse import csgraph, csr_array

    graph = csr_array((np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1])), (size, size))
    part = csgraph.connected_components(graph, connection="strong")[1].tolist()
    for false in range(0, size, 2):
        true = false + 1
        if part[false] == part[true]:
            steps = [*_path(graph, false, true), *_path(graph, true, false)]
            return tuple(dict.fromkeys(forced[step] for step in steps))
    return ()


def _path(graph: csr_array, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The edges of a shortest path, the last first."""
    from scipy.sparse.csgraph import breadth_first_order

    before = breadth_first_order(graph, start)[1].tolist()
    while end != start:
        yield before[end], end
        end = before[end]


def _implications(
    factors: list[Factor], position: Mapping[str, int]
) -> dict[tuple[int, int], Factor]:
    """From a literal to one that it forces, and by which factor.

    The literal "variable i has state s" is the number 2 i + s.
    """
    found = {}
    for factor in factors:
        for index in np.argwhere(factor.table == 0.0).tolist():
            excluded = [2 * position[v] + s for v, s in zip(factor.variables, index, strict=True)]
            # A unary zero is the clause "not l or not l": l forces its own opposite.
            for one, other in zip(excluded, reversed(excluded), strict=True):
                found[one, other ^ 1] = factor
    return found
