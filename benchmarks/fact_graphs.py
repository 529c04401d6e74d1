"""Seeded random fact graphs of the shapes that FR1, FR2 and FR3 give rise to.

Every text has a hidden truth; a relation says whether two texts agree, and is wrong
for some. What is known of them is what a relation model would say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factcheck_local.core.types import RelationLabel
from factcheck_local.markov import Network, Parameterisation, prior_factor, relation_factor

#: Share of an atom's passages that another atom has retrieved before, where they are pooled.
SHARED = 0.3
#: How often a relation says the opposite of the hidden truth; drawn per graph.
NOISE = (0.1, 0.2)
PROBABILITY = (0.55, 0.99)
PRIOR = (0.7, 0.99)
#: Share of the pairs of passages that are related, for FR3.
PASSAGE_PAIRS = 0.02


@dataclass(frozen=True, slots=True)
class Family:
    """A shape of fact graph.

    Attributes:
        name: for tables.
        density: share of the pairs of an atom and a passage not its own that are related.
        passages: whether passages are related with each other.
        shared: share of an atom's passages that another atom has retrieved before.
    """

    name: str
    density: float = 0.0
    passages: bool = False
    shared: float = SHARED


FAMILIES = (
    # Each atom with its own passages, as the paper has it, and pooled, as we do.
    Family("FR1", shared=0.0),
    Family("FR1 pooled"),
    Family("FR2 5 %", density=0.05),
    Family("FR2 20 %", density=0.2),
    Family("FR3", density=0.05, passages=True),
)


def fact_graph(
    family: Family, atoms: int, seed: int, parameterisation: Parameterisation = "conditional"
) -> Network:
    """A random network of one family: 3 to 5 passages for each of ``atoms`` atoms."""
    rng = np.random.default_rng([seed, atoms, int(family.density * 100), family.passages])
    related: set[tuple[int, int]] = set()
    count = 0
    for atom in range(atoms):
        for _ in range(int(rng.integers(3, 6))):
            shared = count > 0 and rng.random() < family.shared
            passage = int(rng.integers(count)) if shared else count
            count = max(count, passage + 1)
            related.add((passage, atom))
    own = np.zeros((count, atoms), dtype=bool)
    for passage, atom in related:
        own[passage, atom] = True
    own |= rng.random((count, atoms)) < family.density
    pairs = [(f"c{p}", f"a{a}") for p, a in np.argwhere(own).tolist()]
    if family.passages:
        joined = np.triu(rng.random((count, count)) < PASSAGE_PAIRS, 1)
        pairs += [(f"c{p}", f"c{q}") for p, q in np.argwhere(joined).tolist()]
    priors = {f"a{i}": 0.5 for i in range(atoms)}
    priors |= {f"c{i}": float(rng.uniform(*PRIOR)) for i in range(count)}
    truth = {v: bool(rng.random() < (0.5 if v.startswith("a") else p)) for v, p in priors.items()}
    noise = rng.uniform(*NOISE)
    factors = [prior_factor(v, p) for v, p in priors.items()]
    for x, y in pairs:
        agree = (truth[x] == truth[y]) != (rng.random() < noise)
        factors.append(
            relation_factor(
                RelationLabel.ENTAILMENT if agree else RelationLabel.CONTRADICTION,
                x,
                y,
                float(rng.uniform(*PROBABILITY)),
                parameterisation=parameterisation,
                prior_y=priors[y],
            )
        )
    return Network(tuple(priors), tuple(factors))


def sparse_fact_graph(atoms: int, passages: int, relations: int, seed: int) -> Network:
    """So many atoms, passages and relations between them, drawn without a pattern."""
    rng = np.random.default_rng(seed)
    priors = {f"a{i}": 0.5 for i in range(atoms)}
    priors |= {f"c{i}": float(rng.uniform(*PRIOR)) for i in range(passages)}
    truth = rng.random(atoms) < 0.5
    factors = [prior_factor(v, p) for v, p in priors.items()]
    for pair in rng.choice(atoms * passages, relations, replace=False).tolist():
        agrees = truth[pair % atoms] != (rng.random() < NOISE[1])
        factors.append(
            relation_factor(
                RelationLabel.ENTAILMENT if agrees else RelationLabel.CONTRADICTION,
                f"c{pair // atoms}",
                f"a{pair % atoms}",
                float(rng.uniform(*PROBABILITY)),
                parameterisation="conditional",
                prior_y=0.5,
            )
        )
    return Network(tuple(priors), tuple(factors))
