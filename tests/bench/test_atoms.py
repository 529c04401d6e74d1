"""Atoms against human ones, by hand: similarities are given."""

from __future__ import annotations

from typing import Any

import pytest

from factcheck_local.bench.atoms import named, score


def sentence(
    similarity: list[list[float]], *, relevant: bool = True, elsewhere: list[float] | None = None
) -> dict[str, Any]:
    own = len(similarity)
    return {
        "relevant": relevant,
        "verified": own > 0,
        "human": ["h"] * (len(similarity[0]) if similarity else 0),
        "own": ["o"] * own,
        "similarity": similarity,
        "elsewhere": elsewhere or [0.0] * own,
    }


def values(*sentences: dict[str, Any]) -> dict[str, Any]:
    rows = [{"item": "b", "failures": 0, "sentences": list(sentences)}]
    found = score(rows, threshold=0.8)
    return {**found, **{name: m["value"] for name, m in found["measures"].items()}}


def test_a_sentence_left_unsplit_is_seen_one_to_one() -> None:
    """One atom matches both human ones; matched once only, it is half of them."""
    found = values(sentence([[0.9, 0.85]]))
    assert (found["recall"], found["precision"]) == (1.0, 1.0)
    assert (found["recall_one_to_one"], found["precision_one_to_one"]) == (0.5, 1.0)
    assert (found["split_less"], found["split_further"]) == (1, 0)
    assert found["atoms_a_human_atom"] == 0.5


def test_the_assignment_matches_most() -> None:
    """The first atom could take either; the second only the first human one."""
    found = values(sentence([[0.9, 0.8], [0.95, 0.1]]))
    assert found["recall_one_to_one"] == 1.0


def test_an_atom_of_another_sentence() -> None:
    found = values(sentence([[0.3], [0.9]], elsewhere=[0.9, 0.95]))
    assert found["from_another_sentence"] == 1
    assert found["precision"] == 0.5


def test_sentences_without_human_atoms_count_for_check_worthiness_alone() -> None:
    found = values(
        sentence([[0.9]]),
        {**sentence([], relevant=False), "verified": True, "own": ["o"], "elsewhere": [0.0]},
        sentence([], relevant=False),
    )
    assert found["precision"] == 1.0
    assert found["check_worthiness_balanced_accuracy"] == 3 / 4
    assert found["check_worthiness_f1"] == pytest.approx(2 / 3)


def test_nothing_to_compare() -> None:
    assert values()["recall"] is None
    assert values()["atoms_a_human_atom"] is None


def test_pronouns_are_read_as_the_name_that_a_biography_is_of() -> None:
    assert named("He wrote it for her.", "Ann Vale") == "Ann Vale wrote it for her."
    assert named("Her films include Ice.", r"A\1") == r"A\1's films include Ice."
    assert named("Hershey makes chocolate.", "Ann") == "Hershey makes chocolate."
    assert named("She is tall.", "") == "She is tall."
