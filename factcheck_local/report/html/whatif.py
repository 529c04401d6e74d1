"""What the page needs to compute posteriors anew as a source's prior is moved.

Tables are not handed over: those of a passage's relations, and of FR4's documents,
depend on priors, so the page builds them by the same formulas (``markov/factors.py``,
``verdicts/documents.py``) and eliminates in the order that is found here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from factcheck_local.core.errors import FactcheckError
from factcheck_local.markov import Network, infer
from factcheck_local.markov.arrays import compile_network
from factcheck_local.markov.order import Order, min_fill, neighbourhoods
from factcheck_local.pipeline.verdicts.factreasoner import copies
from factcheck_local.report.network import RunNetwork, network_of
from factcheck_local.report.stored import is_judged

#: What a browser does between two movements of a slider.
MAX_VARIABLES = 400
MAX_WIDTH = 14
MAX_ENTRIES = 2**18

#: How far the rebuilt network may be from the numbers in the report.
TOLERANCE = 1e-6


def page_model(assessment: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The model for the page, or None and why there is none.

    Returns:
        ``variables`` are ``{"atom": position}``, ``{"passages": [[source, prior], …]}``
        (copies that FR4 merges, the highest prior counts) or ``{"document": [variable,
        …]}``; ``relations`` ``[label, x, y, strength]``; ``order`` that of
        elimination; ``sources`` names. Atoms are positions among the assessment's.
    """
    scored = {a["id"]: a["probability"] for a in assessment["atoms"]}
    scored = {name: p for name, p in scored.items() if p is not None}
    if not scored:
        return None, "No claim has a probability."
    if is_judged(assessment):
        return None, "The verdicts are a judge's own; there is no network behind them."
    if not assessment["inference"]["exact"]:
        return None, "The probabilities of this run are approximate; the page computes exactly."
    try:
        run = network_of(assessment)
        joined = _joined(run.network)
        if not joined.variables:
            return None, "No passage bears on a claim."
        order = _order(joined)
        if order is None:
            return None, (
                f"With {len(joined.variables)} claims and passages that depend on each other "
                "the network is too large for a page."
            )
        found = infer(run.network, wanted=scored).p_true
    except (FactcheckError, ValueError) as error:
        return None, f"The network of this run could not be built again: {error}."
    if any(abs(found[name] - p) > TOLERANCE for name, p in scored.items()):
        return None, (
            "This version computes other probabilities from the relations than the run did, so "
            "nothing is computed anew."
        )
    return _model(assessment, run, joined, order), ""


def _joined(network: Network) -> Network:
    """The network without variables that depend on no other."""
    names = {name for f in network.factors if len(f.variables) > 1 for name in f.variables}
    return Network(
        tuple(v for v in network.variables if v in names),
        tuple(f for f in network.factors if names.issuperset(f.variables)),
    )


def _order(network: Network) -> Order | None:
    if len(network.variables) > MAX_VARIABLES:
        return None
    order = min_fill(neighbourhoods(compile_network(network)), MAX_WIDTH)
    return order if order is not None and order.cost <= MAX_ENTRIES else None


def _model(
    assessment: Mapping[str, Any], run: RunNetwork, joined: Network, order: Order
) -> dict[str, Any]:
    position = joined.positions
    sources = list(dict.fromkeys(c.source for c in run.given))
    same = copies(run.given, run.settings)
    passages: dict[str, list[tuple[int, float]]] = {}
    for c in run.given:
        passages.setdefault(same.get(c.id, c.id), []).append((sources.index(c.source), c.prior))
    variables: dict[str, dict[str, Any]] = {
        a["id"]: {"atom": i} for i, a in enumerate(assessment["atoms"])
    }
    variables |= {name: {"passages": own} for name, own in passages.items()}
    for document in run.documents:
        own = [position[c.id] for c in run.contexts if c.source == document.source]
        variables[document.variable] = {"document": own}
    return {
        "parameterisation": run.settings.factors,
        "correlation": run.settings.source_correlation,
        "sources": sources,
        "variables": [variables[name] for name in joined.variables],
        "relations": [
            [x.label.value, position[x.premise], position[x.hypothesis], x.strength]
            for x in run.links
        ],
        "order": list(order.variables),
    }
