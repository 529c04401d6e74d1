"""Exact marginals of a connected network of small treewidth, by pgmpy's variable elimination.

pgmpy answers one query at a time and would repeat the whole elimination for
every variable. Instead each query asks for the joint table of one bag of a
tree decomposition, eliminating the rest towards that bag: no table grows
beyond the largest bag, and a few queries cover all variables.
"""

from dataclasses import dataclass

import numpy as np

from factcheck_local.errors import InferenceError
from factcheck_local.markov import _lazy
from factcheck_local.markov.factors import Table, from_log_table, log_products
from factcheck_local.markov.network import Network

#: Widest network to eliminate. A table of width w has 2^(w+1) entries of 8
#: bytes; at 18 a query takes some tenths of a second, and there is about one
#: query for every two variables.
MAX_WIDTH = 16

#: Neighbouring bags are merged up to this many variables: tables of 2^12
#: entries cost little more than small ones, and there are fewer queries.
_MERGED_BAG = 12

#: An anchor whose factor value is below the factor's largest by more than
#: this (natural log) says more about the search than about the factor.
_ANCHOR_SLACK = 50.0
_ANCHOR_SWEEPS = 20


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A tree decomposition of a network's graph.

    Attributes:
        width: size of the largest bag minus one; an upper bound on the
            treewidth, or a lower bound where ``bags`` is None.
        bags: a ``networkx.Graph``, a tree of frozensets of variable indices;
            None where the graph is certainly wider than ``MAX_WIDTH``.
    """

    width: int
    bags: _lazy.Graph | None

    @property
    def feasible(self) -> bool:
        """Whether elimination along it stays within ``MAX_WIDTH``."""
        return self.bags is not None and self.width <= MAX_WIDTH


def decompose(network: Network) -> Decomposition:
    """A tree decomposition of a connected network, by the min-fill heuristic.

    The largest k for which the graph has a k-core bounds the treewidth from
    below and costs little, so dense graphs are recognised without min-fill.
    """
    graph = network.graph()
    nx = _lazy.networkx()
    degeneracy = max(nx.core_number(graph).values())
    if degeneracy > MAX_WIDTH:
        return Decomposition(degeneracy, None)
    width, bags = nx.approximation.treewidth_min_fill_in(graph)
    return Decomposition(width, bags)


def eliminate(network: Network, decomposition: Decomposition) -> tuple[dict[str, float], float]:
    """P(true) of every variable of a connected network, and the natural log of Z.

    Args:
        network: connected, with at least one variable.
        decomposition: of this network; the tables are as large as its bags.

    Raises:
        InferenceError: if the network is too wide, or Z is zero or out of the
            range of floating point.
    """
    if not decomposition.feasible:
        raise InferenceError(
            f"exact inference needs a width of at most {MAX_WIDTH}, the network has "
            f"{decomposition.width} over {len(network.variables)} variables"
        )
    scaled, log_scale = _anchored(network)
    solver = _lazy.pgmpy("inference").VariableElimination(scaled.to_pgmpy())
    tree = _merge_bags(decomposition.bags)
    p_true: dict[str, float] = {}
    log_z = -np.inf
    for bag in _covering_bags(tree):
        query = [network.variables[i] for i in sorted(tree.nodes[bag]["variables"])]
        order = [network.variables[i] for i in _order_towards(tree, bag)]
        # The result is not normalised for a Markov network, and its axes come
        # in an order of pgmpy's own.
        joint = solver.query(query, elimination_order=order, show_progress=False)
        z = float(joint.values.sum())
        if not (np.isfinite(z) and z > 0.0):
            raise InferenceError(
                f"the weights of {len(network.variables)} connected variables add up to {z:g}: "
                "they contradict each other, or leave the range of floating point"
            )
        log_z = float(np.log(z)) + log_scale
        for axis, variable in enumerate(joint.variables):
            mass = float(joint.values.take(1, axis=axis).sum())
            p_true.setdefault(variable, min(1.0, mass / z))
    return p_true, log_z


def _merge_bags(bags: _lazy.Graph) -> _lazy.Graph:
    """Contract edges of a tree decomposition, which leaves a tree decomposition.

    Returns:
        A tree over the numbers of bags, each with its set ``variables``.
    """
    nx = _lazy.networkx()
    number = {bag: i for i, bag in enumerate(bags)}
    variables = [set(bag) for bag in bags]
    merged_into = list(range(len(variables)))
    edges = [(number[parent], number[bag]) for parent, bag in nx.bfs_edges(bags, next(iter(bags)))]
    for parent, bag in reversed(edges):
        union = variables[parent] | variables[bag]
        if len(union) <= _MERGED_BAG:
            variables[parent] = union
            merged_into[bag] = parent
    tree = nx.Graph()
    tree.add_node(0, variables=variables[0])
    for parent, bag in edges:  # outwards, so the parent's own fate is settled
        if merged_into[bag] == bag:
            tree.add_node(bag, variables=variables[bag])
            tree.add_edge(merged_into[parent], bag)
        else:
            merged_into[bag] = merged_into[parent]
    return tree


def _covering_bags(tree: _lazy.Graph) -> list[int]:
    """Bags that together hold every variable, greedily few of them."""
    variables = dict(tree.nodes(data="variables"))
    remaining = set().union(*variables.values())
    chosen = []
    while remaining:
        best = max(variables, key=lambda bag: len(variables[bag] & remaining))
        chosen.append(best)
        remaining -= variables[best]
    return chosen


def _order_towards(tree: _lazy.Graph, root: int) -> list[int]:
    """An elimination order that ends at ``root`` and makes no table larger than a bag.

    Leaves of the tree first: what a bag does not share with the next bag
    towards the root occurs nowhere else any more.
    """
    variables = tree.nodes.data("variables")
    inwards = reversed(list(_lazy.networkx().bfs_edges(tree, root)))
    return [v for parent, bag in inwards for v in sorted(variables[bag] - variables[parent])]


def _anchored(network: Network) -> tuple[Network, float]:
    """The network with each factor divided by its value at one likely assignment.

    That assignment then weighs 1, so Z, a sum that contains it, cannot
    underflow however many factors there are.

    Returns:
        The network and the natural log of what it was divided by.
    """
    products = log_products(network.factors, network.positions)
    anchor = _likely_assignment(network, products)
    log_scale = 0.0
    factors = []
    for scope, logs in products.items():
        peak = float(logs.max())
        if peak == -np.inf:
            raise InferenceError(f"no state of {', '.join(scope)} is possible")
        value = float(logs[tuple(anchor[v] for v in scope)])
        shift = value if value > peak - _ANCHOR_SLACK else peak
        factors.append(from_log_table(scope, logs - shift))
        log_scale += shift
    return Network(network.variables, tuple(factors)), log_scale


def _likely_assignment(network: Network, products: dict[tuple[str, ...], Table]) -> dict[str, int]:
    """A local maximum of the network's weight, by coordinate ascent from all true."""
    state = dict.fromkeys(network.variables, 1)
    touching: dict[str, list[tuple[tuple[str, ...], Table]]] = {v: [] for v in state}
    for scope, logs in products.items():
        for variable in scope:
            touching[variable].append((scope, logs))
    for _ in range(_ANCHOR_SWEEPS):
        before = dict(state)
        for variable in state:
            weights = [
                sum(
                    float(logs[tuple(value if v == variable else state[v] for v in scope)])
                    for scope, logs in touching[variable]
                )
                for value in (0, 1)
            ]
            state[variable] = int(weights[1] >= weights[0])
        if state == before:
            break
    return state
