"""The network of a run, built again from its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from factcheck_local.core.types import Atom, Context, EvidenceLink, Relation, ScoredPair, Summary
from factcheck_local.markov import Network
from factcheck_local.pipeline.settings import Settings, as_named_now
from factcheck_local.pipeline.verdicts.documents import SourceVariable, count_once
from factcheck_local.pipeline.verdicts.factreasoner import copies, fact_network
from factcheck_local.pipeline.verdicts.network import discounted, links_from


@dataclass(frozen=True, slots=True)
class RunNetwork:
    """A run's network and what it was made from.

    Attributes:
        network: variables are named by the ids of atoms and contexts.
        settings: those of the run that decide the network.
        given: all passages of the run.
        contexts: those that are variables; in FR4 copies are merged.
        links: its edges, with the strengths that they have in the network.
        documents: FR4's variables.
    """

    network: Network
    settings: Settings
    given: tuple[Context, ...]
    contexts: tuple[Context, ...]
    links: tuple[EvidenceLink, ...]
    documents: tuple[SourceVariable, ...]


def network_of(
    assessment: Mapping[str, Any], priors: Mapping[str, float] | None = None
) -> RunNetwork:
    """The network over the atoms that relations were read for, and all passages.

    Args:
        assessment: what ``to_dict`` gives.
        priors: by source, in place of what its passages have. What stands for copies of a
            text stays the one that did in the run.
    """
    changed = priors or {}
    settings = _settings(assessment["run"]["settings"])
    given = tuple(
        Context(c["id"], c["source"], c["title"], c["text"], c["prior"])
        for c in assessment["contexts"]
    )
    same = copies(given, settings)
    given = tuple(replace(c, prior=changed.get(c.source, c.prior)) for c in given)
    names = set(atoms_reasoned_over(assessment))
    atoms = [Atom(a["id"], a["text"], a["original"]) for a in assessment["atoms"]]
    contexts, links = count_once(given, links_of(assessment), same)
    edges = discounted(links, settings.relation_correlation)
    network, documents = fact_network(
        [a for a in atoms if a.id in names], contexts, edges, settings
    )
    return RunNetwork(network, settings, given, contexts, edges, tuple(documents))


def atoms_reasoned_over(assessment: Mapping[str, Any]) -> list[str]:
    """Ids of the atoms in the network, in the order of the answer.

    An atom that is unscored because one of its relations failed is among them: the
    others tie their passages together.
    """
    related = {r["to"] for r in assessment["relations"]}
    return [
        a["id"] for a in assessment["atoms"] if a["probability"] is not None or a["id"] in related
    ]


def edges_of(assessment: Mapping[str, Any]) -> tuple[EvidenceLink, ...]:
    """The edges that the run's relations became, as strong as they are in its network."""
    settings = _settings(assessment["run"]["settings"])
    return discounted(links_of(assessment), settings.relation_correlation)


def links_of(assessment: Mapping[str, Any]) -> tuple[EvidenceLink, ...]:
    """The links that the run's relations gave, each as strong as it is alone."""
    return links_from(
        [
            ScoredPair(
                r["from"],
                r["to"],
                Relation(r["entailment"], r["contradiction"], r["neutral"]),
                Summary(**r["summary"]) if "summary" in r else None,
            )
            for r in assessment["relations"]
        ]
    )


def _settings(values: Mapping[str, Any]) -> Settings:
    """The settings that decide a network; what a run of another version lacks is default."""
    wanted = ("assessor", "factors", "relation_correlation", "source_correlation")
    values = as_named_now(values)
    known = {f.name for f in fields(Settings)}.intersection(wanted, values)
    return Settings.effective({name: values[name] for name in known})
