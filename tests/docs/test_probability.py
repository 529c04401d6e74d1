"""The numbers of docs/how-to-read-a-probability.md are the engine's."""

from __future__ import annotations

import pytest

from factcheck_local.assess.factreasoner import reason
from factcheck_local.config import Settings
from factcheck_local.types import Atom, Context, Relation, ScoredPair

from .pages import PAGES


def p_of_claim(prior: float, relation: Relation) -> float:
    """P of a claim on which one passage bears."""
    found = reason(
        [Atom("a", "x", "x")],
        [Context("c", "s", "", "y", prior)],
        [ScoredPair("c", "a", relation)],
        Settings(),
    )
    assert found.marginals is not None
    return found.marginals.p_true["a"]


def test_the_worked_example() -> None:
    text = PAGES["docs/how-to-read-a-probability.md"]
    assert "P = 0.9 · 0.875 + 0.1 · 0.5 = 0.8375" in text
    assert p_of_claim(0.9, Relation(0.8, 0.05, 0.15)) == pytest.approx(0.8375)


@pytest.mark.parametrize("prior", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("p", [1.0, 0.7])
def test_one_passage_moves_p_by_its_prior(prior: float, p: float) -> None:
    """½ + prior · (strength - ½), downwards for a denial."""
    strength = p + (1 - p) / 2
    shift = prior * (strength - 0.5)
    assert p_of_claim(prior, Relation(p, 0, 1 - p)) == pytest.approx(0.5 + shift)
    assert p_of_claim(prior, Relation(0, p, 1 - p)) == pytest.approx(0.5 - shift)
