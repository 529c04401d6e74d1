"""Near duplicates: what may be taken for the same, and above all what may not."""

from __future__ import annotations

import pytest

from factcheck_local.core.types import Context
from factcheck_local.pipeline.retrieval.duplicates import near_duplicates

#: Over 110 words, so that a word more, less or other leaves the Jaccard similarity above 0.9.
POLICY = (
    "Employees receive 27 days of paid annual leave per calendar year. Leave is requested in the "
    "portal and approved by the team lead on Monday. Unused days lapse on 31 March of the "
    "following year, and no payment is made for them. The people team answers questions about "
    "leave in the help channel and keeps the records of every office for the auditors who visit "
    "the company each autumn in Kiel. Whoever falls ill while on leave tells the team lead the "
    "same morning and sends the certificate to the people team, who then put the days back. "
    "Leave for moving house, for a wedding or for the birth of a child is described on a page of "
    "its own, and so is the leave that works councils and the fire brigade grant to volunteers."
)


def same(a: str, b: str, titles: tuple[str, str] = ("Leave", "Leave")) -> bool:
    contexts = [
        Context(id_, f"{id_}.md", title, text, 0.9)
        for id_, title, text in zip("xy", titles, (a, b), strict=True)
    ]
    found = near_duplicates(contexts)
    assert found["x"] == "x"
    return found["y"] == "x"


def test_the_same_text_in_other_clothes() -> None:
    marked = POLICY.replace("paid annual leave", "**paid  annual\nleave**").upper()
    assert same(POLICY, marked)
    assert same("Lunch is free.", "Lunch is free")


def test_a_little_more_text() -> None:
    assert same(POLICY, POLICY + " Thanks everyone.")
    assert same("Welcome. " + POLICY, POLICY)
    # The control of the test below: one word is another, which is no reason of its own.
    assert same(POLICY, POLICY.replace("the auditors", "those auditors"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("27 days", "28 days"),
        ("27 days", "27.5 days"),
        ("27 days", "-27 days"),
        ("27 days", "27a days"),
        ("no payment", "payment"),
        ("is requested", "isn't requested"),
        ("each autumn", "one autumn"),
        ("is requested", "may be requested"),
        ("Employees receive", "Only employees receive"),
        ("on Monday", "on Friday"),
        ("in Kiel", "in Bonn"),
        ("approved", "declined"),
        # by a word that stands elsewhere, too
        ("visit the company", "visit the office"),
        ("fire brigade", "brigade fire"),
        ("the people team, who then", "the team lead, who then"),
        ("requested in", "requested from"),
        ("27 days", "\u20ac27"),
    ],
)
def test_versions_of_one_page_are_not_the_same(old: str, new: str) -> None:
    assert POLICY.count(old) == 1
    assert not same(POLICY, POLICY.replace(old, new))


def test_numbers_that_change_places_are_not_the_same() -> None:
    filler = POLICY.replace("27", "some").replace("31", "some")
    a, b = (f"Kiel has {x} desks, Bonn {y}. {filler}" for x, y in ((5, 12), (12, 5)))
    assert not same(a, b)


def test_a_title_says_what_a_text_is_about() -> None:
    assert not same(POLICY, POLICY, ("Leave > Full-time", "Leave > Part-time"))
    assert same(POLICY, POLICY, ("Leave policy", "Leave  Policy"))


def test_the_first_stands_for_all() -> None:
    texts = {"a": POLICY, "b": "Dogs stay out.", "c": POLICY + " Thanks.", "d": "dogs stay out"}
    contexts = [Context(id_, "s", "", text, 0.9) for id_, text in texts.items()]
    assert near_duplicates(contexts) == {"a": "a", "b": "b", "c": "a", "d": "b"}
    assert near_duplicates([]) == {}
