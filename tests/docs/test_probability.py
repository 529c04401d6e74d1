"""The numbers of docs/how-to-read-a-probability.md are the engine's."""

from __future__ import annotations

import pytest

from factcheck_local.core.types import Atom, Context, Relation, ScoredPair
from factcheck_local.metrics import Called, called_threshold
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.decide import certainty
from factcheck_local.pipeline.verdicts.factreasoner import reason

from .pages import PAGES


def p_of_claim(prior: float, *relations: Relation, settings: Settings | None = None) -> float:
    """P of a claim on which passages bear."""
    found = reason(
        [Atom("a", "x", "x")],
        [Context(f"c{i}", f"s{i}", "", f"y{i}", prior) for i in range(len(relations))],
        [ScoredPair(f"c{i}", "a", relation) for i, relation in enumerate(relations)],
        settings or Settings(),
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


def test_two_passages() -> None:
    text = " ".join(PAGES["docs/how-to-read-a-probability.md"].split())
    assert "Two edges of 0.875 become 0.785 each" in text
    assert "P is 0.906 instead of the 0.964 of independent witnesses" in text
    two = [Relation(0.8, 0.05, 0.15)] * 2
    independent = Settings(relation_correlation=0.0)
    assert p_of_claim(0.9, *two) == pytest.approx(0.906, abs=5e-4)
    assert p_of_claim(0.9, *two, settings=independent) == pytest.approx(0.964, abs=5e-4)


def test_the_certainty_of_the_example() -> None:
    text = PAGES["docs/how-to-read-a-probability.md"]
    assert "the certainty is 0.94 · (1 - 0.9 · 0.3) = 0.686" in text
    passage = Context("c", "s", "", "y", 0.9)
    pair = ScoredPair("c", "a", Relation(0.1, 0.3, 0.6))
    assert certainty(0.94, [pair], {"c": passage}) == pytest.approx(0.686, abs=5e-4)


def test_how_many_claims_a_threshold_takes() -> None:
    text = " ".join(PAGES["docs/how-to-read-a-probability.md"].split())
    assert "at least 19 called claims without a wrong one, or 39 with one" in text
    for wrong, least in ((0, 19), (1, 39)):
        for called in (least - 1, least):
            # What is wrong is the surest, so that no smaller number will do without it.
            p = [1.0] * wrong + [0.9] * (called - wrong)
            true = [False] * wrong + [True] * (called - wrong)
            found = called_threshold(p, true, 0.05)
            assert found == (Called(0.9, called, wrong) if called == least else None)
