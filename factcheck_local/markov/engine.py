"""Choose how to infer: closed form, elimination, or approximation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from factcheck_local.core.errors import InferenceError
from factcheck_local.markov.approximate import approximate, fixed_points
from factcheck_local.markov.arrays import Arrays, compile_network
from factcheck_local.markov.bp import belief_propagation
from factcheck_local.markov.conflict import find_conflict
from factcheck_local.markov.exact import eliminate
from factcheck_local.markov.factors import p_of_log_odds
from factcheck_local.markov.gibbs import annealed_gibbs
from factcheck_local.markov.limits import Limits
from factcheck_local.markov.network import Marginals, Network
from factcheck_local.markov.order import Order, min_degree, min_fill, neighbourhoods
from factcheck_local.markov.reduce import reduce
from factcheck_local.markov.solution import Solution

Method = Literal["auto", "exact", "bp", "gibbs"]

#: Which variables' posteriors are asked for.
Wanted = NDArray[np.bool_]

#: Solves a connected part in which every variable has two neighbours or more.
Solve = Callable[[Arrays, Limits, Wanted], Solution]

#: How many conflicting factors an error message spells out.
_NAMED_FACTORS = 6

#: From this width on a second, slower search for a narrower order pays.
_SEARCH_WIDTH = 16


def infer(
    network: Network,
    method: Method = "auto",
    limits: Limits | None = None,
    wanted: Iterable[str] | None = None,
) -> Marginals:
    """The posteriors of the variables, and log Z.

    Leaves are summed out first, in closed form and whatever the method: on them
    every method computes the same. What is left is solved one connected
    part at a time.

    Args:
        network: binary variables; approximation takes pairwise factors only.
        method: ``auto`` eliminates what is narrow enough and approximates the rest by
            belief propagation and sampling; ``exact`` refuses what is too wide;
            ``bp`` is belief propagation alone, ``gibbs`` sampling alone.
        limits: what may be spent; the defaults if None.
        wanted: variables whose posteriors are asked for; all if None.

    Returns:
        Marginals; ``exact`` and ``converged`` only if they hold of every part.

    Raises:
        InferenceError: if every assignment has probability zero, naming the
            factors in conflict; if ``method`` is ``exact`` and a part is too wide,
            naming its width; if a part with a factor over three or more
            variables would have to be approximated.
        ValueError: for an unknown method or variable.
    """
    if method not in get_args(Method):
        raise ValueError(f"expected a method of {', '.join(get_args(Method))}, got {method!r}")
    solvers: Mapping[Method, Solve] = {
        "auto": _auto,
        "exact": _exact,
        "bp": _bp,
        "gibbs": _gibbs,
    }
    return infer_with(solvers[method], network, limits, wanted)


def infer_with(
    solve: Solve,
    network: Network,
    limits: Limits | None = None,
    wanted: Iterable[str] | None = None,
) -> Marginals:
    """The same as ``infer``, by a method of the caller's own."""
    limits = limits or Limits()
    arrays = compile_network(network)
    _refuse_impossible(network, arrays)
    reduction = reduce(arrays)
    names = network.variables if wanted is None else tuple(wanted)
    asked = _asked(network, names)
    needed = reduction.needed(asked)
    parts = [solve(part.arrays, limits, needed[part.members]) for part in reduction.parts]
    p_true = reduction.restore([part.p_true for part in parts])[asked]
    log_z = reduction.log_scale + sum(part.log_z for part in parts)
    if not np.isfinite(log_z) or np.isnan(p_true).any():
        raise InferenceError(
            f"every assignment of the {arrays.count} variables has probability zero"
        )
    return Marginals(
        dict(zip(compress(network.variables, asked), p_true.tolist(), strict=True)),
        log_z,
        exact=all(part.exact for part in parts),
        converged=all(part.converged for part in parts),
        method=_name(parts),
        multimodal=any(part.multimodal for part in parts),
        iterations=max((part.iterations for part in parts), default=0),
        error=_error(parts),
    )


def find_order(arrays: Arrays, max_width: int) -> Order | None:
    """A cheap elimination order of a connected network, or None if none is narrow enough."""
    near = neighbourhoods(arrays)
    quick = min_degree(near, max_width)
    if quick is not None and quick.width < _SEARCH_WIDTH:
        return quick
    # Where the quick search ends far beyond the limit, the slow one will, too.
    if quick is None and min_degree(near, max_width + 2) is None:
        return None
    narrow = min_fill(near, max_width)
    found = [order for order in (quick, narrow) if order is not None]
    return min(found, key=lambda order: order.cost) if found else None


def _asked(network: Network, names: Sequence[str]) -> Wanted:
    """(n,) which variables are among ``names``."""
    position = network.positions
    asked = np.zeros(len(position), dtype=bool)
    for name in names:
        if name not in position:
            raise ValueError(f"unknown variable {name!r}")
        asked[position[name]] = True
    return asked


def _auto(arrays: Arrays, limits: Limits, wanted: Wanted) -> Solution:
    order = find_order(arrays, limits.max_width)
    if order is None:
        return approximate(arrays, limits)
    return _eliminated(arrays, order, wanted)


def _exact(arrays: Arrays, limits: Limits, wanted: Wanted) -> Solution:
    order = find_order(arrays, limits.max_width)
    if order is None:
        raise InferenceError(
            f"exact inference is limited to width {limits.max_width}; {arrays.count} "
            "connected variables are wider",
            hint="use method 'auto' for approximate marginals",
        )
    return _eliminated(arrays, order, wanted)


def _eliminated(arrays: Arrays, order: Order, wanted: Wanted) -> Solution:
    p_true, log_z = eliminate(arrays, order, wanted)
    return Solution(
        p_true, log_z, f"exact (variable elimination, width {order.width})", width=order.width
    )


def _bp(arrays: Arrays, limits: Limits, _wanted: Wanted) -> Solution:
    """Belief propagation alone, the fixed point of the best Bethe log Z."""
    found = belief_propagation(arrays, starts=limits.starts, seed=limits.seed)
    modes = fixed_points(found)
    odds = found.log_odds[modes[0]]
    return Solution(
        p_of_log_odds(odds),
        float(found.log_z[modes[0]]),
        "loopy belief propagation",
        exact=False,
        converged=bool(found.converged[modes[0]]),
        multimodal=len(modes) > 1,
        iterations=found.iterations,
        error=None,
    )


def _gibbs(arrays: Arrays, limits: Limits, _wanted: Wanted) -> Solution:
    """Sampling alone, from what each variable would be on its own."""
    alone = np.clip(arrays.unary[:, 1] - arrays.unary[:, 0], -30.0, 30.0)
    found = annealed_gibbs(
        arrays,
        alone[None],
        chains=limits.chains,
        anneal=limits.anneal,
        sweeps=limits.sweeps,
        seed=limits.seed,
    )
    return Solution(
        found.p_true,
        found.log_z,
        f"annealed Gibbs sampling, {limits.chains} chains",
        exact=False,
        iterations=limits.anneal + limits.sweeps,
        error=float(found.error.max(initial=0.0)),
    )


def _name(parts: list[Solution]) -> str:
    """The least exact method used, or the widest of exact ones."""
    if not parts:
        return "exact (leaf elimination)"
    return max(parts, key=lambda part: (not part.exact, part.width, len(part.p_true))).method


def _error(parts: list[Solution]) -> float | None:
    """The largest estimate; none if a part has none."""
    known = [part.error for part in parts if part.error is not None]
    return max(known, default=0.0) if len(known) == len(parts) else None


def _refuse_impossible(network: Network, arrays: Arrays) -> None:
    if np.isfinite(arrays.unary).all() and np.isfinite(arrays.tables).all():
        return
    conflict = find_conflict(network)
    if not conflict:
        return
    names = [f"({', '.join(factor.variables)})" for factor in conflict[:_NAMED_FACTORS]]
    if len(conflict) > _NAMED_FACTORS:
        names.append(f"{len(conflict) - _NAMED_FACTORS} more")
    raise InferenceError(
        "every assignment has probability zero; the conflict is between the factors over "
        + ", ".join(names),
        hint="a prior or a relation with probability 0 or 1 allows no evidence against it",
    )
