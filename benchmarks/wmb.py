"""Weighted mini-buckets: an upper bound on log Z and the marginals that go with it.

Variable elimination with tables of bounded size: the potentials of a variable are
split into mini-buckets of at most ``i_bound + 1`` variables, each summed on its own
with a power; Hölder's inequality makes the result an upper bound (Liu and Ihler
2011, "Bounding the partition function using Hölder's inequality"). Before that the
mini-buckets of a variable are shifted so that they agree on it (moment matching).
The marginals are the derivatives of the bound. This is the engine of the
FactReasoner paper, with i-bound 6, to compare with.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from factcheck_local.markov import Limits, Marginals, Network
from factcheck_local.markov.arrays import Arrays
from factcheck_local.markov.engine import Wanted, infer_with
from factcheck_local.markov.factors import Table
from factcheck_local.markov.order import Order, min_fill, neighbourhoods
from factcheck_local.markov.solution import Solution

#: Of the FactReasoner paper.
I_BOUND = 6


@dataclass(eq=False)
class _Bucket:
    """A mini-bucket: what is summed together over the first variable of its scope.

    Attributes:
        scope: places in the elimination order, ascending.
        senders: the mini-buckets whose messages it multiplies.
        weight: its share of the variable's weight, which adds up to 1.
        power: log table divided by the weight, shape (2,) * len(scope).
        message: log of the power sum over the first variable.
    """

    scope: tuple[int, ...]
    senders: list["_Bucket"] = field(default_factory=list)
    weight: float = 1.0
    power: Table = field(default_factory=lambda: np.empty(0))
    message: Table = field(default_factory=lambda: np.empty(0))


#: A log potential over places of the order, and the mini-bucket that sent it, if any.
_Potential = tuple[tuple[int, ...], Table, _Bucket | None]


def infer_by_wmb(network: Network, i_bound: int = I_BOUND) -> Marginals:
    """The posteriors by weighted mini-buckets of what leaf elimination leaves.

    ``log_z`` is an upper bound.

    Args:
        network: binary variables, factors of any size.
        i_bound: see ``weighted_mini_buckets``.

    Raises:
        InferenceError: as ``markov.infer`` does.
    """

    def solve(arrays: Arrays, _limits: Limits, _wanted: Wanted) -> Solution:
        order = min_fill(neighbourhoods(arrays), arrays.count)
        if order is None:  # pragma: no cover - no network is wider than it has variables
            raise AssertionError
        p_true, bound = weighted_mini_buckets(arrays, order, i_bound)
        return Solution(
            p_true,
            bound,
            f"weighted mini-buckets, i-bound {i_bound}",
            exact=order.width <= i_bound,
            error=0.0 if order.width <= i_bound else None,
            width=order.width,
        )

    return infer_with(solve, network)


def weighted_mini_buckets(arrays: Arrays, order: Order, i_bound: int) -> tuple[Table, float]:
    """Approximate P(true) of every variable, and an upper bound on the natural log of Z.

    Both are exact if ``order.width`` is at most ``i_bound``.

    Args:
        arrays: the network, n variables.
        order: of its variables.
        i_bound: separators of at most as many variables are kept whole; at least 1.

    Returns:
        (n,) probabilities and the bound; the bound is -inf if Z is known to be zero.
    """
    place = np.empty(arrays.count, dtype=np.intp)
    place[list(order.variables)] = np.arange(arrays.count)
    waiting: list[list[_Potential]] = [[] for _ in range(arrays.count)]
    for v, at in enumerate(place.tolist()):
        waiting[at].append(((at,), arrays.unary[v], None))
    for (x, y), table in zip(place[arrays.ends].tolist(), arrays.tables, strict=True):
        pair = (x, y) if x < y else (y, x)
        waiting[pair[0]].append((pair, table if x < y else table.T, None))
    for members, logs in arrays.larger:
        places = [int(place[v]) for v in members]
        axes = sorted(range(len(places)), key=places.__getitem__)
        scope = tuple(places[i] for i in axes)
        waiting[scope[0]].append((scope, logs.transpose(axes), None))
    bound = 0.0
    buckets: list[list[_Bucket]] = []
    for potentials in waiting:
        own = _split(potentials, i_bound)
        buckets.append(own)
        for bucket in own:
            # In the logarithm an impossible pair of states stays -inf.
            bucket.message = bucket.weight * np.logaddexp(bucket.power[0], bucket.power[1])
            rest = bucket.scope[1:]
            if rest:
                waiting[rest[0]].append((rest, bucket.message, bucket))
            else:
                bound += float(bucket.message)
    p_true = np.empty(arrays.count)
    joint: dict[int, Table] = {}
    for at in range(arrays.count - 1, -1, -1):
        found = 0.0
        for bucket in buckets[at]:
            top = bucket.message / bucket.weight
            given = np.exp(bucket.power - np.where(np.isneginf(top), 0.0, top))
            belief = given * joint.pop(id(bucket), np.ones(()))
            found += bucket.weight * float(belief[1].sum())
            for sender in bucket.senders:
                kept = set(sender.scope[1:])
                drop = tuple(i for i, p in enumerate(bucket.scope) if p not in kept)
                joint[id(sender)] = belief.sum(axis=drop)
        p_true[order.variables[at]] = found
    return np.clip(p_true, 0.0, 1.0), bound


def _split(potentials: Sequence[_Potential], i_bound: int) -> list[_Bucket]:
    """Mini-buckets of a variable: each potential joins the first that has room for it."""
    scopes: list[set[int]] = []
    groups: list[list[_Potential]] = []
    for potential in sorted(potentials, key=lambda p: (-len(p[0]), p[0])):
        own = set(potential[0])
        for scope, group in zip(scopes, groups, strict=True):
            if len(scope | own) <= max(i_bound + 1, len(scope)):
                scope |= own
                group.append(potential)
                break
        else:
            scopes.append(own)
            groups.append([potential])
    found = []
    for members, group in zip(scopes, groups, strict=True):
        bucket = _Bucket(tuple(sorted(members)), [p[2] for p in group if p[2]])
        bucket.weight = 1.0 / len(groups)
        bucket.power = sum(
            (_over(scope, table, bucket.scope) for scope, table, _ in group),
            np.zeros((2,) * len(bucket.scope)),
        )
        found.append(bucket)
    if len(found) > 1:
        _match(found)
    for bucket in found:
        bucket.power = bucket.power / bucket.weight
    return found


def _match(buckets: Sequence[_Bucket]) -> None:
    """Shift the mini-buckets so that they agree on their variable; the shifts cancel out."""
    views = []
    for bucket in buckets:
        flat = bucket.power.reshape(2, -1)
        views.append(np.logaddexp.reduce(flat, axis=1))
    # What one of them rules out is ruled out: a shift by infinity would undo it.
    if not np.isfinite(views).all():
        return
    mean = np.mean(views, axis=0)
    for bucket, view in zip(buckets, views, strict=True):
        shift = (mean - view).reshape((2,) + (1,) * (len(bucket.scope) - 1))
        bucket.power = bucket.power + shift


def _over(scope: tuple[int, ...], table: Table, whole: tuple[int, ...]) -> Table:
    own = set(scope)
    return table.reshape([2 if place in own else 1 for place in whole])
