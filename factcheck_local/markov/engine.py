"""Choose how to infer: closed form, elimination or belief propagation."""

from typing import Literal

from factcheck_local.errors import InferenceError
from factcheck_local.markov.bp import belief_propagation
from factcheck_local.markov.conflict import find_conflict
from factcheck_local.markov.exact import MAX_WIDTH, decompose, eliminate
from factcheck_local.markov.network import Marginals, Network
from factcheck_local.markov.reduce import reduce

Method = Literal["auto", "exact", "bp"]

#: How many conflicting factors an error message spells out.
_NAMED_FACTORS = 6


def infer(network: Network, method: Method = "auto") -> Marginals:
    """The posterior of every variable, and log Z.

    Leaves are summed out first, in closed form and whatever the method:
    on them belief propagation computes the same. What is left is
    solved one connected component at a time.

    Args:
        network: binary variables; belief propagation takes pairwise factors only.
        method: ``auto`` eliminates where the width of a component is at most
            ``MAX_WIDTH`` and runs belief propagation elsewhere; ``exact``
            refuses instead; ``bp`` never eliminates.

    Returns:
        Marginals; ``exact`` and ``converged`` only if they hold of every part.

    Raises:
        InferenceError: if every assignment has probability zero, naming the
            factors in conflict; if ``method`` is ``exact`` and a component is
            too wide, naming its width; if belief propagation would be needed
            for a factor over three or more variables.
        ValueError: for an unknown method.
    """
    if method not in ("auto", "exact", "bp"):
        raise ValueError(f"expected method 'auto', 'exact' or 'bp', got {method!r}")
    _refuse_impossible(network)
    reduction = reduce(network)
    p_true: dict[str, float] = {}
    log_z = reduction.log_scale
    widths: list[int] = []
    exact = converged = True
    for part in reduction.core.components():
        if method == "bp":
            decomposition = None
        else:
            decomposition = decompose(part)
            if method == "exact" and not decomposition.feasible:
                raise InferenceError(
                    f"exact inference is limited to width {MAX_WIDTH}; {len(part.variables)} "
                    f"connected variables have width {decomposition.width}",
                    hint="use method 'auto' or 'bp' for approximate marginals",
                )
        if decomposition is not None and decomposition.feasible:
            part_p_true, part_log_z = eliminate(part, decomposition)
            widths.append(decomposition.width)
        else:
            beliefs = belief_propagation(part)
            part_p_true, part_log_z = beliefs.p_true, beliefs.log_z
            exact, converged = False, converged and beliefs.converged
        p_true.update(part_p_true)
        log_z += part_log_z
    name = _method_name(exact, widths)
    return Marginals(reduction.restore(p_true), log_z, exact, converged, name)


def _method_name(exact: bool, widths: list[int]) -> str:
    if not exact:
        return "loopy belief propagation"
    if not widths:
        return "exact (leaf elimination)"
    return f"exact (variable elimination, width {max(widths)})"


def _refuse_impossible(network: Network) -> None:
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
