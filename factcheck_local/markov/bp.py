"""Damped loopy belief propagation for networks of unary and pairwise factors.

Messages are natural logarithms, all of them updated at once. A message is a
row of two, for the target false and true, shifted so that its maximum is 0;
-inf marks a state that is impossible. Zeros in the factors stay exact: they
are counted rather than added, so that no -inf is ever subtracted from another.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factcheck_local.errors import InferenceError
from factcheck_local.markov.factors import Table, log_products
from factcheck_local.markov.network import Network

#: (damping, sweeps): the second line goes on from where the first stopped.
#: Heavy damping settles what light damping leaves swinging.
SCHEDULE = ((0.5, 500), (0.9, 1500))

#: Largest change of a log message in one sweep that counts as no change.
TOLERANCE = 1e-10


@dataclass(frozen=True)
class Beliefs:
    """What belief propagation found.

    Attributes:
        p_true: variable → P(true); exact on a forest once converged.
        log_z: Bethe approximation of the natural log of Z; likewise.
        converged: whether a sweep changed no message by more than ``TOLERANCE``.
        iterations: sweeps made.
    """

    p_true: dict[str, float]
    log_z: float
    converged: bool
    iterations: int


def belief_propagation(network: Network) -> Beliefs:
    """Run belief propagation from uniform messages; deterministic.

    Factors of equal scope are multiplied first. Source: Yedidia, Freeman and
    Weiss (2005), "Constructing free-energy approximations and generalized
    belief propagation algorithms", for the messages and Bethe's free energy.

    Raises:
        InferenceError: if a factor has three or more variables, or the zeros
            of the factors leave a variable without a possible state.
    """
    edges = _Edges(network)
    messages = np.zeros((2 * edges.count, 2))
    iterations, converged = 0, False
    for damping, sweeps in SCHEDULE:
        for _ in range(sweeps):
            updated = edges.outgoing(edges.cavities(messages))
            change = _largest_change(messages, updated)
            # Damping never revives a state: (1-d)·-inf is -inf.
            messages = (1.0 - damping) * updated + damping * messages
            iterations += 1
            converged = change <= TOLERANCE
            if converged:
                break
        if converged:
            break
    return edges.beliefs(messages, converged, iterations)


def _largest_change(old: Table, new: Table) -> float:
    """Largest absolute difference; two -inf do not differ."""
    with np.errstate(invalid="ignore"):
        difference = np.where(old == new, 0.0, np.abs(new - old))
    return float(difference.max(initial=0.0))


def _log_sum(logs: Table) -> Table:
    """Log-sum-exp over the last axis, of length 2."""
    summed: Table = np.logaddexp(logs[..., 0], logs[..., 1])
    return summed


class _Edges:
    """The network as arrays over its directed edges: first i→j of all pairs, then j→i.

    Attributes:
        count: number of pairs E.
        unary: (n, 2) log potentials.
        target: (2E,) index of the variable that each directed edge points at.
        tables: (2E, 2, 2) log potentials, axes (edge, source state, target state).
        reverse: (2E,) index of the opposite directed edge.
    """

    def __init__(self, network: Network) -> None:
        self.variables = network.variables
        position = network.positions
        self.unary = np.zeros((len(self.variables), 2))
        ends: list[tuple[int, int]] = []
        pairwise: list[Table] = []
        for scope, logs in log_products(network.factors, position).items():
            if len(scope) > 2:
                raise InferenceError(
                    f"belief propagation takes factors of one or two variables, got {scope}"
                )
            if len(scope) == 1:
                self.unary[position[scope[0]]] = logs
            else:
                ends.append((position[scope[0]], position[scope[1]]))
                pairwise.append(logs)
        self.count = len(ends)
        pair = np.array(ends, dtype=np.intp).reshape(-1, 2)
        tables = np.array(pairwise, dtype=np.float64).reshape(-1, 2, 2)
        self.target = np.concatenate([pair[:, 1], pair[:, 0]])
        self.tables = np.concatenate([tables, tables.swapaxes(1, 2)])
        self.reverse = np.roll(np.arange(2 * self.count), self.count)

    def _totals(self, messages: Table) -> tuple[Table, NDArray[np.int64]]:
        """For each variable the sum of its finite logs, and how many are -inf; both (n, 2)."""
        finite = _finite(self.unary)
        impossible = np.isneginf(self.unary).astype(np.int64)
        np.add.at(finite, self.target, _finite(messages))
        np.add.at(impossible, self.target, np.isneginf(messages))
        return finite, impossible

    def cavities(self, messages: Table) -> Table:
        """(2E, 2): what the source of each edge has heard from all but the target."""
        finite, impossible = self._totals(messages)
        answer = messages[self.reverse]
        source = self.target[self.reverse]
        left = impossible[source] - np.isneginf(answer)
        return np.where(left > 0, -np.inf, finite[source] - _finite(answer))

    def outgoing(self, cavities: Table) -> Table:
        """(2E, 2): the new messages, each with maximum 0."""
        messages = np.logaddexp.reduce(self.tables + cavities[:, :, None], axis=1)
        peaks = messages.max(axis=1, keepdims=True)
        self._refuse(self.target[np.isneginf(peaks[:, 0])])
        shifted: Table = messages - peaks
        return shifted

    def beliefs(self, messages: Table, converged: bool, iterations: int) -> Beliefs:
        """Marginals and Bethe's log Z = Σ log Z_i + Σ log Z_ij - Σ log Z_i,ij."""
        finite, impossible = self._totals(messages)
        logs = np.where(impossible > 0, -np.inf, finite)
        log_z_variable = _log_sum(logs)
        self._refuse(np.flatnonzero(np.isneginf(log_z_variable)))
        p_true = np.exp(logs[:, 1] - log_z_variable)
        cavities = self.cavities(messages)
        forward, backward = cavities[: self.count], cavities[self.count :]
        joint = self.tables[: self.count] + forward[:, :, None] + backward[:, None, :]
        log_z_pair = _log_sum(_log_sum(joint))
        log_z_link = _log_sum(messages + cavities[self.reverse])
        log_z = float(log_z_variable.sum() + log_z_pair.sum() - log_z_link.sum())
        named = zip(self.variables, np.minimum(p_true, 1.0).tolist(), strict=True)
        return Beliefs(dict(named), log_z, converged, iterations)

    def _refuse(self, impossible: NDArray[np.intp]) -> None:
        """Raise if any variable, given by index, has no possible state."""
        if impossible.size:
            name = self.variables[int(impossible[0])]
            raise InferenceError(f"no state of {name} is possible: the relations rule out both")


def _finite(logs: Table) -> Table:
    """The logs with -inf replaced by 0."""
    return np.where(np.isneginf(logs), 0.0, logs)
