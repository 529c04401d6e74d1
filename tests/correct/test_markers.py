"""Markers of an earlier correction: taken back where they no longer hold, and never stacked."""

from __future__ import annotations

import pytest

from factcheck_local.correct import Unsupported, correct
from factcheck_local.pipeline.claims.markers import marker, unmarked

from .helpers import assessed, checker

BARE = "Annual leave in Kiel is 30 days."
STALE = "Annual leave in Kiel is 30 days [contradicted by old.md:7]."


@pytest.mark.parametrize("verdict", ["contradicted", "conflicting", "undecided", "not_found"])
@pytest.mark.parametrize(
    "places",
    [["a.md:1"], ["a.md:1", "b [1].pdf, p. 2"], [], ["a[1.md:3"], ["a]1.md:3"], ["a[b[1]].md:3"]],
)
def test_each_marker_is_known_again(verdict: str, places: list[str]) -> None:
    said = marker(verdict, places)
    assert unmarked(f"Leave is 30 days {said} [unverified].") == "Leave is 30 days."
    for kept in (f"Leave is 30 days `{said}`.", f"Leave is 30 days {said}(https://h)."):
        assert unmarked(kept) == kept


def test_a_marker_is_replaced_by_the_one_that_holds_now() -> None:
    run = assessed(STALE, (STALE, STALE, "contradicted"))
    (edit,) = correct(run, checker("")).edits
    assert (edit.action, edit.new) == ("mark", STALE.replace("old.md:7", "d.md:1"))
    again = STALE.replace("old.md:7", "d.md:1")
    run = assessed(again, (again, again, "contradicted"))
    (edit,) = correct(run, checker("")).edits
    assert (edit.action, edit.new) == ("keep", again)


def test_a_sentence_put_right_has_no_marker() -> None:
    passage = "Annual leave in Kiel is 25 days."
    run = assessed(STALE, (STALE, STALE, "contradicted"), passage=passage)
    model = checker(lambda sentence: sentence.replace("30", "25"))
    (edit,) = correct(run, model).edits
    assert (edit.old, edit.new) == (STALE, passage)
    assert [c["text"] for c in edit.checked] == [passage]


@pytest.mark.parametrize("mode", ["mark", "remove", "keep"])
def test_a_marker_is_taken_back_from_what_is_supported(mode: Unsupported) -> None:
    run = assessed(STALE, (STALE, BARE, "supported"))
    found = correct(run, checker(""), unsupported=mode)
    (edit,) = found.edits
    assert (edit.action, edit.old, edit.new, found.text) == ("unmark", STALE, BARE, BARE)


@pytest.mark.parametrize("verdict", ["unscored", "skipped"])
def test_a_marker_stays_where_nothing_is_known(verdict: str) -> None:
    run = assessed(STALE, (STALE, BARE, verdict))
    assert correct(run, checker("")).text == STALE


def test_what_is_kept_as_it_is_keeps_its_marker() -> None:
    text = "Annual leave is 30 days and the moon is made of cheese [unverified]."
    run = assessed(
        text,
        (text, "Annual leave is 30 days.", "contradicted"),
        (text, "The moon is made of cheese.", "not_found"),
        passage="Annual leave is 25 days.",
    )
    model = checker(lambda sentence: sentence.replace("30", "25"))
    assert correct(run, model, unsupported="keep").text == text.replace("30", "25")
    run = assessed(STALE, (STALE, STALE, "contradicted"))
    assert correct(run, checker(""), unsupported="keep").text == STALE
