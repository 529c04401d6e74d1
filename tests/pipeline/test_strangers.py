"""Names that a claim of an answer took from where its unit is not about them."""

from __future__ import annotations

import pytest

from factcheck_local.pipeline.claims.atomize.strangers import section, without_strangers
from factcheck_local.pipeline.claims.split import segment

UNIT = "The Basic plan costs 20 euros a month."
AROUND = "What do the plans of Plover Systems and its gateway cost in Belgium?"
BEFORE = "Passwords are kept in Heron. The keepers of Curlew Island sign in at Dunlin House."


@pytest.mark.parametrize(
    ("claim", "left"),
    [
        (
            "The Basic plan of the Heron API costs 20 euros a month.",
            "The Basic plan costs 20 euros a month.",
        ),
        (
            "At Plover Systems the **Basic** plan of the **Heron G2**, costs 20 euros in Ghent.",
            "At Plover Systems the **Basic** plan, costs 20 euros.",
        ),
        ("The Basic plan costs 20 euros in Ghent.", "The Basic plan costs 20 euros."),
    ],
)
def test_a_name_from_elsewhere_is_taken_out(claim: str, left: str) -> None:
    assert without_strangers(claim, UNIT, AROUND) == left


@pytest.mark.parametrize(
    "claim",
    [
        "The Basic plan of Plover Systems costs 20 euros a month.",
        "The Basic plan of Plover Systems Ltd costs 20 euros a month.",  # a word of it is known
        "The Basic plan for Belgian customers costs 20 euros.",
        "The Basic plan of the Heron's API costs 20 euros a month.",  # no phrase of its own
        "Heron sells the Basic plan for 20 euros.",  # of whom it is, which is not left open
        "The Basic plan of a Heron gateway costs 20 euros a month.",  # which kind
        "The Basic plan for the Heron G2 gateway costs 20 euros a month.",  # a part of a name
        "The Basic plan costs 20 euros from 2025 on.",
        "The basic plan costs 20 euros of the month.",
    ],
)
def test_any_other_claim_stays(claim: str) -> None:
    assert without_strangers(claim, UNIT, AROUND) == claim


@pytest.mark.parametrize(
    ("claim", "left"),
    [
        (
            "The Basic plan at Heron costs 20 euros a month.",
            "The Basic plan costs 20 euros a month.",
        ),
        (
            "The Basic plan at Heron takes 20 euros a month.",
            "The Basic plan takes 20 euros a month.",
        ),
        ("The Basic plan of Heron costs 20 euros a month.", None),
        ("The Basic plan at Curlew Island costs 20 euros a month.", None),
        ("The Basic plan at Dunlin costs 20 euros a month.", None),
        ("The Basic plan at Plover Systems costs 20 euros a month.", None),
    ],
)
def test_what_is_named_for_something_else_is_nobody_s_place(claim: str, left: str | None) -> None:
    """Whose or which thing it is, it may be; where it is only if somebody else is there."""
    assert without_strangers(claim, UNIT, AROUND, BEFORE) == (left or claim)


def test_of_another_unit_s_claim_nothing_is_left() -> None:
    assert without_strangers("The archive is hosted in Ghent.", UNIT, AROUND) is None


def test_a_section_has_what_stands_above_it_but_not_beside_it() -> None:
    units = segment(
        "Plover is a tool.\n\n**Login.** It takes Heron. No code is asked for.\n\n"
        "**Data.** It is kept.\n\n## Export\n\n- To Curlew\n- By hand"
    )
    found = {u.text: section(units, i) for i, u in enumerate(units)}
    assert found["No code is asked for."] == "Plover is a tool. It takes Heron."
    assert found["It is kept."] == "Plover is a tool."
    assert found["By hand"] == "Plover is a tool. To Curlew"
