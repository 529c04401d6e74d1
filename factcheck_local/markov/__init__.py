"""Exact and approximate inference in FactReasoner's graphical model.

``infer(network)`` is the way in. Values are binary; index 0 of every table is
false, 1 is true. scipy and pgmpy are loaded when they are needed.
"""

from factcheck_local.markov.bif import named_for_bif, network_to_bif
from factcheck_local.markov.by_pgmpy import infer_by_pgmpy
from factcheck_local.markov.engine import Method, infer
from factcheck_local.markov.fact_graph import marginals_to_json, network_from_graph
from factcheck_local.markov.factors import (
    Factor,
    Parameterisation,
    prior_factor,
    relation_factor,
)
from factcheck_local.markov.limits import Limits
from factcheck_local.markov.network import Marginals, Network
from factcheck_local.markov.uai import network_from_uai, network_to_uai

__all__ = [
    "Factor",
    "Limits",
    "Marginals",
    "Method",
    "Network",
    "Parameterisation",
    "infer",
    "infer_by_pgmpy",
    "marginals_to_json",
    "named_for_bif",
    "network_from_graph",
    "network_from_uai",
    "network_to_bif",
    "network_to_uai",
    "prior_factor",
    "relation_factor",
]
