"""Annealed importance sampling with blocked Gibbs sweeps, many chains at once.

Chains start from a product of independent variables, the beliefs of another
method as a rule, and are led to the network over a few intermediate
distributions, each with a sweep (Neal 2001, "Annealed importance sampling"). The
weights that collect on the way make up for where the chains came from, also
between modes that no sweep crosses. A sweep draws all variables of one
colour at once, given the others: with FR1 and FR2, where only atoms and
passages are joined, these are two blocks (Gonzalez, Low, Gretton and Guestrin
2011). Averages are over conditional probabilities, not draws (Rao-Blackwell).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from factcheck_local.core.errors import InferenceError
from factcheck_local.markov.arrays import Arrays
from factcheck_local.markov.factors import Table, p_of_log_odds

#: Log weights below this, relative to the largest of a table, are raised to it: a chain
#: that could never leave a state would report it as certain.
_SMALLEST = -60.0

#: Networks of more variables keep their couplings as a sparse matrix.
_DENSE = 500


@dataclass(frozen=True, eq=False)
class Samples:
    """What the chains found.

    Attributes:
        p_true: (n,) estimates of P(true).
        log_z: estimate of the natural log of Z.
        error: (n,) standard error of each estimate, from the spread between chains and
            from how many of them carry the weight.
    """

    p_true: Table
    log_z: float
    error: Table


def annealed_gibbs(
    arrays: Arrays,
    log_odds: Table,
    *,
    chains: int,
    anneal: int,
    sweeps: int,
    seed: int,
) -> Samples:
    """Estimate the marginals of a network.

    Args:
        arrays: unary and pairwise potentials, n variables.
        log_odds: (K, n) of the independent variables that chains start from, an equal
            share of the chains from each row.
        chains: number of chains, at least 2.
        anneal: intermediate distributions on the way, at least 1.
        sweeps: over the network itself afterwards, at least 1.
        seed: of the random numbers; the same seed gives the same result.

    Raises:
        InferenceError: if there is a potential over three or more variables.
    """
    if arrays.larger:
        raise InferenceError("sampling takes factors of one or two variables")
    rng = np.random.default_rng(seed)
    ising = _Ising(arrays)
    # Row of each chain; a chain's weight is right whatever row it starts from.
    rows = np.arange(chains) % len(log_odds)
    start = np.clip(log_odds, -30.0, 30.0).T[:, rows]
    state = (rng.random((arrays.count, chains)) < p_of_log_odds(start)).astype(np.float64)
    log_weight = np.logaddexp(0.0, start).sum(axis=0) + ising.constant
    steps = np.linspace(0.0, 1.0, anneal + 1)
    for before, now in pairwise(steps.tolist()):
        log_weight += (now - before) * (ising.energy(state) - (start * state).sum(axis=0))
        if now < 1.0:
            ising.sweep(state, rng, now, start)
    total = np.zeros_like(state)
    for _ in range(sweeps):
        ising.sweep(state, rng, 1.0, start, total)
    per_chain = total / sweeps
    peak = float(log_weight.max())
    weight = np.exp(log_weight - peak)
    log_z = peak + float(np.log(weight.mean()))
    weight /= weight.sum()
    p_true = per_chain @ weight
    # Where a few chains have all the weight, their own spread says nothing of the error:
    # then what counts is how far chains are apart, and how few they amount to (Kong 1992).
    effective = 1.0 / (weight**2).sum()
    weighted = ((per_chain - p_true[:, None]) ** 2) @ weight**2
    error = np.sqrt(np.maximum(weighted, per_chain.var(axis=1) / effective))
    return Samples(p_true, log_z, error)


class _Ising:
    """log weight = constant + h·x + ½ x·J·x of a state x in {0, 1}^n."""

    def __init__(self, arrays: Arrays) -> None:
        from scipy.sparse import coo_array

        tables = _floored(arrays.tables, (1, 2))
        unary = _floored(arrays.unary, (1,))
        x, y = arrays.ends[:, 0], arrays.ends[:, 1]
        self.constant = float(unary[:, 0].sum() + tables[:, 0, 0].sum())
        self.h = unary[:, 1] - unary[:, 0]
        np.add.at(self.h, x, tables[:, 1, 0] - tables[:, 0, 0])
        np.add.at(self.h, y, tables[:, 0, 1] - tables[:, 0, 0])
        coupling = tables[:, 1, 1] - tables[:, 1, 0] - tables[:, 0, 1] + tables[:, 0, 0]
        shape = (arrays.count, arrays.count)
        ends = (np.concatenate([x, y]), np.concatenate([y, x]))
        sparse = coo_array((np.tile(coupling, 2), ends), shape).tocsr()
        self.j = sparse if arrays.count > _DENSE else sparse.toarray()
        self._blocks = [(block, self.j[block]) for block in colours(arrays)]

    def energy(self, state: Table) -> Table:
        """(chains,) log weights without the constant; state is (n, chains)."""
        found: Table = self.h @ state + 0.5 * (state * (self.j @ state)).sum(axis=0)
        return found

    def sweep(
        self,
        state: Table,
        rng: np.random.Generator,
        beta: float,
        start: Table,
        total: Table | None = None,
    ) -> None:
        """Draw every block of ``state`` in place from (1 - beta) start + beta network."""
        for block, rows in self._blocks:
            drive = self.h[block][:, None] + rows @ state
            p = p_of_log_odds((1.0 - beta) * start[block] + beta * drive)
            if total is not None:
                total[block] += p
            state[block] = rng.random(p.shape) < p


def _floored(logs: Table, axes: tuple[int, ...]) -> Table:
    peak = logs.max(axis=axes, keepdims=True)
    found: Table = np.maximum(logs, peak + _SMALLEST)
    return found


def colours(arrays: Arrays) -> list[NDArray[np.intp]]:
    """Variables in groups that no pair joins within, those of many neighbours placed first."""
    near: list[list[int]] = [[] for _ in range(arrays.count)]
    for x, y in arrays.ends.tolist():
        near[x].append(y)
        near[y].append(x)
    colour = [-1] * arrays.count
    # Breadth first, so that a bipartite part gets two colours and no more.
    for root in sorted(range(arrays.count), key=lambda v: -len(near[v])):
        if colour[root] >= 0:
            continue
        colour[root], queue = 0, [root]
        for v in queue:
            for u in near[v]:
                if colour[u] < 0:
                    taken = {colour[w] for w in near[u]}
                    colour[u] = next(c for c in range(len(near) + 1) if c not in taken)
                    queue.append(u)
    numbers = np.array(colour, dtype=np.intp)
    return [np.flatnonzero(numbers == c) for c in range(numbers.max(initial=-1) + 1)]
