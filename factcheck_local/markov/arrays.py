"""A network as numpy arrays: what every method of inference computes on.

Variables are numbered in the network's order. All potentials are natural
logarithms, -inf where an entry is zero.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factcheck_local.markov.factors import Table, log_table
from factcheck_local.markov.network import Network

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Arrays:
    """Potentials over n binary variables, one of each scope.

    Attributes:
        unary: (n, 2) potentials of the single variables.
        ends: (E, 2) the variables of each pair, the smaller first, no pair twice.
        tables: (E, 2, 2) potentials of the pairs, axes (pair, first, second).
        larger: potentials over three and more variables, with their scopes in
            ascending order.
    """

    unary: Table
    ends: Indices
    tables: Table
    larger: tuple[tuple[tuple[int, ...], Table], ...] = ()

    @property
    def count(self) -> int:
        """n, the number of variables."""
        return len(self.unary)

    def subset(self, members: Indices, pairs: Indices) -> "Arrays":
        """The part over ``members``, ascending, renumbered, with the given pairs.

        ``larger`` stays with the members if its first variable is among them.
        """
        place = np.full(self.count, -1, dtype=np.intp)
        place[members] = np.arange(len(members))
        larger = tuple(
            (tuple(int(place[v]) for v in scope), table)
            for scope, table in self.larger
            if place[scope[0]] >= 0
        )
        return Arrays(self.unary[members], place[self.ends[pairs]], self.tables[pairs], larger)


def compile_network(network: Network) -> Arrays:
    """Number the variables and multiply the factors that share their scope."""
    position = network.positions
    unary = np.zeros((len(position), 2))
    single: list[int] = []
    single_tables: list[Table] = []
    pair: list[tuple[int, int]] = []
    pair_tables: list[Table] = []
    larger: dict[tuple[int, ...], Table] = {}
    for factor in network.factors:
        scope = factor.variables
        if len(scope) == 2:
            pair.append((position[scope[0]], position[scope[1]]))
            pair_tables.append(factor.table)
        elif len(scope) == 1:
            single.append(position[scope[0]])
            single_tables.append(factor.table)
        else:
            numbers = [position[v] for v in scope]
            order = np.argsort(numbers)
            key = tuple(sorted(numbers))
            table = log_table(factor.table.transpose(order))
            larger[key] = larger[key] + table if key in larger else table
    if single:
        np.add.at(unary, single, log_table(np.array(single_tables)))
    ends, tables = _merge_pairs(
        np.array(pair, dtype=np.intp).reshape(-1, 2),
        log_table(np.array(pair_tables, dtype=np.float64).reshape(-1, 2, 2)),
        len(position),
    )
    return Arrays(unary, ends, tables, tuple(sorted(larger.items(), key=lambda item: item[0])))


def part_of(ends: Indices, count: int) -> NDArray[np.int32]:
    """Which connected part each of ``count`` nodes is in, the parts numbered by their first node.

    Args:
        ends: (K, 2) the nodes that each edge joins.
        count: of the nodes, which are numbered from 0.
    """
    from scipy.sparse import coo_array, csgraph  # not every command infers

    edges = np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1])
    graph = coo_array(edges, (count, count))
    label: NDArray[np.int32] = csgraph.connected_components(graph, directed=False)[1]
    return label


def _merge_pairs(ends: Indices, tables: Table, count: int) -> tuple[Indices, Table]:
    """Turn every pair so that its smaller end is first, and add up those of equal ends.

    Args:
        ends: (K, 2) two distinct variables each.
        tables: (K, 2, 2).
        count: number of variables.

    Returns:
        Ends and tables with each pair once, in ascending order.
    """
    turned = ends[:, 0] > ends[:, 1]
    ends = np.where(turned[:, None], ends[:, ::-1], ends)
    tables = np.where(turned[:, None, None], tables.swapaxes(1, 2), tables)
    keys, first, group = np.unique(
        ends[:, 0] * count + ends[:, 1], return_index=True, return_inverse=True
    )
    merged = np.zeros((len(keys), 2, 2))
    np.add.at(merged, group, tables)
    return ends[first], merged
