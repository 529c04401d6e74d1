"""Exact and approximate inference in FactReasoner's graphical model.

``infer(network)`` is the way in. Values are binary; index 0 of every table is
false, 1 is true. Importing this package loads numpy only; networkx and pgmpy
are loaded when a network needs them.
"""

from factcheck_local.markov.bp import Beliefs, belief_propagation
from factcheck_local.markov.engine import Method, infer
from factcheck_local.markov.enumerate import enumerate_marginals
from factcheck_local.markov.exact import MAX_WIDTH
from factcheck_local.markov.fact_graph import marginals_to_json, network_from_graph
from factcheck_local.markov.factors import (
    Factor,
    Parameterisation,
    prior_factor,
    relation_factor,
)
from factcheck_local.markov.network import Marginals, Network
from factcheck_local.markov.reduce import Reduction, reduce

__all__ = [
    "MAX_WIDTH",
    "Beliefs",
    "Factor",
    "Marginals",
    "Method",
    "Network",
    "Parameterisation",
    "Reduction",
    "belief_propagation",
    "enumerate_marginals",
    "infer",
    "marginals_to_json",
    "network_from_graph",
    "prior_factor",
    "reduce",
    "relation_factor",
]
