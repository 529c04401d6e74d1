"""Marginals by summing over every assignment: slow, and hard to get wrong."""

import numpy as np

from factcheck_local.core.errors import InferenceError
from factcheck_local.markov.factors import log_table
from factcheck_local.markov.network import Marginals, Network

#: The joint table has 2^n entries of 8 bytes: 8 MB at 20 variables.
MAX_VARIABLES = 20


def enumerate_marginals(network: Network) -> Marginals:
    """Exact marginals from the full joint table; the reference for the other methods.

    Raises:
        InferenceError: if there are more than ``MAX_VARIABLES`` variables, or
            every assignment has probability zero.
    """
    n = len(network.variables)
    if n > MAX_VARIABLES:
        raise InferenceError(f"enumeration takes at most {MAX_VARIABLES} variables, got {n}")
    position = network.positions
    joint = np.zeros((2,) * n)
    for factor in network.factors:
        axes = [position[variable] for variable in factor.variables]
        shape = [2 if axis in axes else 1 for axis in range(n)]
        joint += log_table(factor.table.transpose(np.argsort(axes))).reshape(shape)
    peak = float(joint.max())
    if peak == -np.inf:
        raise InferenceError("every assignment of the network has probability zero")
    weights = np.exp(joint - peak)
    total = float(weights.sum())
    p_true = {
        variable: float(weights.take(1, axis=axis).sum()) / total
        for variable, axis in position.items()
    }
    return Marginals(p_true, peak + float(np.log(total)), True, True, "exact (enumeration)")
