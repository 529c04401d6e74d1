"""The lexical checks on what a model wrote."""

from __future__ import annotations

import pytest

from factcheck_local.core.text.wording import (
    clauses,
    content_words,
    is_elliptical,
    is_vague,
    names,
    negated,
    negations,
    normalised,
    numbers,
    share_within,
)


def test_numbers_as_digits_and_words_are_the_same() -> None:
    assert numbers("up to ten of 1,000 at 08:30 or 2.5") == {"10", "1000", "08:30", "2.5"}
    assert numbers("10 days") == numbers("ten days")
    assert numbers("one of them") == set()


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("twenty-five days", "25 days"),
        ("Twenty five days", "25 days"),
        ("one hundred and five", "105"),
        ("two thousand five hundred", "2,500"),
        ("a hundred", "100"),
        ("3 million people", "3,000,000 people"),
        ("2.5 million", "2500000"),
        ("five and six", "5 and 6"),
        ("between ten and twenty", "10 and 20"),
        ("five thousand and a half", "5000"),
    ],
)
def test_numbers_of_several_words(words: str, digits: str) -> None:
    assert numbers(words) == numbers(digits)


@pytest.mark.parametrize("text", ["hundreds of people", "someone", "often", "1.2.3 million miles"])
def test_what_is_no_number_of_words(text: str) -> None:
    assert numbers(text) <= {"1.2.3"}


def test_content_words_ignore_inflection_and_function_words() -> None:
    assert content_words("The engineer's phones are replaced") == content_words(
        "a phone replaces an engineer"
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [("It is not paid and never will be.", 2), ("It doesn’t lapse.", 1), ("All is well.", 0)],
)
def test_negations(text: str, count: int) -> None:
    assert negations(text) == count


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("Use is allowed, but not abroad.", {"abroad"}),
        ("It is not an allowed use and doesn’t lapse.", {"allow", "laps"}),
        ("Staff never have to pay the firm's fee, do they not?", {"pay", ""}),
        ("All is well.", set()),
    ],
)
def test_what_a_negation_denies_is_the_next_content_word(text: str, stems: set[str]) -> None:
    assert negated(text) == stems


def test_share_within_counts_each_word_once() -> None:
    # Content words: gateway, serves, sensors; two of the three are in the other text.
    assert share_within("The gateway serves sensors", "sensors of a gateway") == pytest.approx(
        2 / 3
    )
    assert share_within("It is.", "anything") == 1.0


@pytest.mark.parametrize(
    ("text", "vague"),
    [
        ("It lasts five years.", True),
        ("The company has an insurance.", True),
        ("Orrin Hub runs in Frankfurt.", False),
        ("The rule that is in force holds.", False),
    ],
)
def test_is_vague(text: str, vague: bool) -> None:
    assert is_vague(text) is vague


@pytest.mark.parametrize(
    ("text", "elliptical"),
    [
        ("The data protection course is due within 30.", True),
        ("You have to be on site for at least four.", True),
        ("62 euros for a full day abroad.", True),
        ("The fee is due within 30 days.", False),
        ("The firm was sold after 1987.", False),  # a date
        ("It opens in room 12.", False),  # a name
        ("Ten engineers are in Porto.", False),
    ],
)
def test_is_elliptical(text: str, elliptical: bool) -> None:
    assert is_elliptical(text) is elliptical


def test_clauses_split_at_coordination_but_not_inside_a_list() -> None:
    sentence = "You get 27 days of leave a year, and up to ten unused days can be carried over."
    assert clauses(sentence) == [
        "You get 27 days of leave a year",
        "up to ten unused days can be carried over.",
    ]
    assert clauses("Cats and dogs are allowed.") == ["Cats and dogs are allowed."]
    hours = "Tickets that come in between 22:00 and 7:00 are not looked at by anybody."
    assert clauses(hours) == [hours]


def test_clauses_together_are_the_sentence() -> None:
    sentence = "A and B pay 5 euros; guests of members pay double and visitors of guests pay 12."
    kept = content_words(sentence)
    assert frozenset().union(*(content_words(c) for c in clauses(sentence))) == kept


def test_normalised_forgives_case_markup_and_the_final_stop() -> None:
    assert normalised("**The** limit is 5 %.") == normalised("the limit is  5 %")
    assert normalised("The limit is 5 %") != normalised("The limit is 5 €")


def test_names_are_told_by_their_capitals() -> None:
    # "It" is a function word; stems are in lower case.
    assert names("It opens in Kiel for the IT staff of O’Brien") == {"kiel", "o'brien"}
