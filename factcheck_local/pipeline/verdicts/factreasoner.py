"""FactReasoner (FR1 to FR4): posteriors of a graphical model become verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from factcheck_local.core.errors import InferenceError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.types import (
    Answer,
    Assessment,
    Atom,
    AtomAssessment,
    Context,
    Evidence,
    EvidenceLink,
    InferenceInfo,
    Quote,
    ScoredPair,
    Sensitivity,
    SourceReliability,
    Thresholds,
    Verdict,
)
from factcheck_local.markov import Marginals, Network, infer
from factcheck_local.pipeline.retrieval.duplicates import near_duplicates
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.decide import NO_REASON, NO_THRESHOLDS, certainty, verdict
from factcheck_local.pipeline.verdicts.documents import SourceVariable, count_once, with_sources
from factcheck_local.pipeline.verdicts.network import build_network, discounted, links_from
from factcheck_local.pipeline.verdicts.sensitivity import sensitivity


@dataclass(frozen=True, slots=True)
class Posterior:
    """The edges between the variables, and what follows from them.

    Attributes:
        links: the edges.
        marginals: None if inference failed.
        failure: why.
        sources: what FR4 says of documents.
        sensitivity: by atom id.
        untried_sources: sources of which it was not tried what rests on them.
        untried: relations of which it was not.
    """

    links: tuple[EvidenceLink, ...]
    marginals: Marginals | None
    failure: str | None = None
    sources: tuple[SourceReliability, ...] = ()
    sensitivity: Mapping[str, Sensitivity] = field(default_factory=dict)
    untried_sources: int = 0
    untried: int = 0


def copies(contexts: Sequence[Context], settings: Settings) -> dict[str, str]:
    """Which passage stands for each in the network; empty where copies count as they stand.

    In FR4 it is the one of the highest prior, so that a trusted page does not stand and fall
    with an archive that keeps its text; among equals one of the document of the most
    passages, of which most is known. The order of retrieval decides nothing.
    """
    if settings.assessor != "fr4":
        return {}
    known = Counter(c.source for c in contexts)
    return near_duplicates(sorted(contexts, key=lambda c: (-c.prior, -known[c.source], c.id)))


def fact_network(
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    links: Sequence[EvidenceLink],
    settings: Settings,
) -> tuple[Network, list[SourceVariable]]:
    """The network over passages that ``count_once`` left, and the documents' variables of FR4.

    ``links`` have the strengths of ``verdicts.network.discounted``.
    """
    network = build_network(atoms, contexts, links, settings.factors)
    if settings.assessor == "fr4":
        return with_sources(network, contexts, settings.source_correlation)
    return network, []


def reason(
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    pairs: Sequence[ScoredPair],
    settings: Settings,
    *,
    explained: bool = True,
    progress: Progress = silent,
) -> Posterior:
    """Build the network and infer; an impossible network fails with its reason.

    Args:
        atoms: the check-worthy ones.
        contexts: all that were retrieved.
        pairs: what the relation model read.
        settings: of the network.
        explained: whether it is solved again and again to find what each atom rests on.
        progress: called as that goes on.
    """
    links = links_from(pairs)

    def solve(
        claims: Sequence[Atom], given: Sequence[Context], between: Sequence[EvidenceLink]
    ) -> tuple[Marginals, list[SourceVariable]]:
        # Both here: a network without some of the links does not count them, and one without
        # a source still has what others copied from it.
        passages, edges = count_once(given, between, copies(given, settings))
        together = discounted(edges, settings.relation_correlation)
        network, documents = fact_network(claims, passages, together, settings)
        wanted = (*(a.id for a in claims), *(d.variable for d in documents))
        return infer(network, settings.method, wanted=wanted), documents

    try:
        marginals, documents = solve(atoms, contexts, links)
        found: Mapping[str, Sensitivity] = {}
        untried_sources = untried = 0
        if explained:
            found, untried_sources, untried = sensitivity(
                atoms,
                contexts,
                links,
                copies(contexts, settings),
                marginals.p_true,
                lambda *parts: solve(*parts)[0].p_true,
                progress,
            )
    except InferenceError as error:
        return Posterior(links, None, str(error))
    sources = tuple(
        SourceReliability(d.source, d.prior, marginals.p_true[d.variable]) for d in documents
    )
    return Posterior(links, marginals, None, sources, found, untried_sources, untried)


def assess(
    answer: Answer,
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    pairs: Sequence[ScoredPair],
    posterior: Posterior,
    quotes: Mapping[tuple[str, str], Sequence[Quote]],
    failures: Mapping[str, str],
    settings: Settings,
    notes: Sequence[str] = (),
    thresholds: Thresholds = NO_THRESHOLDS,
) -> Assessment:
    """Put verdicts and evidence together.

    Args:
        answer: what was verified.
        atoms: all of them, skipped ones too.
        contexts: all that were retrieved.
        pairs: what the relation model read.
        posterior: of the check-worthy atoms.
        quotes: deciding sentences by (context id, atom id).
        failures: atom id -> why it is ``unscored``, whatever else is known.
        settings: for the verdicts.
        notes: what the stages had to say beside their results.
        thresholds: of the verdicts.
    """
    by_id = {c.id: c for c in contexts}
    found = [
        assess_atom(a, by_id, pairs, posterior, quotes, failures.get(a.id), settings, thresholds)
        for a in atoms
    ]
    marginals = posterior.marginals
    return Assessment(
        answer=answer,
        atoms=tuple(found),
        contexts=tuple(contexts),
        links=posterior.links,
        pairs=tuple(pairs),
        inference=InferenceInfo(
            method=marginals.method if marginals else "none",
            exact=marginals.exact if marginals else False,
            converged=marginals.converged if marginals else False,
            log_z=marginals.log_z if marginals else None,
            multimodal=marginals.multimodal if marginals else False,
            error=marginals.error if marginals else None,
        ),
        notes=tuple(notes),
        sources=posterior.sources,
    )


def assess_atom(
    atom: Atom,
    contexts: Mapping[str, Context],
    pairs: Sequence[ScoredPair],
    posterior: Posterior,
    quotes: Mapping[tuple[str, str], Sequence[Quote]],
    failure: str | None,
    settings: Settings,
    thresholds: Thresholds = NO_THRESHOLDS,
) -> AtomAssessment:
    """One atom's verdict with its evidence, the heaviest first.

    Args:
        atom: check-worthy or not.
        contexts: by id, at least those that were read for it.
        pairs: what the relation model read, for other atoms, too.
        posterior: of a network with the atom in it, if it is check-worthy.
        quotes: deciding sentences by (context id, atom id).
        failure: why it is ``unscored``, whatever else is known.
        settings: for the verdict.
        thresholds: of the verdict.
    """
    if not atom.kind.check_worthy and failure is None:
        return AtomAssessment(atom, Verdict.SKIPPED)
    if failure is not None or posterior.marginals is None:
        why = failure or posterior.failure or NO_REASON
        return AtomAssessment(atom, Verdict.UNSCORED, reason=why)
    own = [link for link in posterior.links if link.hypothesis == atom.id]
    own.sort(key=lambda link: (-link.probability * contexts[link.premise].prior, link.premise))
    probability = posterior.marginals.p_true[atom.id]
    read = [pair for pair in pairs if pair.hypothesis == atom.id]
    sure = certainty(probability, read, contexts)
    return AtomAssessment(
        atom,
        verdict(
            probability,
            sure,
            own,
            contexts,
            strong=settings.strong,
            within=settings.conflict_within,
            thresholds=thresholds,
        ),
        probability,
        sure,
        evidence=tuple(
            Evidence(x.premise, x.label, x.probability, tuple(quotes.get((x.premise, atom.id), ())))
            for x in own
        ),
        sensitivity=posterior.sensitivity.get(atom.id),
    )
