"""FactReasoner's fact graph (JSON) as a network, and marginals as JSON.

A graph is ``{"nodes": [{"id", "type", "probability"}], "edges": [{"from",
"to", "relation", "probability", "link"}]}``. A node's probability is its
prior; exactly 0 and 1 are allowed. ``link`` says what kinds of node an edge
joins, which the nodes say already, so it is not read.
"""

from collections.abc import Mapping
from typing import Any

from factcheck_local.core.errors import RecordError
from factcheck_local.core.types import RelationLabel
from factcheck_local.markov.factors import (
    Factor,
    Parameterisation,
    prior_factor,
    relation_factor,
)
from factcheck_local.markov.network import Marginals, Network

NODE_TYPES = ("atom", "context")


def network_from_graph(
    graph: object, parameterisation: Parameterisation = "conditional"
) -> Network:
    """The Markov network of a fact graph; neutral edges have no factor.

    Args:
        graph: the parsed JSON.
        parameterisation: of the relations, see ``relation_factor``.

    Returns:
        A network with one variable for each node, in their order.

    Raises:
        RecordError: if the graph is malformed, naming the node or edge by its
            index (from 0) and what was expected of it.
    """
    if not isinstance(graph, Mapping):
        raise RecordError(f"fact graph: expected an object, got {_shown(graph)}")
    priors: dict[str, float] = {}
    for index, node in enumerate(_entries(graph, "nodes")):
        where = f"node {index}"
        name = _text(node, "id", where)
        if name in priors:
            raise RecordError(f"{where}: duplicate id {name!r}")
        if _text(node, "type", where) not in NODE_TYPES:
            raise RecordError(
                f"{where}: expected type 'atom' or 'context', got {_shown(node['type'])}"
            )
        priors[name] = _probability(node, where)
    factors = [prior_factor(name, prior) for name, prior in priors.items()]
    for index, edge in enumerate(_entries(graph, "edges")):
        factors += _edge_factors(edge, f"edge {index}", priors, parameterisation)
    return Network(tuple(priors), tuple(factors))


def marginals_to_json(marginals: Marginals) -> dict[str, Any]:
    """The object that ``factcheck infer`` writes; ``log_z`` is a natural logarithm."""
    return {
        "marginals": dict(marginals.p_true),
        "method": marginals.method,
        "exact": marginals.exact,
        "log_z": marginals.log_z,
        "converged": marginals.converged,
        "multimodal": marginals.multimodal,
        "iterations": marginals.iterations,
        "error": marginals.error,
    }


def _edge_factors(
    edge: Mapping[str, Any],
    where: str,
    priors: Mapping[str, float],
    parameterisation: Parameterisation,
) -> list[Factor]:
    """The factor of an edge; none if it is neutral, which is checked all the same."""
    x, y = _text(edge, "from", where), _text(edge, "to", where)
    for end in (x, y):
        if end not in priors:
            raise RecordError(f"{where}: unknown node {end!r}")
    if x == y:
        raise RecordError(f"{where}: joins {x!r} to itself")
    relation = _text(edge, "relation", where)
    if relation not in list(RelationLabel):
        expected = ", ".join(RelationLabel)
        raise RecordError(f"{where}: expected a relation of {expected}, got {relation!r}")
    probability = _probability(edge, where)
    label = RelationLabel(relation)
    if label is RelationLabel.NEUTRAL:
        return []
    return [
        relation_factor(
            label, x, y, probability, parameterisation=parameterisation, prior_y=priors[y]
        )
    ]


def _entries(graph: Mapping[Any, Any], key: str) -> list[Mapping[str, Any]]:
    entries = graph.get(key)
    if not isinstance(entries, list):
        raise RecordError(f"fact graph: expected a list {key!r}, got {_shown(entries)}")
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise RecordError(
                f"{key.removesuffix('s')} {index}: expected an object, got {_shown(entry)}"
            )
    return entries


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise RecordError(f"{where}: expected {key!r} to be a non-empty text, got {_shown(value)}")
    return value


def _probability(entry: Mapping[str, Any], where: str) -> float:
    value = entry.get("probability")
    # A bool is an int to Python, and NaN fails both comparisons.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise RecordError(f"{where}: expected a probability in [0, 1], got {_shown(value)}")
    return float(value)


def _shown(value: object) -> str:
    """A value for an error message: one line, and not too long."""
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
