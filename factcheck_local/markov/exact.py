"""Exact marginals of a connected network: a clique tree, upwards and downwards.

Upwards is variable elimination: each variable's potentials are multiplied and
the variable summed out, which leaves a message to the variables it was joined to.
Downwards the joint table of those turns the product into a marginal. One pass
each way gives log Z and every marginal (Lauritzen and Spiegelhalter 1988; Koller
and Friedman 2009, section 10.2).

Tables are linear and relative to one likely assignment, which weighs 1: Z, a
sum that contains it, cannot underflow. Where an entry could overflow nonetheless,
the same passes run on logarithms, several times slower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from factcheck_local.markov.arrays import Arrays
from factcheck_local.markov.factors import Table
from factcheck_local.markov.order import Order, bits

#: Natural logarithm of what all assignments together may weigh, relative to the likely one, for
#: tables to be linear: floats end at e^709. An entry that underflows is below e^-745, and so
#: what it stands for below e^-95 of Z.
_LINEAR = 650.0

_SWEEPS = 10

#: Variables of a product of small messages, made before they meet the large ones.
_GROUPED = 10

#: Scopes of more variables than this have their last axes spelt out, and how many.
_LARGE = 13
_INNER = 6


@dataclass(eq=False)
class _Message:
    """A potential over some places of the elimination order, on its way to a clique.

    Attributes:
        scope: places in the order, ascending: the axes of ``table``.
        table: shape (2,) * len(scope).
        parts: the messages whose product it is, if it is one.
        sender: place of the clique that sent it, or -1 for a potential of the network.
    """

    scope: tuple[int, ...]
    table: Table
    parts: tuple[_Message, ...] = ()
    sender: int = -1


@dataclass(eq=False)
class Clique:
    """What is multiplied when a variable is summed out, and the two results.

    Attributes:
        scope: places in the elimination order, ascending: the variable, then what it is
            joined to.
        received: the potentials and messages that are multiplied.
        product: of these, shape (2,) * len(scope).
        message: the product with the variable summed out.
    """

    scope: tuple[int, ...] = ()
    received: list[_Message] = field(default_factory=list)
    product: Table = field(default_factory=lambda: np.empty(0))
    message: Table = field(default_factory=lambda: np.empty(0))


def eliminate(
    arrays: Arrays, order: Order, wanted: NDArray[np.bool_] | None = None
) -> tuple[Table, float]:
    """P(true) of the variables of a connected network, and the natural log of Z.

    Args:
        arrays: the network, n variables.
        order: of its variables; memory and time grow with ``order.cost``.
        wanted: (n,) which probabilities are asked for, all if None. The downward pass
            goes nowhere else.

    Returns:
        (n,) probabilities, NaN where not asked for, and log Z: -inf if every assignment
        has probability zero, and the probabilities then mean nothing.
    """
    cliques, algebra, log_z = upwards(arrays, order)
    needed = np.ones(arrays.count, dtype=bool)
    if wanted is not None:
        needed = wanted[list(order.variables)]
        for at, clique in enumerate(cliques):
            if needed[at] and len(clique.scope) > 1:
                needed[clique.scope[1]] = True
    p_true = np.full(arrays.count, np.nan)
    joint: dict[int, Table] = {len(cliques) - 1: np.ones(())}
    for at in range(len(cliques) - 1, -1, -1):
        clique = cliques[at]
        if not needed[at]:
            continue
        belief = algebra.belief(clique.product, clique.message, joint.pop(at))
        p_true[order.variables[at]] = float(belief[1].sum())
        _share(belief, clique.scope, clique.received, joint, needed)
        clique.product = clique.message = np.empty(0)
    return np.minimum(p_true, 1.0), log_z


def upwards(arrays: Arrays, order: Order) -> tuple[list[Clique], Algebra, float]:
    """Sum out one variable after the other.

    Args:
        arrays: the network, connected or not.
        order: of its variables.

    Returns:
        A clique per variable in the order of elimination, what their tables are computed
        with, and the natural log of Z, -inf if every assignment has probability zero.
    """
    anchor = likely_assignment(arrays)
    unary, tables, larger, log_scale, bound = _relative_to(arrays, anchor)
    algebra = _LINEAR_ALGEBRA if bound <= _LINEAR else _LOG_ALGEBRA
    place = np.empty(arrays.count, dtype=np.intp)
    place[list(order.variables)] = np.arange(arrays.count)
    cliques = [Clique() for _ in range(arrays.count)]
    with np.errstate(divide="ignore"):
        for at, v in enumerate(order.variables):
            cliques[at].scope = (at, *sorted(int(place[u]) for u in bits(order.scopes[at])))
            cliques[at].received.append(_Message((at,), algebra.enter(unary[v])))
        for (x, y), table in zip(place[arrays.ends].tolist(), algebra.enter(tables), strict=True):
            pair = (x, y) if x < y else (y, x)
            cliques[pair[0]].received.append(_Message(pair, table if x < y else table.T))
        for members, logs in larger:
            places = [int(place[v]) for v in members]
            axes = sorted(range(len(places)), key=places.__getitem__)
            scope = tuple(places[i] for i in axes)
            cliques[scope[0]].received.append(_Message(scope, algebra.enter(logs.transpose(axes))))
    log_z = log_scale
    for at, clique in enumerate(cliques):
        clique.product = _product(clique, algebra)
        clique.message = algebra.sum_first(clique.product)
        rest = clique.scope[1:]
        if rest:
            cliques[rest[0]].received.append(_Message(rest, clique.message, sender=at))
        else:
            log_z += algebra.leave(float(clique.message))
    return cliques, algebra, log_z


def likely_assignment(arrays: Arrays) -> list[int]:
    """A local maximum of the network's weight, by coordinate ascent from all true."""
    finite = np.maximum(arrays.unary, -1e9)
    gain = (finite[:, 1] - finite[:, 0]).tolist()
    state = [1] * arrays.count
    near: list[list[tuple[int, float, float]]] = [[] for _ in state]
    tables = np.maximum(arrays.tables, -1e9)
    first = (tables[:, 1, :] - tables[:, 0, :]).tolist()
    second = (tables[:, :, 1] - tables[:, :, 0]).tolist()
    for (x, y), by_y, by_x in zip(arrays.ends.tolist(), first, second, strict=True):
        near[x].append((y, by_y[0], by_y[1]))
        near[y].append((x, by_x[0], by_x[1]))
    for _ in range(_SWEEPS):
        changed = False
        for v, others in enumerate(near):
            drive = gain[v] + sum(one if state[u] else zero for u, zero, one in others)
            best = int(drive >= 0)
            changed |= best != state[v]
            state[v] = best
        if not changed:
            break
    return state


def _relative_to(
    arrays: Arrays, anchor: Sequence[int]
) -> tuple[Table, Table, list[tuple[tuple[int, ...], Table]], float, float]:
    """Every potential minus its value at the anchor, what that adds up to, and a bound.

    Returns:
        Unary, pairwise and larger potentials, the log weight taken out of them, and
        the log of what all assignments together could weigh at most, relative to the
        anchor. Where the anchor is impossible, that is infinite.
    """
    state = np.array(anchor, dtype=np.intp)
    at = np.arange(len(state))
    own = arrays.unary[at, state]
    pair = arrays.tables[
        np.arange(len(arrays.ends)), state[arrays.ends[:, 0]], state[arrays.ends[:, 1]]
    ]
    values = [float(table[tuple(state[list(scope)])]) for scope, table in arrays.larger]
    if not (np.isfinite(own).all() and np.isfinite(pair).all() and np.isfinite(values).all()):
        return arrays.unary, arrays.tables, list(arrays.larger), 0.0, math.inf
    unary = arrays.unary - own[:, None]
    tables = arrays.tables - pair[:, None, None]
    larger = [(s, t - v) for (s, t), v in zip(arrays.larger, values, strict=True)]
    # Not only how much one of them could weigh: there are 2^n.
    bound = np.logaddexp(unary[:, 0], unary[:, 1]).sum()
    bound += tables.max(axis=(1, 2), initial=0.0).sum() + sum(t.max() for _, t in larger)
    return unary, tables, larger, float(own.sum() + pair.sum() + sum(values)), float(bound)


class _Linear:
    """Multiplication of weights."""

    @staticmethod
    def enter(logs: Table) -> Table:
        return np.exp(logs)

    @staticmethod
    def multiply(x: Table, y: Table) -> Table:
        return x * y

    @staticmethod
    def sum_first(table: Table) -> Table:
        summed: Table = table[0] + table[1]
        return summed

    @staticmethod
    def belief(product: Table, message: Table, joint: Table) -> Table:
        """P(first variable, the others), from P(the others); 0 where these are impossible."""
        ratio = np.divide(joint, message, out=np.zeros_like(message), where=message > 0)
        return product * ratio

    @staticmethod
    def leave(total: float) -> float:
        return math.log(total) if total > 0 else -math.inf


class _Log:
    """The same on natural logarithms."""

    @staticmethod
    def enter(logs: Table) -> Table:
        return logs

    @staticmethod
    def multiply(x: Table, y: Table) -> Table:
        return x + y

    @staticmethod
    def sum_first(table: Table) -> Table:
        summed: Table = np.logaddexp(table[0], table[1])
        return summed

    @staticmethod
    def belief(product: Table, message: Table, joint: Table) -> Table:
        given: Table = np.exp(product - np.where(np.isneginf(message), 0.0, message))
        belief: Table = given * joint
        return belief

    @staticmethod
    def leave(total: float) -> float:
        return total


_LINEAR_ALGEBRA, _LOG_ALGEBRA = _Linear(), _Log()
Algebra = _Linear | _Log


def _product(clique: Clique, algebra: Algebra) -> Table:
    """All that a clique received, multiplied over its whole scope.

    Small messages are multiplied with each other first, so that few products
    are as large as the clique; these groups replace them in ``received``, and on
    the way down the clique's marginal is summed once for each group.
    """
    waiting = sorted(clique.received, key=lambda m: len(m.scope))
    groups: list[_Message] = []
    while waiting:
        group = waiting.pop(0)
        parts = [group]
        scope = set(group.scope)
        rest = []
        for other in waiting:
            if len(scope | set(other.scope)) <= _GROUPED:
                scope |= set(other.scope)
                parts.append(other)
            else:
                rest.append(other)
        if len(parts) > 1:
            own = tuple(sorted(scope))
            table = _multiplied(parts, own, algebra)
            group = _Message(own, table, tuple(parts))
        groups.append(group)
        waiting = rest
    clique.received = groups
    return _multiplied(groups, clique.scope, algebra)


def _multiplied(messages: Sequence[_Message], scope: tuple[int, ...], algebra: Algebra) -> Table:
    """The product of messages over a scope that holds all of theirs."""
    table = _over(messages[0], scope)
    for message in messages[1:]:
        table = algebra.multiply(table, _over(message, scope))
    full = (2,) * len(scope)
    return table if table.shape == full else np.broadcast_to(table, full)


def _over(message: _Message, scope: tuple[int, ...]) -> Table:
    """A message's table with an axis of length 1 for what it does not depend on.

    On a large scope it is spelt out over the last axes: numpy multiplies in inner
    loops over these, and loops of length 2 cost more than what is in them.
    """
    own = set(message.scope)
    table = message.table.reshape([2 if place in own else 1 for place in scope])
    if len(scope) > _LARGE and table.shape[-_INNER:] != (2,) * _INNER:
        table = np.broadcast_to(table, table.shape[:-_INNER] + (2,) * _INNER).copy()
    return table


def _share(
    belief: Table,
    scope: tuple[int, ...],
    received: Sequence[_Message],
    joint: dict[int, Table],
    needed: NDArray[np.bool_],
) -> None:
    """Tell the senders of messages the joint probabilities of what they were about."""
    for message in received:
        if not any(m.sender >= 0 and needed[m.sender] for m in (message, *message.parts)):
            continue
        own = set(message.scope)
        table = _sum_out(belief, [place in own for place in scope])
        if message.sender >= 0:
            joint[message.sender] = table
        else:
            _share(table, message.scope, message.parts, joint, needed)


def _sum_out(table: Table, keep: Sequence[bool]) -> Table:
    """Sum over the axes not kept, neighbouring ones as one.

    numpy sums over scattered axes of length 2 with inner loops as short, so each run
    of axes is made one axis of a table with three, the first run first.
    """
    kept = 1
    for run in _runs(keep):
        length, stays = run
        if stays:
            kept <<= length
        else:
            table = table.reshape(kept, 1 << length, -1).sum(axis=1)
    return table.reshape((2,) * sum(keep))


def _runs(keep: Sequence[bool]) -> list[tuple[int, bool]]:
    """Lengths of the runs of equal values, with the values."""
    return [(len(list(same)), value) for value, same in groupby(keep)]
