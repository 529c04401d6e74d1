"""From relations to the graphical model: which pairs, which edges, which factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log

import numpy as np

from factcheck_local.core.types import Atom, Context, EvidenceLink, RelationLabel, ScoredPair
from factcheck_local.markov import Network, Parameterisation, prior_factor, relation_factor
from factcheck_local.models.contracts import FloatArray

#: FactReasoner makes no assumption about an atom (§3.1).
ATOM_PRIOR = 0.5

#: Assessors that read contexts with each other, too.
_BETWEEN = ("fr3", "fr4")


def pairs_to_relate(
    assessor: str,
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    retrieved: Mapping[str, Sequence[str]],
    atom_vectors: FloatArray,
    context_vectors: FloatArray,
    *,
    min_similarity: float,
    min_pooled_similarity: float,
    min_context_similarity: float,
) -> list[tuple[str, str]]:
    """The ordered pairs (premise id, hypothesis id) that the relation model reads.

    Args:
        assessor: ``fr1``, ``fr2`` or ``fr3`` (FactReasoner §3.2), or ``fr4``, which
            reads what ``fr3`` does.
        atoms: n atoms.
        contexts: m contexts.
        retrieved: atom id -> ids of the contexts retrieved for it.
        atom_vectors: unit vectors, shape (n, d).
        context_vectors: unit vectors, shape (m, d).
        min_similarity: cosine below which no atom-context pair is read.
        min_pooled_similarity: cosine below which none is read that was not retrieved.
        min_context_similarity: cosine below which two contexts are left out.

    Returns:
        Pairs, those of one premise together.
    """
    similarity = context_vectors @ atom_vectors.T
    own = np.array([[c.id in retrieved.get(a.id, ()) for a in atoms] for c in contexts], dtype=bool)
    own.shape = similarity.shape
    read = own & (similarity >= min_similarity)
    if assessor != "fr1":
        read |= similarity >= max(min_similarity, min_pooled_similarity)
    alike = context_vectors @ context_vectors.T >= min_context_similarity
    if assessor not in _BETWEEN:
        alike[:] = False
    np.fill_diagonal(alike, val=False)
    pairs = []
    for j, context in enumerate(contexts):
        pairs += [(context.id, atoms[i].id) for i in np.flatnonzero(read[j]).tolist()]
        pairs += [(context.id, contexts[i].id) for i in np.flatnonzero(alike[j]).tolist()]
    return pairs


def possible_pairs(assessor: str, atoms: Sequence[Atom], contexts: Sequence[Context]) -> int:
    """How many pairs `pairs_to_relate` gives if all texts are alike.

    Args:
        assessor: see there.
        atoms: which name the contexts that are their own.
        contexts: all of them.
    """
    if assessor == "fr1":
        return sum(len(atom.context_ids) for atom in atoms)
    others = len(contexts) - 1 if assessor in _BETWEEN else 0
    return len(contexts) * (len(atoms) + others)


def links_from(pairs: Sequence[ScoredPair]) -> tuple[EvidenceLink, ...]:
    """Edges of the model: the most probable relation of each pair, unless neutral.

    A factor is about the truth of two texts, a relation model about three labels.
    An edge's strength is the probability that the hypothesis is true (of a
    contradiction: false) given the premise, the label summed out: entailment
    makes it 1, contradiction 0, and no relation leaves it at ½. So

        strength = p* + ½ p(neutral)

    which is at least ½ for every edge, and the paper's p* where neutral is ruled
    out. Where a summary of the premise was read, of confidence c, the passage says
    nothing of the hypothesis with probability 1 - c, which leaves it at ½, too:

        strength = c (p* + ½ p(neutral)) + (1 - c) ½

    For an atom with this edge alone P = ½ + prior (strength - ½) under ``conditional``
    factors, so this is the prior scaled by c, for this atom: the passage is as true as it
    was, and as strong for atoms of which it says more.

    Two entailments in both directions become one equivalence, with the smaller
    of their probabilities and strengths.
    """
    found = {
        (p.premise, p.hypothesis): EvidenceLink(
            p.premise,
            p.hypothesis,
            p.relation.label,
            probability=p.confidence * p.relation.probability,
            strength=p.confidence * (p.relation.probability + 0.5 * p.relation.neutral)
            + (1.0 - p.confidence) * 0.5,
        )
        for p in pairs
        if p.relation.label is not RelationLabel.NEUTRAL
    }
    links = []
    for (premise, hypothesis), link in found.items():
        back = found.get((hypothesis, premise))
        both = {link.label, back.label} if back else set()
        if back is None or both != {RelationLabel.ENTAILMENT}:
            links.append(link)
        elif premise < hypothesis:
            links.append(
                EvidenceLink(
                    premise,
                    hypothesis,
                    RelationLabel.EQUIVALENCE,
                    probability=min(link.probability, back.probability),
                    strength=min(link.strength, back.strength),
                )
            )
    return tuple(links)


def discounted(links: Sequence[EvidenceLink], correlation: float) -> tuple[EvidenceLink, ...]:
    """The links, weaker where several bear on one hypothesis and may share their errors.

    A network takes relations as independent witnesses, but one model read them all, and
    what misled it once misleads it again on the next passage about the same thing. Let
    z = ln(s / (1 - s)) be the log odds of an edge's strength s, and let the errors of any two
    edges into a hypothesis correlate by r. The sum of their z then varies

        1 + r (m - 1) times as much as with independent errors, m = (Σ |z|)² / Σ z²

    (the design effect and the effective number of weighted samples: Kish 1965, "Survey
    sampling"), and each z is divided by that. An edge alone stays as it is, and so does
    nearly one that is strong among weak ones; no edge changes its side. Edges that are
    certain, of strength 0 or 1, stay.

    Args:
        links: the edges of a network, or a part of them.
        correlation: r in [0, 1]; 0 gives the links back (FactReasoner), 1 makes all
            edges into a hypothesis weigh as much as an average one.
    """
    odds: dict[str, list[float]] = {}
    for link in links:
        if 0.0 < link.strength < 1.0:
            z = log(link.strength / (1.0 - link.strength))
            odds.setdefault(link.hypothesis, []).append(abs(z))
    effect = {
        name: 1.0 + correlation * (sum(z) ** 2 / sum(x * x for x in z) - 1.0)
        for name, z in odds.items()
        if len(z) > 1 and any(z)
    }
    return tuple(
        replace(x, strength=_divided(x.strength, effect.get(x.hypothesis, 1.0))) for x in links
    )


def _divided(p: float, by: float) -> float:
    """The probability whose log odds are those of p, divided."""
    true: float = p ** (1.0 / by)
    false: float = (1.0 - p) ** (1.0 / by)
    return true / (true + false)


def build_network(
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    links: Sequence[EvidenceLink],
    parameterisation: Parameterisation,
) -> Network:
    """The Markov network of FactReasoner §3.1: priors, and a factor per edge."""
    priors = {a.id: ATOM_PRIOR for a in atoms} | {c.id: c.prior for c in contexts}
    factors = [prior_factor(name, prior) for name, prior in priors.items()]
    factors += [
        relation_factor(
            link.label,
            link.premise,
            link.hypothesis,
            link.strength,
            parameterisation=parameterisation,
            prior_y=priors[link.hypothesis],
        )
        for link in links
    ]
    return Network(tuple(priors), tuple(factors))
