"""FactReasoner's fact graph: what is read, and what is refused with its place."""

import copy
import json
import math
from typing import Any

import pytest

from factcheck_local.core.errors import RecordError
from factcheck_local.markov import (
    infer,
    marginals_to_json,
    network_from_graph,
)

from .enumeration import enumerate_marginals

GRAPH: dict[str, Any] = {
    "nodes": [
        {"id": "a1", "type": "atom", "probability": 0.5},
        {"id": "c1", "type": "context", "probability": 0.9},
        {"id": "c2", "type": "context", "probability": 0.8},
    ],
    "edges": [
        {"from": "c1", "to": "a1", "relation": "entailment", "probability": 0.9, "link": "x"},
        {"from": "c2", "to": "c1", "relation": "contradiction", "probability": 0.7},
        {"from": "c2", "to": "a1", "relation": "neutral", "probability": 0.99},
    ],
}


def test_nodes_become_priors_and_edges_relations() -> None:
    network = network_from_graph(GRAPH)
    assert network.variables == ("a1", "c1", "c2")
    assert [f.variables for f in network.factors] == [
        ("a1",), ("c1",), ("c2",), ("c1", "a1"), ("c2", "c1"),
    ]  # fmt: skip
    # ¬c2 leaves c1 at the prior of c1, ¬c1 leaves a1 at one half.
    assert network.factors[3].table[0].tolist() == [0.5, 0.5]
    assert network.factors[4].table[0].tolist() == [0.9, 0.9]
    assert network.factors[4].table[1] == pytest.approx([0.7, 0.3])
    assert network_from_graph(GRAPH, "table1").factors[4].table[0].tolist() == [0.7, 0.7]


def test_marginals_as_json() -> None:
    marginals = infer(network_from_graph(GRAPH))
    written = json.loads(json.dumps(marginals_to_json(marginals), allow_nan=False))
    assert list(written) == [
        "marginals",
        "method",
        "exact",
        "log_z",
        "converged",
        "multimodal",
        "iterations",
        "error",
    ]
    assert list(written["marginals"]) == ["a1", "c1", "c2"]
    expected = enumerate_marginals(network_from_graph(GRAPH))
    assert written["marginals"] == pytest.approx(dict(expected.p_true), abs=1e-12)
    assert written["log_z"] == pytest.approx(expected.log_z, abs=1e-12)
    assert (written["exact"], written["converged"]) == (True, True)


def test_an_empty_graph_has_no_marginals() -> None:
    assert marginals_to_json(infer(network_from_graph({"nodes": [], "edges": []}))) == {
        "marginals": {},
        "method": "exact (leaf elimination)",
        "exact": True,
        "log_z": 0.0,
        "converged": True,
        "multimodal": False,
        "iterations": 0,
        "error": 0.0,
    }


@pytest.mark.parametrize("prior", [0, 1])
def test_certain_priors_are_allowed(prior: int) -> None:
    graph = copy.deepcopy(GRAPH)
    graph["nodes"][2]["probability"] = prior
    assert infer(network_from_graph(graph)).p_true["c2"] == prior


# Where to put which value, and what the error says. None as a value deletes the key.
MALFORMED: list[tuple[tuple[str | int, ...], object, str]] = [
    (("nodes",), None, "fact graph: expected a list 'nodes', got nothing"),
    (("edges",), {}, "fact graph: expected a list 'edges', got {}"),
    (("nodes", 1), "c1", "node 1: expected an object, got 'c1'"),
    (("edges", 2), 7, "edge 2: expected an object, got 7"),
    (("nodes", 0, "id"), None, "node 0: expected 'id' to be a non-empty text, got nothing"),
    (("nodes", 0, "id"), "", "node 0: expected 'id' to be a non-empty text, got ''"),
    (("nodes", 0, "id"), 3, "node 0: expected 'id' to be a non-empty text, got 3"),
    (("nodes", 2, "id"), "c1", "node 2: duplicate id 'c1'"),
    (("nodes", 1, "type"), "claim", "node 1: expected type 'atom' or 'context', got 'claim'"),
    (("nodes", 1, "type"), None, "node 1: expected 'type'"),
    (("nodes", 1, "probability"), 1.01, "node 1: expected a probability in [0, 1], got 1.01"),
    (("nodes", 1, "probability"), -1, "node 1: expected a probability in [0, 1], got -1"),
    (("nodes", 1, "probability"), math.nan, "node 1: expected a probability in [0, 1], got nan"),
    (("nodes", 1, "probability"), True, "node 1: expected a probability in [0, 1], got True"),
    (("nodes", 1, "probability"), "0.9", "node 1: expected a probability in [0, 1], got '0.9'"),
    (("nodes", 1, "probability"), None, "node 1: expected a probability in [0, 1], got nothing"),
    (("edges", 0, "from"), "c9", "edge 0: unknown node 'c9'"),
    (("edges", 1, "to"), "c9", "edge 1: unknown node 'c9'"),
    (("edges", 1, "to"), "c2", "edge 1: joins 'c2' to itself"),
    (("edges", 1, "to"), None, "edge 1: expected 'to'"),
    (("edges", 1, "relation"), "entails", "edge 1: expected a relation of entailment, "),
    (("edges", 1, "probability"), 2, "edge 1: expected a probability in [0, 1], got 2"),
    (("edges", 2, "probability"), 2, "edge 2: expected a probability in [0, 1], got 2"),
]


@pytest.mark.parametrize(("path", "value", "message"), MALFORMED)
def test_malformed_graphs(path: tuple[str | int, ...], value: object, message: str) -> None:
    graph: Any = copy.deepcopy(GRAPH)
    parent = graph
    for key in path[:-1]:
        parent = parent[key]
    if value is None:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    with pytest.raises(RecordError) as caught:
        network_from_graph(graph)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("graph", [None, [], "graph", 3])
def test_what_is_not_an_object(graph: object) -> None:
    with pytest.raises(RecordError, match="fact graph: expected an object"):
        network_from_graph(graph)


def test_a_long_value_is_cut() -> None:
    with pytest.raises(RecordError) as caught:
        network_from_graph({"nodes": ["x" * 500], "edges": []})
    assert len(str(caught.value)) < 120
