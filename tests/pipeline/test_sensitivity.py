"""What a posterior rests on."""

import pytest

from factcheck_local.core.types import Atom, Context, Relation, RelationLabel, ScoredPair
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts import sensitivity as module
from factcheck_local.pipeline.verdicts.factreasoner import reason

ENTAILS = Relation(0.9, 0.05, 0.05)
CONTRADICTS = Relation(0.05, 0.9, 0.05)


def atom(name: str) -> Atom:
    return Atom(name, f"Claim {name}.", f"Claim {name}.")


def context(name: str, source: str, prior: float = 0.9) -> Context:
    return Context(name, source, "", f"Passage {name}.", prior)


def p_of(x: float, prior: float, strength: float) -> float:
    """One passage that speaks for a claim of prior ½."""
    supported = prior * strength + (1 - prior) * 0.5
    return supported if x else 1 - supported


def test_a_lone_source_is_all_a_claim_rests_on() -> None:
    found = reason(
        [atom("a"), atom("b")], [context("c", "doc")], [ScoredPair("c", "a", ENTAILS)], Settings()
    )
    own = found.sensitivity["a"]
    assert found.marginals is not None
    assert own.without == {"doc": 0.5}
    assert own.alone == {"doc": found.marginals.p_true["a"]}
    strength = 0.9 + 0.5 * 0.05
    assert own.low == pytest.approx(p_of(1, 0.5, strength))
    assert own.high == pytest.approx(p_of(1, 0.99, strength))
    assert own.pivotal is not None
    assert (own.pivotal.premise, own.pivotal.label) == ("c", RelationLabel.ENTAILMENT)
    # Nothing relates to b, so there is nothing it could rest on.
    assert "b" not in found.sensitivity


def test_two_agreeing_sources_rest_on_neither() -> None:
    contexts = [context("c", "doc"), context("d", "wiki")]
    pairs = [ScoredPair("c", "a", ENTAILS), ScoredPair("d", "a", ENTAILS)]
    own = reason([atom("a")], contexts, pairs, Settings()).sensitivity["a"]
    assert own.pivotal is None
    assert own.without["doc"] == pytest.approx(own.without["wiki"])
    assert 0.5 < own.low < own.high


def test_against_two_the_one_that_turns_it_is_named() -> None:
    """The wiki speaks against, more trusted; with it gone the claim is supported."""
    contexts = [context("c", "doc", 0.7), context("d", "wiki", 0.95)]
    pairs = [ScoredPair("c", "a", ENTAILS), ScoredPair("d", "a", CONTRADICTS)]
    found = reason([atom("a")], contexts, pairs, Settings())
    own = found.sensitivity["a"]
    assert found.marginals is not None
    assert found.marginals.p_true["a"] < 0.5 < own.without["wiki"]
    strength = 0.9 + 0.5 * 0.05
    assert own.alone == pytest.approx(
        {"doc": p_of(1, 0.7, strength), "wiki": p_of(0, 0.95, strength)}
    )
    assert own.pivotal is not None
    assert own.pivotal.premise == "d"


def test_what_rounding_leaves_of_a_half_is_on_neither_side() -> None:
    """Without the page that turns it two weak ones cancel out, to 0.5000000000000002."""
    contexts = [context("c", "doc", 0.5), context("d", "wiki", 0.5), context("e", "faq", 0.95)]
    pairs = [
        ScoredPair("c", "a", Relation(0.55, 0.4, 0.05)),
        ScoredPair("d", "a", Relation(0.4, 0.55, 0.05)),
        ScoredPair("e", "a", Relation(0.95, 0.02, 0.03)),
    ]
    own = reason([atom("a")], contexts, pairs, Settings()).sensitivity["a"]
    assert own.without["faq"] == pytest.approx(0.5, abs=1e-12)
    assert own.pivotal is not None
    assert own.pivotal.premise == "e"


def test_runs_are_limited_and_what_is_untried_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_RUNS", 9)
    contexts = [context("c", "doc"), context("d", "wiki")]
    pairs = [ScoredPair("c", "a", ENTAILS), ScoredPair("d", "a", ENTAILS)]
    found = reason([atom("a")], contexts, pairs, Settings())
    assert found.untried == 1
    assert set(found.sensitivity["a"].without) == {"doc", "wiki"}


def test_sources_are_limited_and_what_is_untried_is_counted() -> None:
    """Of many sources in one network, each of one relation: none of these is tried, then."""
    count = 150
    contexts = [context(f"c{i}", f"doc{i}") for i in range(count)]
    pairs = [ScoredPair(c.id, "a", ENTAILS) for c in contexts]
    told: list[tuple[int, int]] = []
    found = reason([atom("a")], contexts, pairs, Settings(), progress=lambda *now: told.append(now))
    tried = module.MAX_RUNS // 4
    assert list(found.sensitivity["a"].without) == [f"doc{i}" for i in range(tried)]
    assert (found.untried_sources, found.untried) == (count - tried, count)
    assert told == [(done, tried) for done in range(1, tried + 1)]


def test_what_is_small_takes_little_of_the_limit() -> None:
    """Claims with a source each: every network is of one relation in a hundred and fifty."""
    names = [str(i) for i in range(150)]
    contexts = [context(f"c{i}", f"doc{i}") for i in names]
    pairs = [ScoredPair(f"c{i}", f"a{i}", ENTAILS) for i in names]
    found = reason([atom(f"a{i}") for i in names], contexts, pairs, Settings())
    assert (found.untried_sources, found.untried) == (0, 0)
    assert all(own.pivotal is not None for own in found.sensitivity.values())
    assert len(found.sensitivity) == len(names)


def test_a_claim_none_of_whose_sources_was_tried_has_no_range(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_RUNS", 2)
    contexts = [context("c", "doc"), context("d", "wiki")]
    pairs = [ScoredPair("c", "a", ENTAILS), ScoredPair("d", "b", CONTRADICTS)]
    found = reason([atom("a"), atom("b")], contexts, pairs, Settings())
    assert set(found.sensitivity) == {"a"}
    assert (found.untried_sources, found.untried) == (1, 2)


class Stopped(Exception):
    """Whoever waited went away."""


def test_it_ends_where_its_progress_says_so() -> None:
    def stop(_done: int, _count: int) -> None:
        raise Stopped

    pairs = [ScoredPair("c", "a", ENTAILS)]
    with pytest.raises(Stopped):
        reason([atom("a")], [context("c", "doc")], pairs, Settings(), progress=stop)


def test_each_part_is_solved_on_its_own() -> None:
    """A source that shares no relation with a claim is not among those it rests on."""
    contexts = [context("c", "doc"), context("d", "wiki")]
    pairs = [ScoredPair("c", "a", ENTAILS), ScoredPair("d", "b", CONTRADICTS)]
    found = reason([atom("a"), atom("b")], contexts, pairs, Settings()).sensitivity
    assert set(found["a"].without) == {"doc"}
    assert set(found["b"].without) == {"wiki"}
