"""The relate stage: which pairs are read, and what becomes of those that are not."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.core.errors import TooLongError
from factcheck_local.core.types import Relation
from factcheck_local.models.fake import FakePairClassifier
from factcheck_local.pipeline.relation import CalibratedRelationModel, Premise, Related, relate
from factcheck_local.pipeline.relation.cascade import CascadeRelationModel, Sure
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.guard import GuardedRelationModel
from factcheck_local.pipeline.relation.scorer import at_once

from .helpers import Scripted, ScriptedScorer

E, C, N = Relation(0.95, 0.03, 0.02), Relation(0.02, 0.95, 0.03), Relation(0.02, 0.03, 0.95)
UNSURE_C, UNSURE_N = Relation(0.1, 0.6, 0.3), Relation(0.2, 0.1, 0.7)


def run(
    model: Scripted, pairs: list[tuple[str, str]], alike: dict[str, str] | None = None
) -> tuple[Related, list[tuple[int, int]]]:
    """Every text is its id; contexts are c…, atoms a…."""
    ids = {i for pair in pairs for i in pair}
    premises = {i: Premise("", i) for i in ids if not i.startswith("a")}
    told: list[tuple[int, int]] = []
    found = relate(
        pairs, premises, {i: i for i in ids}, model, lambda *n: told.append(n), alike=alike
    )
    return found, told


def relations(found: Related) -> dict[tuple[str, str], Relation]:
    return {(p.premise, p.hypothesis): p.relation for p in found.pairs}


def test_each_premise_is_read_once_and_pairs_keep_their_ids() -> None:
    classifier = FakePairClassifier(
        lambda p, h: (0.8, 0.1, 0.1) if h.split()[0] in p else (0.1, 0.2, 0.7)
    )
    pairs = [("c1", "a1"), ("c2", "a1"), ("c1", "a2")]
    found = relate(
        pairs,
        {"c1": Premise("", "red"), "c2": Premise("", "blue")},
        {"a1": "red it is", "a2": "blue it is"},
        CalibratedRelationModel(EncoderPairScorer(classifier)),
    )
    assert {(p.premise, p.hypothesis): p.relation.label.value for p in found.pairs} == {
        ("c1", "a1"): "entailment",
        ("c1", "a2"): "neutral",
        ("c2", "a1"): "neutral",
    }
    assert [p for p, _ in classifier.calls] == ["red", "red", "blue"]
    assert (found.copied, found.settled) == (0, 0)


def test_a_premise_that_cannot_be_scored_fails_only_its_own_pairs() -> None:
    found, told = run(Scripted(), [("long", "a1"), ("short", "a1"), ("long", "a2")])
    assert found.failures == {("long", "a1"): "too long", ("long", "a2"): "too long"}
    assert relations(found) == {("short", "a1"): N}
    assert told == [(0, 3), (2, 3), (3, 3)]


class Short(Scripted):
    """Refuses all claims beside one that does not fit."""

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        if "a-long" in hypotheses:
            raise TooLongError("too long")
        return super().relate(premise, hypotheses)


def test_a_claim_that_does_not_fit_fails_alone() -> None:
    model = Short({("c1", "a1"): E})
    found, told = run(model, [("c1", "a1"), ("c1", "a-long"), ("c2", "a2")])
    assert found.failures == {("c1", "a-long"): "too long"}
    assert relations(found) == {("c1", "a1"): E, ("c2", "a2"): N}
    assert told == [(0, 3), (2, 3), (3, 3)]


# ------------------------------------------------------- several premises at once


class Slow(Scripted):
    """May be asked by three threads; the first premise takes longest."""

    at_once = 3

    def __init__(self) -> None:
        super().__init__({("c1", "a"): E, ("c2", "a"): C})
        self.inside = self.most = 0
        self.lock = threading.Lock()

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.1 if premise.text == "c1" else 0.01)
        with self.lock:
            self.inside -= 1
        return super().relate(premise, hypotheses)


def test_a_model_on_a_server_is_asked_for_several_premises_at_once() -> None:
    model = Slow()
    pairs = [(c, "a") for c in ("c1", "c2", "long", "c4", "c5")]
    found, told = run(model, pairs)
    assert model.most == 3
    assert model.read[0] != ("c1", "a"), "others came in meanwhile"
    plain, told_plain = run(Scripted(model.table), pairs)
    assert (found, told) == (plain, told_plain), "in the order asked for, failures too"
    layered = CalibratedRelationModel(ScriptedScorer(lambda *_: (0.1, 0.2, 0.7)))
    assert at_once(layered) == at_once(object()) == 1
    assert at_once(GuardedRelationModel(model)) == 3


class Meeting(FakePairClassifier):
    """Two threads may ask it, and none gets an answer before the other has come."""

    at_once = 2

    def __init__(self) -> None:
        super().__init__(lambda *_: (0.8, 0.1, 0.1))
        self.met = threading.Barrier(2, timeout=20)

    def classify(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        self.met.wait()
        return super().classify(pairs)


def test_an_encoder_reads_passages_with_one_claim_each_side_by_side() -> None:
    model = CalibratedRelationModel(EncoderPairScorer(Meeting()))
    assert at_once(model) == 2
    pairs = [("c1", "a"), ("c2", "a")]
    found = relate(pairs, {c: Premise("", c) for c, _ in pairs}, {"a": "a"}, model)
    assert list(relations(found)) == pairs


def test_what_is_cancelled_asks_no_further() -> None:
    model = Slow()

    def stop(done: int, _all: int) -> None:
        if done:
            raise KeyboardInterrupt

    names = [f"c{n}" for n in range(1, 30)]
    with pytest.raises(KeyboardInterrupt):
        relate(
            [(c, "a") for c in names],
            {c: Premise("", c) for c in names},
            {"a": "a"},
            model,
            stop,
        )
    assert 1 <= len(model.read) < 29


# ------------------------------------------------------------ one direction


@pytest.mark.parametrize(
    ("forward", "backward_is_read"),
    [(E, True), (UNSURE_C, True), (UNSURE_N, True), (C, False), (N, False)],
)
def test_the_other_direction_is_read_where_it_can_change_the_outcome(
    forward: Relation, backward_is_read: bool
) -> None:
    model = Scripted({("c1", "c2"): forward, ("c2", "c1"): E})
    pairs = [("c1", "a1"), ("c1", "c2"), ("c2", "a1"), ("c2", "c1")]
    found, told = run(model, pairs)
    assert (("c2", "c1") in model.read) is backward_is_read
    expected = {("c1", "a1"): N, ("c1", "c2"): forward, ("c2", "a1"): N}
    assert relations(found) == expected | ({("c2", "c1"): E} if backward_is_read else {})
    assert found.settled == (not backward_is_read)
    assert told[-1] == (4, 4)
    assert found.failures == {}


def test_a_direction_that_failed_settles_nothing() -> None:
    found, _ = run(Scripted({("c", "long"): E}), [("long", "c"), ("c", "long")])
    assert found.failures == {("long", "c"): "too long"}
    assert relations(found) == {("c", "long"): E}


def test_a_single_direction_is_read_whatever_it_is() -> None:
    found, _ = run(Scripted(), [("c1", "c2"), ("c2", "c3")])
    assert set(relations(found)) == {("c1", "c2"), ("c2", "c3")}


# ---------------------------------------------------------- near duplicates


def test_near_duplicates_are_read_once_and_all_get_the_relation() -> None:
    model = Scripted({("c1", "a1"): E, ("c3", "a2"): C})
    pairs = [("c1", "a1"), ("c2", "a1"), ("c3", "a1"), ("c3", "a2"), ("c4", "a1")]
    found, told = run(model, pairs, {"c1": "c1", "c2": "c1", "c3": "c1", "c4": "c4"})
    assert model.read == [("c1", "a1"), ("c3", "a2"), ("c4", "a1")]
    assert relations(found) == {
        ("c1", "a1"): E,
        ("c2", "a1"): E,
        ("c3", "a1"): E,
        # Only c3 was to be related to a2, so its own text is read.
        ("c3", "a2"): C,
        ("c4", "a1"): N,
    }
    assert [(p.premise, p.hypothesis) for p in found.pairs] == pairs
    assert found.copied == 2
    assert told[-1] == (3, 3)


def test_a_failure_is_shared_too() -> None:
    found, _ = run(Scripted(), [("long", "a1"), ("c2", "a1")], {"c2": "long"})
    assert found.failures == {("long", "a1"): "too long", ("c2", "a1"): "too long"}
    assert found.copied == 1


def test_pairs_of_passages_are_shared_on_both_sides() -> None:
    model = Scripted({("c1", "d1"): E, ("d1", "c1"): UNSURE_N, ("c1", "c2"): E, ("c2", "c1"): E})
    ids = ["c1", "c2", "d1", "d2"]
    pairs = [(p, h) for p in ids for h in ids if p != h]
    found, _ = run(model, pairs, {"c2": "c1", "d2": "d1"})
    # c with d once each way; copies of one text are two texts to each other.
    assert model.read == [("c1", "c2"), ("c1", "d1"), ("d1", "d2"), ("c2", "c1"), ("d1", "c1")]
    got = relations(found)
    assert {got[p, h] for p in ("c1", "c2") for h in ("d1", "d2")} == {E}
    assert {got[p, h] for p in ("d1", "d2") for h in ("c1", "c2")} == {UNSURE_N}
    assert found.copied == 6
    assert found.settled == 1, "d1 to d2 was neutral beyond doubt"


# ---------------------------------------------------------------- completed


def completed(
    model: Scripted | CascadeRelationModel,
    pairs: list[tuple[str, str]],
    alike: dict[str, str] | None = None,
) -> tuple[Related, list[tuple[str, Related]]]:
    """As ``run``; what was told of each claim, a0 to a2."""
    ids = {i for pair in pairs for i in pair} | {"a0", "a1", "a2"}
    premises = {i: Premise("", i) for i in ids if not i.startswith("a")}
    told: list[tuple[str, Related]] = []
    texts = {i: i for i in sorted(ids)}
    found = relate(pairs, premises, texts, model, alike=alike, completed=lambda *c: told.append(c))
    for claim, related in told:
        assert related.pairs == tuple(p for p in found.pairs if p.hypothesis == claim)
        assert related.failures == {p: w for p, w in found.failures.items() if p[1] == claim}
    return found, told


def test_a_claim_is_complete_when_the_last_of_its_pairs_is_read() -> None:
    model = Scripted({("c1", "a1"): E, ("c2", "a2"): C})
    pairs = [("c1", "a1"), ("c1", "c2"), ("c2", "a1"), ("c2", "a2"), ("long", "a2"), ("c2", "c1")]
    _, told = completed(model, pairs)
    assert [claim for claim, _ in told] == ["a0", "a1", "a2"]
    assert [len(related.pairs) + len(related.failures) for _, related in told] == [0, 2, 2]


def test_copies_do_not_keep_a_claim_waiting() -> None:
    pairs = [("c1", "a1"), ("c2", "a1"), ("c3", "a2")]
    _, told = completed(Scripted({("c1", "a1"): E}), pairs, {"c2": "c1"})
    assert [(claim, len(related.pairs)) for claim, related in told] == [
        *(("a0", 0), ("a1", 2), ("a2", 1))
    ]


def test_of_two_models_the_second_completes_what_the_first_leaves_open() -> None:
    fast = Scripted({("c1", "a1"): N, ("c1", "a2"): UNSURE_N, ("c2", "a1"): N})
    slow = Scripted({("c1", "a2"): E})
    cascade = CascadeRelationModel(fast, slow, Sure())
    found, told = completed(cascade, [("c1", "a1"), ("c1", "a2"), ("c2", "a1")])
    assert [claim for claim, _ in told] == ["a0", "a1", "a2"]
    assert slow.read == [("c1", "a2")]
    assert relations(told[2][1]) == {("c1", "a2"): E}
    assert relations(found)["c1", "a2"] == E
