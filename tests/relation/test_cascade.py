"""The cascade: who is asked about which pair, and what becomes of two opinions."""

from __future__ import annotations

import pytest

from factcheck_local.core.errors import RecordError
from factcheck_local.core.types import Relation
from factcheck_local.pipeline.relation import Premise, relate
from factcheck_local.pipeline.relation.cascade import CascadeRelationModel, Sure

from .helpers import Scripted

SURE_E, SURE_C = Relation(0.97, 0.02, 0.01), Relation(0.01, 0.97, 0.02)
SURE_N = Relation(0.01, 0.02, 0.97)
LIKELY_E, LIKELY_N = Relation(0.8, 0.1, 0.1), Relation(0.15, 0.15, 0.7)
OPEN = Relation(0.34, 0.33, 0.33)
BOUNDS = Sure(entailment=0.95, contradiction=2.0, neutral=0.9)


def cascade(
    quick: dict[tuple[str, str], Relation],
    slow: dict[tuple[str, str], Relation],
    weight: float = 1.0,
    budget: int | None = None,
) -> tuple[CascadeRelationModel, Scripted, Scripted]:
    fast, second = Scripted(quick), Scripted(slow)
    return CascadeRelationModel(fast, second, BOUNDS, weight=weight, budget=budget), fast, second


def test_only_what_the_fast_model_leaves_open_is_read_again() -> None:
    table = {("p", "a"): SURE_E, ("p", "b"): LIKELY_E, ("p", "c"): SURE_N, ("p", "d"): LIKELY_N}
    model, fast, slow = cascade(table, {("p", "b"): SURE_C, ("p", "d"): SURE_E})
    found = model.relate(Premise("", "p"), ["a", "b", "c", "d"])
    assert found == [SURE_E, SURE_C, SURE_N, SURE_E]
    assert len(fast.read) == 4
    assert slow.read == [("p", "b"), ("p", "d")]


def test_a_bound_above_1_never_settles() -> None:
    model, _, slow = cascade({("p", "a"): SURE_C}, {("p", "a"): SURE_N})
    assert model.relate(Premise("", "p"), ["a"]) == [SURE_N]
    assert slow.read == [("p", "a")]


def test_the_slow_model_is_not_asked_when_all_is_settled() -> None:
    model, _, slow = cascade({}, {})
    assert model.relate(Premise("", "p"), ["a", "b"])[0].label == "neutral"
    assert slow.read == []


def test_the_budget_goes_to_the_least_sure_pairs_of_all_premises() -> None:
    quick = {("p", "a"): LIKELY_E, ("q", "a"): OPEN, ("q", "b"): LIKELY_N}
    model, _, slow = cascade(quick, {("q", "a"): SURE_E, ("q", "b"): SURE_C}, budget=2)
    told: list[tuple[int, int]] = []
    found = relate(
        [("p", "a"), ("q", "a"), ("q", "b")],
        {"p": Premise("", "p"), "q": Premise("", "q")},
        {"a": "a", "b": "b"},
        model,
        lambda *n: told.append(n),
    )
    assert slow.read == [("q", "a"), ("q", "b")]
    assert [p.relation for p in found.pairs] == [LIKELY_E, SURE_E, SURE_C]
    assert [*dict.fromkeys(told)] == [(0, 3), (1, 3), (3, 3)]


@pytest.mark.parametrize("budget", [0, 2, 8])
def test_a_budget_is_of_both_directions_together(budget: int) -> None:
    """Of four passages with each other; no direction settles the other."""
    premises = {p: Premise("", p) for p in "abcd"}
    pairs = [(p, h) for p in premises for h in premises if p != h]
    undecided = dict.fromkeys(pairs, OPEN)
    model, fast, slow = cascade(undecided, undecided, budget=budget)
    relate(pairs, premises, {p: p for p in premises}, model)
    assert len(fast.read) == len(pairs)
    assert len(slow.read) == budget


def test_who_finds_that_too_many_are_to_be_read_says_so_before_the_first_is() -> None:
    model, fast, _ = cascade({}, {})

    def refuse(_done: int, count: int) -> None:
        raise RecordError(f"{count} pairs")

    premises = {p: Premise("", p) for p in ("p", "q")}
    with pytest.raises(RecordError, match="2 pairs"):
        relate([(p, "a") for p in premises], premises, {"a": "a"}, model, refuse)
    assert fast.read == []


def test_two_opinions_are_pooled_by_weight() -> None:
    model, _, _ = cascade({("p", "a"): LIKELY_E}, {("p", "a"): Relation(0.2, 0.6, 0.2)}, weight=0.5)
    (found,) = model.relate(Premise("", "p"), ["a"])
    # Geometric means: sqrt(.8 x .2), sqrt(.1 x .6), sqrt(.1 x .2), normalised.
    raw = [0.16**0.5, 0.06**0.5, 0.02**0.5]
    assert found.entailment == pytest.approx(raw[0] / sum(raw))
    assert found.contradiction == pytest.approx(raw[1] / sum(raw))


def test_opinions_that_rule_each_other_out_leave_the_slow_one() -> None:
    quick = {("p", "a"): Relation(0.5, 0.5, 0.0)}
    model, _, _ = cascade(quick, {("p", "a"): Relation(0.0, 0.0, 1.0)}, weight=0.5)
    assert model.relate(Premise("", "p"), ["a"]) == [Relation(0.0, 0.0, 1.0)]


def test_a_pair_that_the_slow_model_fails_on_has_failed() -> None:
    model, _, _ = cascade({("p", "a"): SURE_E, ("p", "b"): OPEN}, {})
    slow_fails = Scripted({})
    slow_fails.fails = True
    model.slow = slow_fails
    found = relate([("p", "a"), ("p", "b")], {"p": Premise("", "p")}, {"a": "a", "b": "b"}, model)
    assert [p.hypothesis for p in found.pairs] == ["a"]
    assert found.failures == {("p", "b"): "too long"}


def test_its_name_and_hash_tell_both_models() -> None:
    model, fast, _ = cascade({}, {})
    other = Scripted({})
    other.sha256 = "1" * 64
    assert model.id == "cascade(scripted,scripted)"
    assert CascadeRelationModel(fast, other, BOUNDS).sha256 != model.sha256
