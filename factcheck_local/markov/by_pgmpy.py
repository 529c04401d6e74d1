"""Posteriors by pgmpy's variable elimination: another engine to compare ours with."""

from __future__ import annotations

import math

from factcheck_local.core.errors import InferenceError
from factcheck_local.markov._lazy import pgmpy
from factcheck_local.markov.network import Marginals, Network


def infer_by_pgmpy(network: Network) -> Marginals:
    """The posteriors of all variables and log Z, one query per variable.

    It takes seconds where ours takes milliseconds, and memory that doubles with each
    variable of the widest part.

    Raises:
        InferenceError: if pgmpy cannot solve the network, or every assignment has
            probability zero, or so little that it underflows.
    """
    solver = pgmpy("inference").VariableElimination(network.to_pgmpy())
    p_true: dict[str, float] = {}
    z = 1.0
    try:
        for variable in network.variables:
            values = solver.query([variable], show_progress=False).values
            # A query of a Markov network is not normalised: it adds up to Z. What pgmpy calls the
            # partition function is a table over all variables at once.
            z = float(values.sum())
            if not 0.0 < z < math.inf:
                raise InferenceError(f"pgmpy cannot solve this network: Z is {z:g}")
            p_true[variable] = float(values[1] / z)
    except (MemoryError, ValueError) as error:
        raise InferenceError(f"pgmpy cannot solve this network: {error}") from error
    return Marginals(
        p_true,
        math.log(z),
        exact=True,
        converged=True,
        method="pgmpy's variable elimination",
    )
