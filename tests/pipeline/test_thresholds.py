"""Thresholds of verdicts from labelled claims, by hand."""

from __future__ import annotations

import pytest

from factcheck_local.core.errors import InputError
from factcheck_local.core.types import Thresholds, Verdict
from factcheck_local.metrics import Called
from factcheck_local.pipeline.verdicts.decide import verdict
from factcheck_local.pipeline.verdicts.thresholds import LabelledClaim, Side, fit_thresholds

YES, NO, NONE = Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.NOT_FOUND


def claims(label: Verdict, *probabilities: float) -> list[LabelledClaim]:
    """Claims on which no passage says otherwise: as certain as P, or 1 - P, is."""
    return [LabelledClaim(p, p if p > 0.5 else 1 - p, label) for p in probabilities]


def test_both_sides_by_hand() -> None:
    """Alpha = 1/4 takes three called without a wrong one, or seven with one.

    Above ½ the surest three are right, and nothing below is. Under ½ of the seven lowest
    one is wrong: (1 + 1) / (7 + 1) is 1/4.
    """
    found = fit_thresholds(
        [
            *claims(YES, 0.99, 0.97, 0.95),
            *claims(NO, 0.9, 0.8),
            *claims(NONE, 0.7, 0.6),
            *claims(NO, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1),
            *claims(YES, 0.04, 0.3, 0.5),
        ],
        0.25,
        data="by hand",
        assessor="fr1",
    )
    assert found.thresholds == Thresholds(0.95, 1 - 0.1, 0.25, 16, "by hand", "fr1")
    assert found.supported == Side(7, Called(0.95, 3, 0))
    assert found.contradicted.possible == 8
    assert found.contradicted.found == Called(1 - 0.1, 7, 1)
    assert found.coverage == (3 + 7) / 16
    assert found.coverage_before == (7 + 8) / 16


def test_a_claim_that_a_passage_opposes_comes_after_those_that_none_does() -> None:
    """However high its P is: what is ranked is the certainty."""
    opposed = LabelledClaim(0.99, 0.5, Verdict.CONFLICTING)
    found = fit_thresholds([opposed, *claims(YES, 0.9, 0.8, 0.7)], 0.25, data="", assessor="fr1")
    assert found.supported == Side(4, Called(0.7, 3, 0))


def test_a_side_without_a_threshold_calls_whatever_is_there() -> None:
    found = fit_thresholds(
        [*claims(YES, 0.9, 0.8, 0.7), *claims(NO, 0.2, 0.1)], 0.25, data="", assessor="fr1"
    )
    assert (found.thresholds.supported, found.thresholds.contradicted) == (0.7, 0.0)
    assert found.contradicted == Side(2, None)
    # It calls there what it called before.
    assert found.coverage == 1.0
    with pytest.raises(
        InputError,
        match=r"keeps to 25 %: of 4 claims 2 could be called supported, 2 con.* 3 of",
    ):
        fit_thresholds([*claims(YES, 0.9, 0.8), *claims(NO, 0.2, 0.1)], 0.25, data="", assessor="")


@pytest.mark.parametrize(
    ("said", "p", "supported", "contradicted"),
    [
        (None, 0.9, True, False),
        (None, 0.1, False, True),
        (None, 0.5, False, False),
        (YES, 0.9, True, False),
        (Verdict.UNDECIDED, 0.6, True, False),
        (Verdict.UNDECIDED, 0.4, False, True),
        # These stay what they are wherever P lies.
        (Verdict.CONFLICTING, 0.9, False, False),
        (NONE, 0.9, False, False),
        (NO, 0.1, False, True),
    ],
)
def test_what_could_be_called(
    said: Verdict | None, p: float, supported: bool, contradicted: bool
) -> None:
    claim = LabelledClaim(p, 0.9, YES, said)
    assert claim.may_be(YES) is supported
    assert claim.may_be(NO) is contradicted


def test_what_could_be_called_is_what_verdict_then_calls() -> None:
    """The claims of a fit, judged with its thresholds, have the counts that it names."""
    from factcheck_local.core.types import Context, EvidenceLink, RelationLabel

    ps = [0.99, 0.97, 0.95, 0.9, 0.8]
    found = fit_thresholds(
        [*claims(YES, *ps[:3]), *claims(NO, *ps[3:])], 0.25, data="", assessor="fr1"
    )
    link = EvidenceLink("c", "a", RelationLabel.ENTAILMENT, 0.9, 0.9)
    by_id = {"c": Context("c", "s", "", "t", 0.9)}
    said = [
        verdict(p, p, [link], by_id, strong=0.5, within=0.5, thresholds=found.thresholds)
        for p in ps
    ]
    assert found.supported.found is not None
    assert said.count(YES) == found.supported.found.called == 3
    assert said.count(Verdict.UNDECIDED) == 2
