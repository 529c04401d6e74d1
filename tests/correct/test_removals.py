"""Items of a list are removed only with all that stands below them."""

from __future__ import annotations

import pytest

from factcheck_local.correct import correct

from .helpers import assessed, checker

GONE = "The Paris office opened in autumn."


@pytest.mark.parametrize(
    "below",
    [
        "- Berlin is large.\n- {}\n  - It has 40 desks.\n",
        "- Berlin is large.\n  - {}\n    1. It has 40 desks.\n",
        "1. {}\n\n    It has 40 desks.\n",
        "1. {}\r\n\r\n   It has 40 desks.\r\n",
        "> - {}\n>\n>   It has 40 desks.\n",
        "-\t{}\n\t- It has 40 desks.\n",
    ],
)
def test_an_item_with_something_below_it_is_marked(below: str) -> None:
    text = below.format(GONE)
    run = assessed(text, (GONE, GONE, "not_found"))
    (edit,) = correct(run, checker(""), unsupported="remove").edits
    assert (edit.action, edit.new) == ("mark", GONE.replace(".", " [unverified]."))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- Berlin.\n- {}\n- Rome.\n", "- Berlin.\n- Rome.\n"),
        ("- Berlin.\n  - {}\n- Rome.\n", "- Berlin.\n- Rome.\n"),
        ("1. {}\n\nA paragraph.\n", "\nA paragraph.\n"),
        ("> - {}\n> - Rome.\n", "> - Rome.\n"),
        ("{}\n\n    It has 40 desks.\n", "\n    It has 40 desks.\n"),
    ],
)
def test_other_items_go(text: str, expected: str) -> None:
    text = text.format(GONE)
    run = assessed(text, (GONE, GONE, "not_found"))
    found = correct(run, checker(""), unsupported="remove")
    assert [e.action for e in found.edits] == ["remove"]
    assert found.text == expected


def test_an_item_goes_with_those_below_it() -> None:
    below = "It has 40 desks."
    text = f"- Berlin.\n- {GONE} It is new.\n  - {below}\n- Rome.\n"
    claims = [(said, said, "not_found") for said in (GONE, "It is new.", below)]
    found = correct(assessed(text, *claims), checker(""), unsupported="remove")
    assert found.text == "- Berlin.\n- Rome.\n"
    # If one of them stays, all above it do.
    found = correct(assessed(text, *claims[:2]), checker(""), unsupported="remove")
    assert [e.action for e in found.edits] == ["mark", "mark"]
    assert f"{GONE[:-1]} [unverified]. It is new [unverified].\n  - {below}" in found.text


def test_neighbours_that_go_together_keep_the_refused_rewritings_of_each() -> None:
    first, second = "Annual leave is 30 days.", "Parental leave is 90 days."
    text = f"{first} {second}"
    run = assessed(text, (first, first, "contradicted"), (second, second, "contradicted"))
    model = checker(lambda sentence: sentence.replace("0 days", "7 days"))
    (edit,) = correct(run, model, unsupported="remove").edits
    assert edit.action == "remove"
    assert [draft.text for draft in edit.drafts] == [
        "Annual leave is 37 days.",
        "Parental leave is 97 days.",
    ]
