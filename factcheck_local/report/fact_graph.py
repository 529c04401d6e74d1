"""The assessment as a fact graph in FactReasoner's JSON, for ``factcheck infer`` and others."""

from __future__ import annotations

from typing import Any

from factcheck_local.pipeline.verdicts.network import ATOM_PRIOR
from factcheck_local.report.network import atoms_reasoned_over, edges_of


def to_fact_graph(assessment: dict[str, Any]) -> dict[str, Any]:
    """Nodes with priors and the edges of the network, as ``network_from_graph`` reads them.

    An edge's ``probability`` is what its factor carries, see ``verdicts.network.discounted``, so
    inference over the graph gives the posteriors of FR1 to FR3 again. FR4's
    documents have no place in the format and are left out.

    Args:
        assessment: what ``to_dict`` gives.
    """
    atoms = atoms_reasoned_over(assessment)
    kinds = {c["id"]: "context" for c in assessment["contexts"]} | dict.fromkeys(atoms, "atom")
    priors = {c["id"]: c["prior"] for c in assessment["contexts"]}
    return {
        "nodes": [
            {"id": name, "type": kinds[name], "probability": priors.get(name, ATOM_PRIOR)}
            for name in (*atoms, *priors)
        ],
        "edges": [
            {
                "from": link.premise,
                "to": link.hypothesis,
                "relation": link.label.value,
                "probability": link.strength,
                "link": f"{kinds[link.premise]}_{kinds[link.hypothesis]}",
            }
            for link in edges_of(assessment)
        ],
    }
