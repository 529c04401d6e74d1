"""Rewrites do to a sentence what their name says, or nothing."""

from __future__ import annotations

import random

import pytest

from training import rewrite
from training.rewrite import Rewrite

CASES: list[tuple[Rewrite, str, set[str]]] = [
    (rewrite.without_lead_in, "However, the port is closed.", {"The port is closed."}),
    (rewrite.without_aside, "The port (8080) is open.", {"The port is open."}),
    (
        rewrite.main_clause,
        "The server keeps three copies, which are checked daily.",
        {"The server keeps three copies."},
    ),
    (
        rewrite.second_clause,
        "Kestrel is a web server and was written in Rust.",
        {"Kestrel was written in Rust."},
    ),
    (
        rewrite.relative_clause,
        "Kestrel, which was written in Rust, serves the portal.",
        {"Kestrel was written in Rust."},
    ),
    (
        rewrite.apposition,
        "Carla Venti, a chemist from Turin, founded the firm.",
        {"Carla Venti is a chemist from Turin."},
    ),
    (rewrite.without_opening, "In 1987, the firm moved to Lyon.", {"The firm moved to Lyon."}),
    (
        rewrite.without_condition,
        "If the disk is full, the service stops.",
        {"The service stops."},
    ),
    (
        rewrite.turned_round,
        "The library was built by the city council.",
        {"The city council built the library."},
    ),
    (
        rewrite.shorter_list,
        "It runs on Linux, Windows and macOS.",
        {"It runs on Linux and Windows.", "It runs on Linux and macOS."},
    ),
    (rewrite.number_words, "It takes 3 tries.", {"It takes three tries."}),
    (rewrite.unit_words, "It lasts 2 hours.", {"It lasts 120 minutes."}),
    (rewrite.unit_words, "It lasts 14 days.", {"It lasts 336 hours.", "It lasts 2 weeks."}),
    (rewrite.negated, "The port is open.", {"The port is not open."}),
    (rewrite.negated, "The port is not open.", {"The port is open."}),
    (rewrite.antonym, "Cookies are allowed.", {"Cookies are forbidden."}),
    (rewrite.strengthened, "It usually works.", {"It always works."}),
]


@pytest.mark.parametrize(("change", "sentence", "expected"), CASES)
def test_what_comes_out(change: Rewrite, sentence: str, expected: set[str]) -> None:
    assert change(sentence, random.Random(1)) in expected


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (rewrite.apposition, "The port is open."),
        (rewrite.main_clause, "When it rains, which is rare, the drill is put off."),
        (rewrite.other_number, "The port is open."),
        (rewrite.negated, "Ports open at noon."),
        (rewrite.without_condition, "The port is open."),
    ],
)
def test_what_does_not_apply_is_left_alone(change: Rewrite, sentence: str) -> None:
    assert change(sentence, random.Random(1)) is None


def test_another_number_keeps_its_shape() -> None:
    for seed in range(200):
        made = rewrite.other_number("It held 1,200 people.", random.Random(seed))
        assert made is not None
        assert made != "It held 1,200 people."
        year = rewrite.other_number("It opened in 1987.", random.Random(seed))
        assert year is not None
        assert 1950 < int(year.removeprefix("It opened in ").rstrip(".")) < 2000


def test_another_name_has_as_many_words_and_is_not_in_the_sentence() -> None:
    change = rewrite.other_name(["Oslo", "New York", "Lyon"])
    assert change("She moved to Lyon.", random.Random(1)) == "She moved to Oslo."
