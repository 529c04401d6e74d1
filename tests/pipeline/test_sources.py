"""FR4: documents that stand and fall as one, and copies that count once."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.sources import KINDS, corpus, posteriors
from factcheck_local.core.types import (
    Atom,
    Context,
    EvidenceLink,
    Relation,
    RelationLabel,
    ScoredPair,
)
from factcheck_local.markov import Network, infer, prior_factor
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.documents import count_once, with_sources
from factcheck_local.pipeline.verdicts.factreasoner import reason


def passage(name: str, source: str, prior: float) -> Context:
    return Context(name, source, "", name, prior)


def alone(contexts: list[Context], correlation: float) -> Network:
    """The passages and their documents, and no relation."""
    factors = tuple(prior_factor(c.id, c.prior) for c in contexts)
    network = Network(tuple(c.id for c in contexts), factors)
    return with_sources(network, contexts, correlation)[0]


@given(
    st.lists(st.floats(0.01, 0.99), min_size=2, max_size=5),
    st.floats(0.0, 1.0),
)
@example([0.99, 0.5], 0.7)
@example([0.9, 0.9], 1.0)
@settings(max_examples=50, deadline=None)
def test_passages_keep_their_priors(priors: list[float], correlation: float) -> None:
    """However different they are: one of 0.99 beside one of 0.5 allows no correlation of 0.7."""
    contexts = [passage(f"c{i}", "doc", prior) for i, prior in enumerate(priors)]
    found = infer(alone(contexts, correlation)).p_true
    assert found["source:doc"] == pytest.approx(fmean(priors), abs=1e-9)
    assert [found[c.id] for c in contexts] == pytest.approx(priors, abs=1e-9)


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


ENTAILS = Relation(0.9, 0.05, 0.05)
CONTRADICTS = Relation(0.05, 0.9, 0.05)
FR4 = Settings(assessor="fr4")


def claims(*names: str) -> list[Atom]:
    return [Atom(name, f"Claim {name}.", f"Claim {name}.") for name in names]


def written(name: str, source: str, text: str, prior: float = 0.9) -> Context:
    return Context(name, source, "", text, prior)


def p_true(
    atoms: Sequence[Atom], contexts: Sequence[Context], pairs: Sequence[ScoredPair]
) -> dict[str, float]:
    marginals = reason(atoms, contexts, pairs, FR4, explained=False).marginals
    assert marginals is not None
    return {atom.id: marginals.p_true[atom.id] for atom in atoms}


def lone(prior: float) -> float:
    """P of a claim for which one passage speaks."""
    return prior * (0.9 + 0.5 * 0.05) + (1 - prior) * 0.5


@pytest.mark.parametrize("read", [("old",), ("new",), ("old", "new")])
def test_without_a_source_what_others_copied_from_it_is_still_said(read: tuple[str, ...]) -> None:
    """Whichever of the two was read: what is said of the one holds of all."""
    contexts = [written("old", "old.md", "Dogs may come.", 0.2)]
    contexts += [written("new", "new.md", "Dogs may come.", 0.95)]
    pairs = [ScoredPair(name, "a", ENTAILS) for name in read]
    own = reason(claims("a"), contexts, pairs, FR4).sensitivity["a"]
    if len(read) == 2:
        assert own.without == pytest.approx({"old.md": lone(0.95), "new.md": lone(0.2)})
        assert own.alone == pytest.approx({"old.md": lone(0.2), "new.md": lone(0.95)})
    # That the text says so was read once, and the claim turns on that.
    assert own.pivotal is not None
    assert own.pivotal.premise == read[-1]
    # Either source's prior can only raise the other's.
    assert (own.low, own.high) == pytest.approx((lone(0.5), lone(0.99)))


def a_world(seed: int) -> tuple[list[Atom], list[Context], list[ScoredPair]]:
    """Claims, passages with copies among them, and what was read of some, at random."""
    rng = np.random.default_rng(seed)
    atoms = claims("a", "b", "c", "d")
    contexts = [
        written(f"p{i}", f"s{rng.integers(4)}", f"Text {rng.integers(5)}.", rng.choice([0.4, 0.9]))
        for i in range(9)
    ]
    pairs = {
        (x, y): ScoredPair(x, y, ENTAILS if rng.uniform() < 0.6 else CONTRADICTS)
        for x in (str(rng.choice([c.id for c in contexts])) for _ in range(9))
        for y in (str(rng.choice([a.id for a in atoms] + [c.id for c in contexts])),)
        if x != y
    }
    return atoms, contexts, list(pairs.values())


@pytest.mark.parametrize("seed", range(12))
def test_without_a_source_is_as_if_it_had_not_been_found(seed: int) -> None:
    atoms, contexts, pairs = a_world(seed)
    found = reason(atoms, contexts, pairs, FR4).sensitivity
    for source in {c.source for c in contexts}:
        gone = {c.id for c in contexts if c.source == source}
        expected = p_true(
            atoms,
            [c for c in contexts if c.id not in gone],
            [x for x in pairs if not gone & {x.premise, x.hypothesis}],
        )
        for name, own in found.items():
            if source in own.without:
                assert own.without[source] == pytest.approx(expected[name], abs=1e-9)
            else:
                assert expected[name] == pytest.approx(p_true(atoms, contexts, pairs)[name])


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_retrieval_decides_nothing(seed: int) -> None:
    atoms, contexts, pairs = a_world(seed)
    assert p_true(atoms, contexts[::-1], pairs) == pytest.approx(p_true(atoms, contexts, pairs))


def test_a_trusted_page_does_not_fall_with_the_archive_that_keeps_it() -> None:
    """The archive is caught out on b, c and d; what it copied from the handbook stays said."""
    contexts = [written("x1", "archive.md", "Dogs may come.", 0.6)]
    contexts += [written("x2", "handbook.md", "Dogs may come.", 0.9)]
    contexts += [written(f"old-{n}", "archive.md", f"Old {n}.", 0.6) for n in "bcd"]
    contexts += [written(f"new-{n}", f"{n}.md", f"New {n}.", 0.95) for n in "bcd"]
    pairs = [ScoredPair(name, "a", ENTAILS) for name in ("x1", "x2")]
    pairs += [ScoredPair(f"old-{n}", n, ENTAILS) for n in "bcd"]
    pairs += [ScoredPair(f"new-{n}", n, CONTRADICTS) for n in "bcd"]
    pairs += [ScoredPair(f"new-{n}", f"old-{n}", CONTRADICTS) for n in "bcd"]
    for found in (contexts, contexts[::-1]):
        assert p_true(claims(*"abcd"), found, pairs)["a"] == pytest.approx(lone(0.9))


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
