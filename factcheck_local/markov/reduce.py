"""Leaf elimination: trees are solved in closed form, what is left is the core.

A leaf is a variable with one neighbour and no potential over three or more
variables. Summing it out sends one message to its neighbour; afterwards its
posterior is a mixture of its conditionals given that neighbour. All leaves of
a round go at once. Everything is kept as natural logarithms, so that nothing
underflows: improbable does not turn into impossible.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factcheck_local.markov.arrays import Arrays, Indices, part_of
from factcheck_local.markov.factors import Table


@dataclass(frozen=True, eq=False)
class _Round:
    """Leaves that were summed out together, L of them.

    Attributes:
        leaves: (L,) variables.
        neighbours: (L,) the one that each depended on.
        p_true: (L, 2) P(leaf true | neighbour false), P(leaf true | neighbour true).
    """

    leaves: Indices
    neighbours: Indices
    p_true: Table


@dataclass(frozen=True, eq=False)
class Part:
    """A connected part of the core.

    Attributes:
        members: its variables in the whole network, ascending.
        arrays: its potentials, over 0 ... len(members) - 1.
    """

    members: Indices
    arrays: Arrays


@dataclass(frozen=True, eq=False)
class Reduction:
    """A network without its leaves, and how to get them back.

    Attributes:
        parts: the connected parts of what could not be stripped; none for a forest.
        log_scale: log Z of the network minus that of all parts (natural).
    """

    parts: tuple[Part, ...]
    log_scale: float
    _p_true: Table
    _rounds: tuple[_Round, ...]

    def needed(self, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(n,) which probabilities it takes to restore those that are wanted."""
        found = wanted.copy()
        for step in self._rounds:
            found[step.neighbours[found[step.leaves]]] = True
        return found

    def restore(self, parts_p_true: list[Table]) -> Table:
        """(n,) P(true) of every variable, given those of every part.

        Exact if the parts' are: a leaf depends on the rest only through its
        neighbour.
        """
        p_true = self._p_true.copy()
        for part, own in zip(self.parts, parts_p_true, strict=True):
            p_true[part.members] = own
        for step in reversed(self._rounds):
            weight = p_true[step.neighbours]
            p_true[step.leaves] = (1.0 - weight) * step.p_true[:, 0] + weight * step.p_true[:, 1]
        # Rounding may lead beyond both ends.
        return np.clip(p_true, 0.0, 1.0)


def reduce(arrays: Arrays) -> Reduction:
    """Strip leaves until none is left, and take what remains apart."""
    unary = arrays.unary.copy()
    alive = np.ones(arrays.count, dtype=bool)
    pinned = np.zeros(arrays.count, dtype=bool)
    for scope, _ in arrays.larger:
        pinned[list(scope)] = True
    pairs = np.arange(len(arrays.ends))
    rounds: list[_Round] = []
    while len(pairs):
        ends = arrays.ends[pairs]
        degree = np.bincount(ends.ravel(), minlength=arrays.count)
        loose = ((degree == 1) & ~pinned)[ends]
        # Of two leaves that have only each other the first is summed out.
        leaf_end = np.where(loose[:, 0], 0, 1)
        stripped = loose.any(axis=1)
        if not stripped.any():
            break
        chosen, side = pairs[stripped], leaf_end[stripped]
        rows = np.arange(len(chosen))
        leaves, neighbours = ends[stripped][rows, side], ends[stripped][rows, 1 - side]
        tables = arrays.tables[chosen]
        # Axes (pair, neighbour, leaf).
        tables = np.where(side[:, None, None] == 1, tables, tables.swapaxes(1, 2))
        joint = tables + unary[leaves][:, None, :]
        message = np.logaddexp(joint[:, :, 0], joint[:, :, 1])
        # Where a state of the neighbour is impossible its weight in the
        # mixture is 0, and any conditional will do.
        possible = np.where(np.isneginf(message), 0.0, message)
        rounds.append(_Round(leaves, neighbours, np.exp(joint[:, :, 1] - possible)))
        np.add.at(unary, neighbours, message)
        alive[leaves] = False
        pairs = pairs[~stripped]
    ends = arrays.ends[pairs]
    cored = pinned.copy()
    cored[ends.ravel()] = True
    alone = np.flatnonzero(alive & ~cored)
    totals = np.logaddexp(unary[alone, 0], unary[alone, 1])
    p_true = np.zeros(arrays.count)
    with np.errstate(invalid="ignore"):  # no state at all: log Z is -inf, which says so
        p_true[alone] = np.exp(unary[alone, 1] - totals)
    core = Arrays(unary, arrays.ends, arrays.tables, arrays.larger)
    return Reduction(
        _parts(core, np.flatnonzero(cored), pairs), float(totals.sum()), p_true, tuple(rounds)
    )


def _parts(core: Arrays, members: Indices, pairs: Indices) -> tuple[Part, ...]:
    """The connected parts over ``members`` and ``pairs``, by their first variable."""
    if not len(members):
        return ()
    links = [core.ends[pairs]]
    links += [np.array([scope[:-1], scope[1:]], dtype=np.intp).T for scope, _ in core.larger]
    joined = np.concatenate(links)
    label = part_of(joined, core.count)
    own, pair_label = label[members], label[core.ends[pairs, 0]]
    found = []
    for number in dict.fromkeys(own.tolist()):
        inside = members[own == number]
        found.append(Part(inside, core.subset(inside, pairs[pair_label == number])))
    return tuple(found)
