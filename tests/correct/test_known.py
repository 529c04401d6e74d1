"""Numbers in words and in other notations are what they are."""

from __future__ import annotations

import pytest

from factcheck_local.correct.replace import Wrong, drafts

from .helpers import Writer, refusal, rewrite


@pytest.mark.parametrize(
    ("old", "passage", "new"),
    [
        ("Probation lasts six months.", "| Probation | 4 months |", "Probation lasts four months."),
        ("Three weeks of leave are paid.", "2 weeks paid.", "Two weeks of leave are paid."),
        ("The firm made 4 million dollars.", "Profit | $5m", "The firm made 5 million dollars."),
        ("The budget is 20,000 euros.", "Budget: 25'000", "The budget is 25,000 euros."),
        ("Reception opens at 8:00.", "08:30 to 18:00", "Reception opens at 8:30."),
        ("Reception opens at 08:00.", "8:30 to 18:00", "Reception opens at 08:30."),
        ("Keys end on 30 September 2025.", "Off: 2025-06-30", "Keys end on 30 June 2025."),
        ("Keys end on 30 September 2025.", "Off: 2025-06-03", "Keys end on 3 June 2025."),
        ("TLS 1.2 is available.", "TLS 1.2 is switched off.", "TLS 1.2 is no longer available."),
    ],
)
def test_another_notation_is_given(old: str, passage: str, new: str) -> None:
    assert rewrite(old, [Wrong(old, passage)], Writer(new)) == new


@pytest.mark.parametrize(
    ("old", "passage", "new", "why"),
    [
        ("Probation lasts six months.", "4 months", "Probation lasts five months.", "number"),
        ("Probation lasts six months.", "4 months", "Probation lasts one month.", "words of"),
        ("It costs 20 euros.", "$5m", "It costs 6 million euros.", "number"),
        ("Keys end on 30 May.", "2025-06-30", "Keys end on 30 July.", "name"),
        ("Reception opens at 8:00.", "08:30", "Reception opens at 8:45.", "number"),
        ("TLS is available.", "TLS is off.", "TLS is available longer.", "words of"),
    ],
)
def test_what_nobody_gave_stays_refused(old: str, passage: str, new: str, why: str) -> None:
    assert why in refusal(old, [Wrong(old, passage)], Writer(new))


def test_a_number_of_another_claim_may_be_written_as_digits() -> None:
    old = "The first course is due within ten days, and the second one within 30."
    new = "The first course is due within 10 days, and the second one within 20."
    other = "The first course is due within ten days."
    wrong = Wrong("The second course is due within 30 days.", "20 days | second course")
    assert rewrite(old, [wrong], Writer(new), others=[other]) == new
    lost = Writer(new.replace("10", "20"))
    # Refused whole, since it drops the other claim; what is right of it counts.
    assert {*drafts(old, [wrong], lost, others=[other])} == {old.replace("30", "20")}
    old = "The first and the second course are due within ten/30 days."
    lost = Writer(old.replace("ten/30", "20/20"))
    why = refusal(old, [wrong], lost, others=[other])
    assert why == f"the rewriting drops another claim: {other}"
