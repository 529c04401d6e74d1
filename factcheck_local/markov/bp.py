"""Loopy belief propagation on log odds, from several starts at once.

A message is one number, the log odds that its sender gives its target. All
messages of all starts are updated together; where that swings, the damping grows.

Source: Yedidia, Freeman and Weiss (2005), "Constructing free-energy
approximations and generalized belief propagation algorithms", for the messages
and Bethe's free energy.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factcheck_local.core.errors import InferenceError
from factcheck_local.markov.arrays import Arrays
from factcheck_local.markov.factors import Table


@dataclass(frozen=True, slots=True)
class Stage:
    """A number of sweeps made in one way.

    Attributes:
        sweeps: at most.
        damping: share of the old message in the new one.
        residual: a message is sent only if it changes by this share of the largest
            change: 0 sends all, 1 the most urgent alone.
    """

    sweeps: int
    damping: float = 0.0
    residual: float = 0.0


#: Each stage goes on from where the one before stopped. Where all messages at once swing,
#: the urgent ones first settle most of it (residual belief propagation: Elidan,
#: McGraw and Koller 2006, in parallel), heavy damping the rest.
SCHEDULE = (Stage(60), Stage(240, damping=0.5), Stage(300, 0.3, 0.5), Stage(1200, 0.9))

#: Largest change of a log odds in one sweep that counts as no change.
TOLERANCE = 1e-9

#: Entries of a table are raised to this share of its largest, and log odds kept
#: within ±_CERTAIN: what is impossible stays improbable beyond any other evidence.
_SMALLEST = 1e-150
_CERTAIN = 300.0

#: How strongly a start believes: log odds of every message it begins with.
_CONVICTION = 4.0


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What belief propagation found, from S starts.

    Attributes:
        log_odds: (S, n) of every variable being true; exact on a forest once converged.
        log_z: (S,) Bethe's approximation of the natural log of Z; likewise.
        converged: (S,) whether a sweep changed no message by more than the tolerance.
        iterations: sweeps made.
    """

    log_odds: Table
    log_z: Table
    converged: NDArray[np.bool_]
    iterations: int


def belief_propagation(
    arrays: Arrays,
    *,
    starts: int = 1,
    seed: int = 0,
    tolerance: float = TOLERANCE,
    schedule: tuple[Stage, ...] = SCHEDULE,
) -> Beliefs:
    """Run belief propagation; deterministic for a seed.

    Args:
        arrays: unary and pairwise potentials.
        starts: the first has no opinion, the second believes everything, the third
            nothing, the others are random.
        seed: of the random starts.
        tolerance: see ``TOLERANCE``.
        schedule: see ``SCHEDULE``.

    Raises:
        InferenceError: if there is a potential over three or more variables.
    """
    if arrays.larger:
        raise InferenceError(
            "belief propagation takes factors of one or two variables, one is over "
            f"{len(arrays.larger[0][0])}"
        )
    edges = _Edges(arrays)
    messages = _begin(starts, 2 * edges.count, seed)
    iterations = 0
    change = np.zeros(starts)
    for stage in schedule:
        for _ in range(stage.sweeps):
            step = edges.outgoing(messages) - messages
            change = np.abs(step).max(axis=1, initial=0.0)
            if stage.residual > 0.0:
                step = step * (np.abs(step) >= stage.residual * change[:, None])
            messages = messages + (1 - stage.damping) * step
            iterations += 1
            if change.max(initial=0.0) <= tolerance:
                break
        if change.max(initial=0.0) <= tolerance:
            break
    log_odds = edges.unary + edges.received(messages)
    log_z = _bethe(arrays, edges, messages, log_odds)
    return Beliefs(log_odds, log_z, change <= tolerance, iterations)


def _begin(starts: int, count: int, seed: int) -> Table:
    """(S, count) first messages."""
    begun = np.zeros((starts, count))
    begun[1:2], begun[2:3] = _CONVICTION, -_CONVICTION
    if starts > 3:
        signs = np.random.default_rng(seed).integers(0, 2, (starts - 3, count)) * 2 - 1
        begun[3:] = _CONVICTION * signs
    return begun


class _Edges:
    """Directed edges ordered by their target: D = 2E of them.

    Attributes:
        count: E.
        unary: (n,) log odds of the variables' own potentials.
        source: (D,) index of the sender of each message.
        reverse: (D,) index of the message the other way.
        order: (D,) where each edge stands among first -> second of all pairs,
            then second -> first.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.count = len(arrays.ends)
        target = np.concatenate([arrays.ends[:, 1], arrays.ends[:, 0]])
        source = np.concatenate([arrays.ends[:, 0], arrays.ends[:, 1]])
        self.order = np.argsort(target, kind="stable")
        place = np.empty_like(self.order)
        place[self.order] = np.arange(2 * self.count)
        self.source = source[self.order]
        self.reverse = place[(self.order + self.count) % (2 * self.count)] if self.count else place
        tables = np.concatenate([arrays.tables, arrays.tables.swapaxes(1, 2)])[self.order]
        linear = np.maximum(np.exp(tables - tables.max(axis=(1, 2), keepdims=True)), _SMALLEST)
        self.unary = np.clip(arrays.unary[:, 1] - arrays.unary[:, 0], -2 * _CERTAIN, 2 * _CERTAIN)
        # Weights by (state of the source, state of the target).
        self._w = {(s, t): linear[:, s, t] for s in (0, 1) for t in (0, 1)}
        # Messages to one variable are neighbours: they are summed from the first on.
        self._present, self._first = np.unique(target[self.order], return_index=True)

    def received(self, messages: Table) -> Table:
        """(S, n): the sum of the messages to each variable."""
        total = np.zeros((len(messages), len(self.unary)))
        if self.count:
            total[:, self._present] = np.add.reduceat(messages, self._first, axis=1)
        return total

    def outgoing(self, messages: Table) -> Table:
        """(S, D): the next messages."""
        total = self.unary + self.received(messages)
        cavity = total[:, self.source] - messages[:, self.reverse]
        odds = np.exp(np.clip(cavity, -_CERTAIN, _CERTAIN))
        w = self._w
        found: Table = np.log((w[1, 1] * odds + w[0, 1]) / (w[1, 0] * odds + w[0, 0]))
        return found


def _bethe(arrays: Arrays, edges: _Edges, messages: Table, log_odds: Table) -> Table:
    """Bethe's log Z = Σ (1 - degree) log Z_i + Σ log Z_ij, for each start."""
    first = np.empty_like(messages)
    first[:, edges.order] = messages
    to_second, to_first = first[:, : edges.count], first[:, edges.count :]
    base = np.maximum(arrays.unary, -2 * _CERTAIN)
    # A message (0, u) scales nothing for false, u for true.
    heard = log_odds - (base[:, 1] - base[:, 0])
    own = np.logaddexp(base[:, 0], base[:, 1] + heard)
    x, y = arrays.ends[:, 0], arrays.ends[:, 1]
    cavity_x, cavity_y = heard[:, x] - to_first, heard[:, y] - to_second
    floor = np.log(_SMALLEST)
    peak = arrays.tables.max(axis=(1, 2))
    tables = np.maximum(arrays.tables - peak[:, None, None], floor)

    def weight(i: int, j: int) -> Table:
        found: Table = tables[:, i, j] + base[x, i] + base[y, j] + i * cavity_x + j * cavity_y
        return found

    pair = np.logaddexp(
        np.logaddexp(weight(0, 0), weight(0, 1)), np.logaddexp(weight(1, 0), weight(1, 1))
    )
    degree = np.bincount(arrays.ends.ravel(), minlength=arrays.count)
    total: Table = ((1 - degree) * own).sum(axis=1) + (pair + peak).sum(axis=1)
    return total
