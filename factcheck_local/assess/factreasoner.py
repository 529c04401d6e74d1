"""FactReasoner (FR1, FR2, FR3): posteriors of a graphical model become verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from factcheck_local.config import Settings
from factcheck_local.errors import InferenceError
from factcheck_local.graph import build_network, links_from
from factcheck_local.markov import Marginals, infer
from factcheck_local.types import (
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
    Verdict,
)
from factcheck_local.verdicts import verdict


@dataclass(frozen=True, slots=True)
class Posterior:
    """The edges between the variables, and what follows from them."""

    links: tuple[EvidenceLink, ...]
    marginals: Marginals | None
    failure: str | None = None


def reason(
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    pairs: Sequence[ScoredPair],
    settings: Settings,
) -> Posterior:
    """Build the network and infer; an impossible network fails with its reason."""
    links = links_from(pairs)
    network = build_network(atoms, contexts, links, settings.parameterisation)
    try:
        return Posterior(links, infer(network, settings.method))
    except InferenceError as error:
        return Posterior(links, None, str(error))


def assess(
    answer: Answer,
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    pairs: Sequence[ScoredPair],
    posterior: Posterior,
    quotes: Mapping[tuple[str, str], Quote],
    failures: Mapping[str, str],
    settings: Settings,
    notes: Sequence[str] = (),
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
    """
    by_id = {c.id: c for c in contexts}
    found = []
    for atom in atoms:
        if not atom.kind.check_worthy and atom.id not in failures:
            found.append(AtomAssessment(atom, Verdict.SKIPPED))
            continue
        reason_failed = failures.get(atom.id) or posterior.failure
        if reason_failed or posterior.marginals is None:
            found.append(AtomAssessment(atom, Verdict.UNSCORED, reason=reason_failed))
            continue
        own = [link for link in posterior.links if link.hypothesis == atom.id]
        own.sort(key=lambda link: (-link.probability * by_id[link.premise].prior, link.premise))
        probability = posterior.marginals.p_true[atom.id]
        found.append(
            AtomAssessment(
                atom,
                verdict(probability, own, by_id, strong=settings.strong),
                probability,
                evidence=tuple(
                    Evidence(x.premise, x.label, x.probability, quotes.get((x.premise, atom.id)))
                    for x in own
                ),
            )
        )
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
        ),
        notes=tuple(notes),
    )
