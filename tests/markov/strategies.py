"""Random networks for hypothesis: relation networks with cycles and parallel edges."""

import numpy as np
from hypothesis import strategies as st

from factcheck_local.core.types import RelationLabel
from factcheck_local.markov import Factor, Network, Parameterisation, prior_factor, relation_factor

LABELS = (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION, RelationLabel.EQUIVALENCE)


@st.composite
def relation_networks(
    draw: st.DrawFn,
    max_variables: int = 10,
    max_relations: int = 20,
    forest: bool = False,
    low: float = 0.02,
) -> Network:
    """Atoms and contexts with priors and probabilities in [low, 1 - low].

    With ``forest`` every relation joins a variable to an earlier one, once.
    """
    n = draw(st.integers(1, max_variables))
    probability = st.floats(low, 1 - low)
    parameterisations: tuple[Parameterisation, ...] = ("conditional", "table1")
    parameterisation = draw(st.sampled_from(parameterisations))
    priors = [draw(st.one_of(st.just(0.5), probability)) for _ in range(n)]
    if forest:
        pairs = [(draw(st.integers(0, i - 1)), i) for i in range(1, n) if draw(st.booleans())]
    else:
        index = st.integers(0, n - 1)
        drawn = draw(st.lists(st.tuples(index, index), max_size=max_relations))
        pairs = [(x, y) for x, y in drawn if x != y]
    factors = [prior_factor(f"v{i}", p) for i, p in enumerate(priors)]
    for x, y in pairs:
        x, y = (y, x) if draw(st.booleans()) else (x, y)
        factors.append(
            relation_factor(
                draw(st.sampled_from(LABELS)),
                f"v{x}",
                f"v{y}",
                draw(probability),
                parameterisation=parameterisation,
                prior_y=priors[y],
            )
        )
    return Network(tuple(f"v{i}" for i in range(n)), tuple(factors))


@st.composite
def networks_with_zeros(draw: st.DrawFn, max_variables: int = 6) -> Network:
    """Unary and pairwise factors whose entries are often exactly zero; Z may be."""
    n = draw(st.integers(1, max_variables))
    entry = st.sampled_from((0.0, 0.0, 0.3, 1.0))
    index = st.integers(0, n - 1)
    scopes = draw(st.lists(st.lists(index, min_size=1, max_size=2, unique=True), max_size=10))
    factors = []
    for scope in scopes:
        table = np.array(draw(st.lists(entry, min_size=2 ** len(scope), max_size=2 ** len(scope))))
        factors.append(Factor([f"v{i}" for i in scope], table.reshape((2,) * len(scope))))
    return Network(tuple(f"v{i}" for i in range(n)), tuple(factors))


def fr2_network(atoms: int, contexts: int, relations: int, seed: int) -> Network:
    """Pooled contexts (prior 0.99) related to random atoms, ``conditional``."""
    rng = np.random.default_rng(seed)
    names = [f"a{i}" for i in range(atoms)] + [f"c{j}" for j in range(contexts)]
    factors = [prior_factor(v, 0.5 if v.startswith("a") else 0.99) for v in names]
    for pair in rng.choice(atoms * contexts, size=relations, replace=False).tolist():
        label = RelationLabel.ENTAILMENT if rng.random() < 0.7 else RelationLabel.CONTRADICTION
        factors.append(
            relation_factor(
                label,
                f"c{pair // atoms}",
                f"a{pair % atoms}",
                float(rng.uniform(0.5, 0.99)),
                parameterisation="conditional",
                prior_y=0.5,
            )
        )
    return Network(tuple(names), tuple(factors))
