"""The lexical checks on what a model wrote."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer

from factcheck_local.core.text.wording import (
    clauses,
    content_words,
    counted_in,
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
        ("In 2019 three people died", "In 2019 3 people died"),
        ("In 2019 two hundred people died", "In 2019 200 people died"),
        ("On 5 May 2020 forty-two members", "On 5 May 2020 42 members"),
        ("5 hundred thousand", "500,000"),
        ("ninety-nine and ninety-eight", "99 and 98"),
        ("two hundred and three hundred", "200 and 300"),
        ("one hundred and five and six", "105 and 6"),
        ("ninety-nine and one hundred and five", "99 and 105"),
        ("nineteen ninety-nine", "19 99"),
        ("five-six days, one or two", "5 6 days, 2"),
        ("3\u00a0million", "3000000"),
        ("twenty-five\nthousand", "25000"),
        ("the twenty-first century", "the 21st century"),
        ("the Ninety\u2011Ninth Congress", "the 99th Congress"),
        ("the one hundred and twenty-third day", "the 123rd day"),
        ("a thirty-second clip", "a clip of 30 seconds"),
    ],
)
def test_numbers_of_several_words(words: str, digits: str) -> None:
    assert numbers(words) == numbers(digits)


@pytest.mark.parametrize("text", ["hundreds of people", "someone", "often", "1.2.3 million miles"])
def test_what_is_no_number_of_words(text: str) -> None:
    assert numbers(text) <= {"1.2.3"}


def test_a_long_row_of_numbers_in_words_is_read_in_one_go() -> None:
    assert numbers("five six " * 5000) == {"5", "6"}
    assert numbers("ninety-nine and " * 5000) == {"99"}
    assert len(numbers(f"{'5' * 5000} million")) == 1
    assert numbers("5" + " trillion" * 5000) == {"5" + "0" * 36}
    assert numbers("nine-seventeen-trillion") == {"9", "17"}


def test_content_words_ignore_inflection_and_function_words() -> None:
    assert content_words("The engineer's phones are replaced") == content_words(
        "a phone replaces an engineer"
    )


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that take turns in the midst of everything."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_find_the_stems_that_one_finds() -> None:
    heads = [f"{a}{b}{c}" for a in "bcdfglmnpr" for b in "aeiou" for c in "bdgklmnprt"]
    words = [f"{head}{end}" for head in heads for end in ("izations", "fulness", "edly")]
    shares = [words[i::4] for i in range(4)]
    with ThreadPoolExecutor(len(shares)) as pool:
        found = list(pool.map(lambda own: [content_words(word) for word in own], shares))
    alone = snowballstemmer.stemmer("english")
    assert found == [[{alone.stemWord(word)} for word in own] for own in shares]


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


def test_clauses_stand_in_the_sentence_as_they_are() -> None:
    assert clauses("a and b are open") == ["a and b are open"]
    assert clauses(" and the gate is open at night") == ["the gate is open at night"]


def test_clauses_of_a_text_of_many_are_found_in_one_go() -> None:
    many = "a and " * 33_000
    assert clauses(many) == [many.strip()]
    gap = " " * 200_000
    assert clauses(f"The fee{gap}is 9 euros.") == [f"The fee{gap}is 9 euros."]
    distinct = [f"gate {chr(97 + i % 26)} opens at night" for i in range(5000)]
    assert clauses(" and ".join(distinct)) == distinct


def test_clauses_together_are_the_sentence() -> None:
    sentence = "A and B pay 5 euros; guests of members pay double and visitors of guests pay 12."
    kept = content_words(sentence)
    assert frozenset().union(*(content_words(c) for c in clauses(sentence))) == kept


def test_normalised_forgives_case_markup_and_the_final_stop() -> None:
    assert normalised("**The** limit is 5 %.") == normalised("the limit is  5 %")
    assert normalised("- [The] *limit*, (it) is 'five'!") == normalised("the limit it is five")
    assert normalised("## Leave | two-day **trips**") == normalised("Leave: two day trips")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The limit is 5 %", "The limit is 5 €"),
        ("It costs 5 ¥", "It costs 5 ₹"),
        ("It is -5 degrees", "It is 5 degrees"),
        ("It is -5 here and 5 there", "It is 5 here and -5 there"),
        ("It is written in C++", "It is written in C#"),
        ("It is written in C#", "It is written in C"),
        ("x > 5", "x < 5"),
        ("x = a/b", "x = a*b"),
        ("| SSO | ✓ |", "| SSO | ✗ |"),
        ("It is ±5 here", "It is 5 here"),
    ],
)
def test_signs_are_no_markup(text: str, other: str) -> None:
    assert normalised(text) != normalised(other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("non\u2011smokers pay", "non-smokers pay"),
        ("\ufeffIt\u200b pays^", "It pays"),
        ("▪ Foo。", "Foo"),
    ],
)
def test_marks_of_typesetting_are_nothing_said(text: str, other: str) -> None:
    assert normalised(text) == normalised(other)


def test_names_are_told_by_their_capitals() -> None:
    # "It" is a function word; stems are in lower case.
    assert names("It opens in Kiel for the IT staff of O’Brien") == {"kiel", "o'brien"}


@pytest.mark.parametrize(
    ("heading", "factor"),
    [
        ("Revenue (€m)", 10**6),
        ("in millions of euros", 10**6),
        ("Costs, $ thousands", 10**3),
        ("EUR '000", 10**3),
        ("£bn", 10**9),
        ("Height (m)", None),
        ("Article 1,000 of May", None),
    ],
)
def test_what_a_heading_counts_in(heading: str, factor: int | None) -> None:
    expected = {} if factor is None else {str(12 * factor): "12"}
    assert counted_in({"12", "4.1.2"}, heading) == expected
