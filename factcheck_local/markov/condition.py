"""Exact inference by cases: fix a few variables, solve each case, weigh the cases.

Fixing a variable takes its potentials away, so the rest may be narrow enough to
eliminate. Each one fixed doubles the cases and lowers the width by one at most:
what is saved is memory, not time (Pearl 1988, section 4.3).
"""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from factcheck_local.markov.arrays import Arrays, Indices, merge_pairs
from factcheck_local.markov.factors import Table
from factcheck_local.markov.order import Order, bits, min_degree, neighbourhoods

#: Variables tried for each place in the cut set: those of the most neighbours.
_CANDIDATES = 8


def cut_set(arrays: Arrays, max_width: int, max_cut: int) -> tuple[int, ...] | None:
    """Few variables without which the network is narrow enough, or None.

    Greedily the one whose removal makes elimination cheapest, among those with the
    most neighbours.

    Args:
        arrays: the network.
        max_width: that has to be reached.
        max_cut: variables to take away at most.
    """
    near = neighbourhoods(arrays)
    cut: list[int] = []
    while len(cut) < max_cut:
        ranked = sorted(range(arrays.count), key=lambda v: (-near[v].bit_count(), v))
        trials: list[tuple[int, int, Order]] = []
        for v in ranked[:_CANDIDATES]:
            order = min_degree(_without(near, v), max_width + max_cut)
            if order is not None:
                trials.append((order.cost, v, order))
        if not trials:
            return None
        _, chosen, order = min(trials, key=lambda t: t[:2])
        cut.append(chosen)
        near = _without(near, chosen)
        if order.width <= max_width:
            return tuple(cut)
    return None


def by_cases(
    arrays: Arrays, cut: Sequence[int], solve: Callable[[Arrays], tuple[Table, float]]
) -> tuple[Table, float]:
    """P(true) of every variable and log Z, summed over the states of ``cut``.

    Args:
        arrays: the network, n variables.
        cut: c of them; ``solve`` is called 2^c times.
        solve: gives (n,) probabilities and log Z, -inf for an impossible case.
    """
    cases = [
        solve(fixed(arrays, dict(zip(cut, states, strict=True))))
        for states in product((0, 1), repeat=len(cut))
    ]
    total = float(np.logaddexp.reduce([log_z for _, log_z in cases]))
    p_true = np.zeros(arrays.count)
    for found, log_z in cases:
        # The probabilities of an impossible case mean nothing.
        if log_z > -np.inf:
            p_true += np.exp(log_z - total) * found
    return p_true, total


def fixed(arrays: Arrays, states: dict[int, int]) -> Arrays:
    """The network with some variables fixed: they share no potential any more."""
    unary = arrays.unary.copy()
    for v, state in states.items():
        unary[v, 1 - state] = -np.inf
    keep = []
    for i, (x, y) in enumerate(arrays.ends.tolist()):
        if x in states and y in states:
            unary[x] += arrays.tables[i][:, states[y]]
        elif x in states:
            unary[y] += arrays.tables[i][states[x]]
        elif y in states:
            unary[x] += arrays.tables[i][:, states[y]]
        else:
            keep.append(i)
    larger: dict[tuple[int, ...], Table] = {}
    ends, tables = arrays.ends[keep], arrays.tables[keep]
    for scope, table in arrays.larger:
        rest = tuple(v for v in scope if v not in states)
        part = table[tuple(states.get(v, slice(None)) for v in scope)]
        if rest:
            larger[rest] = larger[rest] + part if rest in larger else part
        else:
            # Nothing is left to depend on it; it still weighs.
            unary[scope[0]] += float(part)
    return _with_larger(unary, ends, tables, larger)


def _with_larger(
    unary: Table, ends: Indices, tables: Table, larger: dict[tuple[int, ...], Table]
) -> Arrays:
    """Potentials that lost variables put where their new size belongs."""
    pairs = [(scope, t) for scope, t in larger.items() if len(scope) == 2]
    for scope, table in larger.items():
        if len(scope) == 1:
            unary[scope[0]] += table
    if pairs:
        ends, tables = merge_pairs(
            np.concatenate([ends, np.array([scope for scope, _ in pairs], dtype=np.intp)]),
            np.concatenate([tables, np.array([table for _, table in pairs])]),
            len(unary),
        )
    rest = sorted((s, t) for s, t in larger.items() if len(s) > 2)
    return Arrays(unary, ends, tables, tuple(rest))


def _without(near: Sequence[int], v: int) -> list[int]:
    rest = [n & ~(1 << v) for n in near]
    for u in bits(near[v]):
        rest[u] &= ~(1 << v)
    rest[v] = 0
    return rest
