"""FR4: passages of one document stand and fall together, and copies count once.

FR1 to FR3 know a source by the prior of its passages alone: a document caught in ten
errors is believed the eleventh time as if nothing had happened. Here each document has
a variable of its own, true if the document is reliable, and its passages depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from factcheck_local.core.types import Context, EvidenceLink, RelationLabel
from factcheck_local.markov import Factor, Network, prior_factor


@dataclass(frozen=True, slots=True)
class SourceVariable:
    """A document in the network: its name, its variable's, and its prior."""

    source: str
    variable: str
    prior: float


def said_once(link: EvidenceLink, same: Mapping[str, str]) -> tuple[str, str, RelationLabel]:
    """A link's premise, hypothesis and label with copies merged, as ``count_once`` takes them."""
    premise = same.get(link.premise, link.premise)
    hypothesis = same.get(link.hypothesis, link.hypothesis)
    if link.label is RelationLabel.EQUIVALENCE and hypothesis < premise:
        # It has no direction: ``links_from`` names the smaller id first, so does this.
        premise, hypothesis = hypothesis, premise
    return premise, hypothesis, link.label


def count_once(
    contexts: Sequence[Context], links: Sequence[EvidenceLink], same: Mapping[str, str]
) -> tuple[tuple[Context, ...], tuple[EvidenceLink, ...]]:
    """Passages and links with near duplicates merged into the one that stands for them.

    It gets the highest prior among them: a copy makes a text no less reliable. Of links
    that become equal the strongest stays; those between copies of one text go.

    Args:
        contexts: all passages.
        links: between them and the atoms.
        same: id of a passage -> id of the one that stands for it, as
            ``factreasoner.copies`` gives them; where there are none all stays as it is.
    """
    if not same:
        return tuple(contexts), tuple(links)
    prior: dict[str, float] = {}
    for context in contexts:
        name = same.get(context.id, context.id)
        prior[name] = max(prior.get(name, 0.0), context.prior)
    kept = tuple(replace(c, prior=prior[c.id]) for c in contexts if c.id in prior)
    strongest: dict[tuple[str, str, RelationLabel], EvidenceLink] = {}
    for link in links:
        premise, hypothesis, _ = key = said_once(link, same)
        known = strongest.get(key)
        if premise != hypothesis and (known is None or link.strength > known.strength):
            strongest[key] = replace(link, premise=premise, hypothesis=hypothesis)
    return kept, tuple(strongest.values())


def with_sources(
    network: Network, contexts: Sequence[Context], correlation: float
) -> tuple[Network, list[SourceVariable]]:
    """The network with a reliability variable for each document of several passages.

    A document's variable S has the mean prior of its passages, and a passage C with
    prior π keeps it whatever the correlation r of the two:

        P(C | S) = π + r √(π(1-π)) √((1-s)/s),   P(C | ¬S) = π - r √(π(1-π)) √(s/(1-s))

    with s = P(S). Two passages of a document then correlate by r². Where one of the two would
    leave [0, 1], r is the largest with which it does not, for this passage.
    (Latent reliability of a source as in truth discovery: Pasternack and Roth 2013,
    "Latent credibility analysis".)

    Args:
        network: over atoms and ``contexts``; each passage's prior is one of its factors.
        contexts: those of the network.
        correlation: r in [0, 1]; 0 leaves every posterior as it is.

    Returns:
        The network, and the variables it got.
    """
    by_source: dict[str, list[Context]] = {}
    for context in contexts:
        by_source.setdefault(context.source, []).append(context)
    prefix = "source:"
    while any(name.startswith(prefix) for name in network.variables):
        prefix = "_" + prefix
    added: list[SourceVariable] = []
    factors: list[Factor] = []
    for source, own in by_source.items():
        # On a passage that is alone it would change nothing.
        if len(own) < 2:
            continue
        document = SourceVariable(source, prefix + source, fmean(c.prior for c in own))
        added.append(document)
        factors.append(prior_factor(document.variable, document.prior))
        factors += [_dependence(document, c, correlation) for c in own]
    variables = (*network.variables, *(d.variable for d in added))
    return Network(variables, (*network.factors, *factors)), added


def _dependence(document: SourceVariable, context: Context, correlation: float) -> Factor:
    """P(C | S) / P(C), which turns the prior that the network has into P(C | S)."""
    scope, prior, reliable = (document.variable, context.id), context.prior, document.prior
    if not (0.0 < prior < 1.0 and 0.0 < reliable < 1.0):
        return Factor(scope, [[1.0, 1.0], [1.0, 1.0]])
    root = math.sqrt(reliable / (1.0 - reliable))
    # No wider than both stay probabilities: one cut by itself would change the prior.
    spread = correlation * math.sqrt(prior * (1.0 - prior))
    spread = min(spread, prior / root, (1.0 - prior) * root)
    # What is cut here is rounding.
    rows = [max(0.0, prior - spread * root), min(1.0, prior + spread / root)]
    return Factor(scope, [[(1 - p) / (1 - prior), p / prior] for p in rows])
