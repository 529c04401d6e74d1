"""FR4: documents that stand and fall as one, and copies that count once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.sources import KINDS, corpus, posteriors
from factcheck_local.core.types import Context, EvidenceLink, RelationLabel
from factcheck_local.markov import Network, infer, prior_factor
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.documents import count_once, with_sources
from factcheck_local.pipeline.verdicts.factreasoner import reason
from tests.markov.enumeration import enumerate_marginals


def passage(name: str, source: str, prior: float) -> Context:
    return Context(name, source, "", name, prior)


def alone(contexts: list[Context], correlation: float) -> Network:
    """The passages and their documents, and no relation."""
    factors = tuple(prior_factor(c.id, c.prior) for c in contexts)
    network = Network(tuple(c.id for c in contexts), factors)
    return with_sources(network, contexts, correlation)[0]


@given(
    st.lists(st.floats(0.05, 0.95), min_size=2, max_size=5),
    st.floats(0.0, 1.0),
)
@settings(max_examples=50, deadline=None)
def test_passages_of_equal_prior_keep_it(priors: list[float], correlation: float) -> None:
    same = [passage(f"c{i}", "doc", priors[0]) for i in range(len(priors))]
    found = infer(alone(same, correlation)).p_true
    assert found["source:doc"] == pytest.approx(priors[0], abs=1e-9)
    assert all(found[c.id] == pytest.approx(priors[0], abs=1e-9) for c in same)


def test_two_passages_correlate_by_the_square() -> None:
    prior, r = 0.8, 0.6
    contexts = [passage("x", "doc", prior), passage("y", "doc", prior)]
    network = alone(contexts, r)
    joint = np.zeros((2, 2, 2))
    for s, x, y in np.ndindex(2, 2, 2):
        state = {"source:doc": s, "x": x, "y": y}
        joint[s, x, y] = np.prod(
            [f.table[tuple(state[v] for v in f.variables)] for f in network.factors]
        )
    joint /= joint.sum()
    both = joint[:, 1, 1].sum()
    assert (both - prior**2) / (prior * (1 - prior)) == pytest.approx(r**2)


def test_different_priors_are_kept_as_long_as_nothing_is_cut() -> None:
    contexts = [passage("x", "doc", 0.7), passage("y", "doc", 0.8)]
    found = enumerate_marginals(alone(contexts, 0.5)).p_true
    assert found["x"] == pytest.approx(0.7)
    assert found["y"] == pytest.approx(0.8)


def test_certain_priors_and_lone_passages_are_left_alone() -> None:
    contexts = [passage("x", "doc", 1.0), passage("y", "doc", 0.8), passage("z", "other", 0.8)]
    network, added = with_sources(
        Network(("x", "y", "z", "source:"), tuple(prior_factor(c.id, c.prior) for c in contexts)),
        contexts,
        0.9,
    )
    # A variable that looks like ours does not collide with it.
    assert [(d.source, d.variable) for d in added] == [("doc", "_source:doc")]
    assert infer(network).p_true["x"] == 1.0


def test_copies_count_once() -> None:
    contexts = [passage("x", "doc", 0.6), passage("copy", "wiki", 0.9), passage("y", "doc", 0.7)]
    links = [
        EvidenceLink("x", "a", RelationLabel.ENTAILMENT, 0.7, 0.75),
        EvidenceLink("copy", "a", RelationLabel.ENTAILMENT, 0.8, 0.85),
        EvidenceLink("copy", "y", RelationLabel.CONTRADICTION, 0.8, 0.85),
        EvidenceLink("x", "copy", RelationLabel.EQUIVALENCE, 0.9, 0.95),
    ]
    kept, merged = count_once(contexts, links, {"x": "x", "copy": "x", "y": "y"})
    assert [(c.id, c.prior) for c in kept] == [("x", 0.9), ("y", 0.7)]
    assert [(x.premise, x.hypothesis, x.strength) for x in merged] == [
        ("x", "a", 0.85),
        ("x", "y", 0.85),
    ]


def test_an_equivalence_with_a_copy_counts_once_whichever_way_round() -> None:
    contexts = [passage("b", "doc", 0.6), passage("z", "wiki", 0.9), passage("m", "log", 0.7)]
    links = [
        EvidenceLink(*pair, label, 0.7, strength)
        for pair, label, strength in [
            (("b", "m"), RelationLabel.EQUIVALENCE, 0.75),
            (("m", "z"), RelationLabel.EQUIVALENCE, 0.85),
            (("b", "m"), RelationLabel.CONTRADICTION, 0.6),
            (("m", "z"), RelationLabel.CONTRADICTION, 0.6),
        ]
    ]
    _, merged = count_once(contexts, links, {"b": "b", "m": "m", "z": "b"})
    assert [(x.premise, x.hypothesis, x.label, x.strength) for x in merged] == [
        ("b", "m", RelationLabel.EQUIVALENCE, 0.85),
        ("b", "m", RelationLabel.CONTRADICTION, 0.6),
        ("m", "b", RelationLabel.CONTRADICTION, 0.6),
    ]


def test_a_source_caught_out_loses_weight_everywhere() -> None:
    """What FR3 leaves at a coin toss, or believes because it is copied, FR4 sees through."""
    fr3, fr4 = posteriors("fr3"), posteriors("fr4")
    by_name = {kind.name: kind.topics for kind in KINDS}
    for topic in by_name["wrong, one other against it"]:
        assert fr3[topic] > 0.5
        assert fr4[topic] < 0.2
    # Without the correlation of one model's errors FR3 is surer still.
    published = posteriors("fr3", relation_correlation=0.0)
    for topic in by_name["wrong, one other against it, and copied"]:
        assert published[topic] > 0.9
        assert fr3[topic] > 0.8
        assert fr4[topic] < 0.2
    for topic in by_name["said by the old document alone"]:
        assert fr3[topic] > 0.85
        assert fr4[topic] < 0.7


def test_the_assessment_names_what_it_thinks_of_sources() -> None:
    atoms, contexts, pairs = corpus()
    found = reason(atoms, contexts, pairs, Settings(assessor="fr4"))
    reliable = {s.source: s for s in found.sources}
    assert reliable["old.md"].prior == pytest.approx(0.9)
    assert reliable["old.md"].posterior < 0.1
    assert reliable["first.md"].posterior > 0.9
    assert reason(atoms, contexts, pairs, Settings(assessor="fr3")).sources == ()
    independent = reason(atoms, contexts, pairs, Settings(assessor="fr4", source_correlation=0.0))
    assert independent.marginals is not None
    assert independent.marginals.p_true["e"] == pytest.approx(posteriors("fr3")["e"], abs=1e-9)
