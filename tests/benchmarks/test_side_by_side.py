"""Passages read side by side: who is read with whom, and how that weighs in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from benchmarks.side_by_side import Array, groups, in_the_light_of, reconciled
from factcheck_local.core.types import Relation, ScoredPair

JOINT = np.array([0.7, 0.1, 0.2])

SUPPORT, DENIAL, NOTHING, CONFLICT = range(4)


def alone(*rows: tuple[float, float, float]) -> Array:
    return np.array(rows)


def together(labels: tuple[int, ...]) -> int:
    if 0 in labels and 1 in labels:
        return CONFLICT
    return min(labels)


def made(relations: Array) -> Array:
    """What independent passages make together, every combination of their labels counted."""
    found = np.zeros(4)
    for of in itertools.product(range(3), repeat=len(relations)):
        found[together(of)] += np.prod([r[k] for r, k in zip(relations, of, strict=True)])
    return found


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_as_every_combination_of_labels_says(share: float) -> None:
    relations = np.random.default_rng(3).dirichlet([1, 1, 1], size=4)
    before = made(relations)
    target = (before[:3] / before[:3].sum()) ** (1 - share) * JOINT**share
    factor = np.append(target / target.sum() * before[:3].sum() / before[:3], 1.0)
    wanted = np.zeros((4, 3))
    for of in itertools.product(range(3), repeat=4):
        p = np.prod([r[k] for r, k in zip(relations, of, strict=True)]) * factor[together(of)]
        wanted[np.arange(4), list(of)] += p
    assert np.allclose(wanted.sum(axis=1), 1.0)
    assert np.allclose(in_the_light_of(relations, JOINT, share), wanted)


def test_without_a_share_nothing_changes() -> None:
    relations = alone((0.6, 0.1, 0.3), (0.2, 0.5, 0.3))
    found = in_the_light_of(relations, JOINT, 0.0)
    assert np.allclose(found, relations)


def test_of_one_passage_the_joint_reading_takes_its_place_or_is_pooled() -> None:
    (found,) = in_the_light_of(alone((0.2, 0.5, 0.3)), JOINT, 1.0)
    assert np.allclose(found, JOINT)
    (found,) = in_the_light_of(alone((0.2, 0.5, 0.3)), JOINT, 0.5)
    pooled = np.sqrt(np.array([0.2, 0.5, 0.3]) * JOINT)
    assert np.allclose(found, pooled / pooled.sum())


def test_a_denial_beside_a_clear_statement_gives_way_and_a_conflict_stays_possible() -> None:
    relations = alone((0.9, 0.02, 0.08), (0.05, 0.6, 0.35))
    statement, denial = in_the_light_of(relations, np.array([0.96, 0.02, 0.02]), 0.5)
    assert denial[1] < 0.6
    assert statement[0] > 0.85
    # Where both sides are sure, a reader of one letter does not overrule them.
    sure = alone((0.99, 0.005, 0.005), (0.005, 0.99, 0.005))
    for found, given in zip(in_the_light_of(sure, JOINT, 1.0), sure, strict=True):
        assert np.argmax(found) == np.argmax(given)
        assert found.max() > 0.95


def test_a_support_that_no_passage_gives_alone_may_come_up() -> None:
    relations = alone((0.3, 0.1, 0.6), (0.25, 0.1, 0.65))
    found = in_the_light_of(relations, np.array([0.9, 0.02, 0.08]), 0.7)
    assert made(found)[SUPPORT] > made(relations)[SUPPORT]
    assert all(np.isclose(one.sum(), 1.0) for one in found)


def test_claims_are_put_to_those_whose_passages_they_share() -> None:
    found = groups(
        {"a": ["1", "2", "3"], "b": ["7", "8", "9"], "c": ["2", "3", "4"], "d": [], "e": ["9"]}, 5
    )
    assert found == [(["1", "2", "3", "4"], ["a", "c"]), (["7", "8", "9"], ["b", "e"])]


def test_a_claim_with_more_passages_than_a_group_takes_is_alone() -> None:
    own = [str(n) for n in range(4)]
    assert groups({"a": own, "b": ["0"]}, 3) == [(own, ["a"]), (["0"], ["b"])]


def test_only_claims_that_were_read_side_by_side_change() -> None:
    pairs = [
        ScoredPair("p", "a", Relation(0.2, 0.5, 0.3)),
        ScoredPair("p", "b", Relation(0.2, 0.5, 0.3)),
    ]
    one, other = reconciled(pairs, {"a": Relation(0.7, 0.1, 0.2)}, 1.0)
    assert one.relation.entailment == pytest.approx(0.7, abs=0.001)
    assert other == pairs[1]
    assert reconciled(pairs, {"a": Relation(0.7, 0.1, 0.2)}, 0.0) == tuple(pairs)
