"""Elimination orders: which variable is summed out first, and how wide that gets.

Neighbourhoods are integers used as sets of bits, which makes joining two of
them one operation at any size that exact inference can hope for.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from factcheck_local.markov.arrays import Arrays

#: Variables of nearly the least degree among which the one with the least fill-in is chosen.
_SLACK = 1


@dataclass(frozen=True, slots=True)
class Order:
    """An elimination order of a connected network.

    Attributes:
        variables: in the order of their elimination.
        scopes: for each of these what it is still joined to, as a set of bits.
        width: the size of the largest of those scopes, an upper bound on the treewidth.
    """

    variables: tuple[int, ...]
    scopes: tuple[int, ...]
    width: int

    @property
    def cost(self) -> int:
        """Entries of all tables together that eliminating in this order makes."""
        return sum(2 << scope.bit_count() for scope in self.scopes)


def neighbourhoods(arrays: Arrays) -> list[int]:
    """For each variable the set of those it shares a potential with."""
    found = [0] * arrays.count
    for x, y in arrays.ends.tolist():
        found[x] |= 1 << y
        found[y] |= 1 << x
    for scope, _ in arrays.larger:
        whole = sum(1 << v for v in scope)
        for v in scope:
            found[v] |= whole & ~(1 << v)
    return found


def bits(members: int) -> Iterator[int]:
    """The numbers in a set of bits, ascending."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def min_degree(neighbours: list[int], max_width: int) -> Order | None:
    """Eliminate whatever has the fewest neighbours; None as soon as that is over ``max_width``."""
    return _greedy(neighbours, max_width, fill=False)


def min_fill(neighbours: list[int], max_width: int) -> Order | None:
    """Eliminate what joins the fewest of its neighbours anew, among those of small degree.

    Slower than ``min_degree`` and as a rule a little narrower.
    """
    return _greedy(neighbours, max_width, fill=True)


def _greedy(neighbours: list[int], max_width: int, *, fill: bool) -> Order | None:
    near = list(neighbours)
    degree = {v: n.bit_count() for v, n in enumerate(near)}
    by_degree: dict[int, set[int]] = {}
    for v, d in degree.items():
        by_degree.setdefault(d, set()).add(v)
    variables: list[int] = []
    scopes: list[int] = []
    width = least = 0
    while degree:
        while not by_degree.get(least):
            least += 1
        if least > max_width:
            return None
        # Ties go to the smallest number: the same order in every process.
        if not fill:
            chosen = min(by_degree[least])
        else:
            some = [v for d in range(least, least + _SLACK + 1) for v in by_degree.get(d, ())]
            chosen = min(some, key=lambda v: (_fill_in(near, v), degree[v], v))
        scope, own = near[chosen], 1 << chosen
        by_degree[degree.pop(chosen)].discard(chosen)
        variables.append(chosen)
        scopes.append(scope)
        width = max(width, scope.bit_count())
        if width > max_width:
            return None
        for v in bits(scope):
            near[v] = (near[v] | scope) & ~(own | 1 << v)
            by_degree[degree[v]].discard(v)
            degree[v] = near[v].bit_count()
            by_degree.setdefault(degree[v], set()).add(v)
        # Its neighbours lost one neighbour each, and may have lost no more.
        least = max(0, least - 1)
    return Order(tuple(variables), tuple(scopes), width)


def _fill_in(near: list[int], variable: int) -> int:
    """Pairs of neighbours, each counted twice, that are not joined yet."""
    scope = near[variable]
    return sum((scope & ~near[v]).bit_count() - 1 for v in bits(scope))
