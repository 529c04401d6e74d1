"""A network as a Bayesian network with the same distribution, for tools that read BIF.

BIF, the interchange format of Bayesian networks, holds conditional probabilities and no
potentials. Eliminating the variables gives them: when one is summed out, what it is still
joined to become its parents, and its potentials divided by their sum are its
probabilities given those (Koller and Friedman 2009, section 4.5.2, of which pgmpy's
``to_bayesian_model`` has the graph alone). The product of all is P(x); Z is not kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from factcheck_local.core.errors import InferenceError
from factcheck_local.markov._lazy import pgmpy
from factcheck_local.markov.arrays import compile_network
from factcheck_local.markov.exact import upwards
from factcheck_local.markov.factors import Factor
from factcheck_local.markov.network import STATES, Network
from factcheck_local.markov.order import min_fill, neighbourhoods

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

#: A table has two numbers for each assignment of the parents, and each of these a line.
MAX_WIDTH = 14
MAX_ENTRIES = 2**18

#: What readers take for a name; they tell no upper case from lower case.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def to_bayesian(network: Network) -> DiscreteBayesianNetwork:
    """A pgmpy ``DiscreteBayesianNetwork`` with the network's distribution; states are ``STATES``.

    Raises:
        InferenceError: if the tables would be too large, or every assignment has
            probability zero.
    """
    arrays = compile_network(network)
    order = min_fill(neighbourhoods(arrays), MAX_WIDTH)
    if order is None or order.cost > MAX_ENTRIES:
        size = f"more than {MAX_WIDTH} parents" if order is None else f"{order.cost:,} numbers"
        raise InferenceError(
            f"as a Bayesian network the tables of these {arrays.count} variables would have "
            f"{size}; at most {MAX_WIDTH} parents and {MAX_ENTRIES:,} numbers are written",
            hint="--write-uai keeps the factors as they are",
        )
    cliques, algebra, log_z = upwards(arrays, order)
    if not np.isfinite(log_z):
        raise InferenceError(
            f"every assignment of the {arrays.count} variables has probability zero"
        )
    names = [network.variables[v] for v in order.variables]
    table_of = pgmpy("factors.discrete").TabularCPD
    model = pgmpy("models").DiscreteBayesianNetwork()
    model.name = "factcheck"
    model.add_nodes_from(network.variables)
    for clique in cliques:
        child, *parents = (names[place] for place in clique.scope)
        model.add_edges_from((parent, child) for parent in parents)
        given = algebra.belief(clique.product, clique.message, np.ones(clique.message.shape))
        # Parents that cannot be so together: any probabilities will do.
        given = np.where(given.sum(axis=0) > 0, given, 0.5).reshape(2, -1)
        states = {name: list(STATES) for name in (child, *parents)}
        model.add_cpds(table_of(child, 2, given, parents, [2] * len(parents), states))
    return model


def network_to_bif(network: Network) -> str:
    """``to_bayesian`` in the BIF format, as pgmpy writes it.

    Raises:
        InferenceError: as ``to_bayesian`` does, and for a variable whose name BIF cannot hold.
    """
    seen: dict[str, str] = {}
    for name in network.variables:
        if not _NAME.fullmatch(name):
            raise InferenceError(f"BIF: {name!r} cannot be the name of a variable")
        if name.lower() in seen:
            raise InferenceError(f"BIF: {seen[name.lower()]!r} and {name!r} would be one variable")
        seen[name.lower()] = name
    return str(pgmpy("readwrite").BIFWriter(to_bayesian(network)))


def named_for_bif(network: Network) -> Network:
    """The network under names that BIF can hold, each its own.

    A passage's id may begin with a digit, and a document's name may have any character.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for variable in network.variables:
        base = re.sub(r"[^A-Za-z0-9_.-]", "_", variable)
        base = name = re.sub(r"^(?![A-Za-z_])", "_", base)
        number = 1
        while name.lower() in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name.lower())
        names[variable] = name
    factors = (Factor([names[v] for v in f.variables], f.table) for f in network.factors)
    return Network(tuple(names.values()), tuple(factors))
