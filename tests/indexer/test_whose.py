"""Whose documents these are: what documents tell, the name of most, and where it is put."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from factcheck_local.core.types import Context
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.whose import (
    MOST_NAMES,
    below,
    organisation_of,
    organisations,
    told,
    with_organisation,
)


def record(name: str, *names: str, key: str = "organisation") -> SourceRecord:
    return SourceRecord(
        *(name, "docs", name, "0" * 64, 1, 0, "2026-01-01", 0.9, "default"),
        stated=json.dumps({key: list(names)} if names else {}),
    )


def passage(title: str, text: str) -> Context:
    return Context("p1", "leave.md", title, text, 0.9)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("This covers all trips of employees of Harbour Trust.", ("Harbour Trust",)),
        ("Staff at the Harbour Trust book early.", ("Harbour Trust",)),
        ("Welcome to 9miles!", ("9miles",)),
        ("While you work for Ørsted Marine, keep it.", ("Ørsted Marine",)),
        ("It is open to Quillon teammates and nobody else.", ("Quillon",)),
        ("We ask Marrow Bay's staff to sign.", ("Marrow Bay",)),
        ("© 2024 Kelmscar Ferries. All rights reserved.", ()),
        ("A contract with Ostrel Payments GmbH ends in May.", ()),
        ("Full-time employees get 27 days. Part-time employees get fewer.", ()),
        ("For staff, the desk opens at nine. HR staff may enter.", ()),
        ("Employees of the Company ask the staff of Finance.", ()),
        ("Trips of the department are booked by Rui Falcandre.", ()),
        ("", ()),
    ],
)
def test_what_a_document_tells_by_its_words(text: str, names: Sequence[str]) -> None:
    assert told([text]) == tuple(names)


def test_the_names_told_most_often_are_kept() -> None:
    names = ("Aa", "Bb", "Cc", "Dd", "Ee")
    text = "".join(f"Employees of {name} rest. " * n for n, name in enumerate(names))
    assert told([text]) == ("Ee", "Dd", "Cc")[:MOST_NAMES]


def test_what_a_document_states_comes_before_its_words() -> None:
    passages = ["Employees of Harbour Trust rest."]
    assert with_organisation({}, passages) == {"organisation": ["Harbour Trust"]}
    assert with_organisation({"owner": "HR"}, ["Nothing."]) == {"owner": "HR"}
    for key in ("organisation", "organization", "company"):
        assert with_organisation({key: "Fen Courier"}, passages) == {key: "Fen Courier"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([("Harbour Trust",), ("Harbour Trust",), (), ()], "Harbour Trust"),
        ([("Harbour Trust",), ()], None),
        ([("Harbour Trust",)] * 3 + [()] * 97, "Harbour Trust"),
        ([("Harbour Trust",)] * 3 + [()] * 98, None),
        ([("Harbour Trust",)] * 3 + [("Fen Courier",)] * 2, None),
        ([("Harbour Trust",)] * 4 + [("Fen Courier",)] * 2, "Harbour Trust"),
        ([("Harbour Trust", "Fen")] * 2 + [("Fen",)], "Fen"),
        ([("Harbour Trust", "Fen")] * 3, None),
        ([("Harbour Trust", "Fen")] * 8 + [("Fen",)], None),
        (
            [("Harbour Trust", "Fen")] * 3 + [("Harbour Trust",)] * 6 + [("Fen",)] * 4,
            "Harbour Trust",
        ),
        ([("Harbour Trust", "Fen")] * 3 + [("Harbour Trust",)] * 6 + [("Fen",)] * 5, None),
        ([("Harbour",), ("Harbour Trust",), ("Harbour Trust",), ("Fen",)], "Harbour Trust"),
        ([("Harbour",), ("Harbour",), ("Harbour Trust",), ("Fen",)], "Harbour"),
        ([], None),
    ],
)
def test_the_organisation_is_that_of_most_documents_that_tell_one(
    said: Sequence[Sequence[str]], expected: str | None
) -> None:
    assert organisation_of(said) == expected
    assert organisation_of(said[::-1]) == expected


def test_each_spelling_of_the_statement_counts() -> None:
    records = [record(f"{k}.md", "Fen\nCourier", key=k) for k in ("organization", "company")]
    assert set(organisations(records).values()) == {"Fen Courier"}
    assert organisations([record("a.md", "x" * 61), record("b.md", "x" * 61)]) == {}


def test_each_folder_has_its_own_and_a_document_of_others_is_left_out() -> None:
    trust = [record(f"{i}.md", "Harbour Trust") for i in range(3)]
    trust += [record("plain.md"), record("guest.md", "Fen Courier")]
    fen = [replace(record(f"fen/{i}.md", "Fen Courier"), root="fen") for i in range(2)]
    other = replace(record("alone/a.md", "Harbour Trust"), root="alone")
    assert organisations([*trust, *fen, other]) == {
        **dict.fromkeys(["0.md", "1.md", "2.md", "plain.md"], "Harbour Trust"),
        **dict.fromkeys(["fen/0.md", "fen/1.md"], "Fen Courier"),
    }


def test_a_document_of_what_it_is_a_part_of_counts_as_its_own() -> None:
    """An office's handbook speaks of the agency's staff, in some documents beside its own."""
    both = [record(f"both{i}.md", "Fen Courier", "Northsea Group") for i in range(2)]
    office = [record(f"office{i}.md", "Fen Courier") for i in range(5)]
    agency = [record(f"agency{i}.md", "Northsea Group") for i in range(3)]
    guest = record("guest.md", "Eel Bank")
    found = organisations([*both, *office, *agency, guest])
    assert set(found.values()) == {"Fen Courier"}
    assert found.keys() == {r.source for r in (*both, *office, *agency)}
    assert organisations([both[0], *office, *agency]).keys().isdisjoint(r.source for r in agency)


def test_it_stands_above_a_passage_whose_title_does_not_name_it() -> None:
    bare = passage("Leave > Carry-over", "Up to 5 days.")
    assert below("Harbour Trust", bare) == passage(
        "Harbour Trust > Leave > Carry-over", "Up to 5 days."
    )
    assert below("Harbour Trust", passage("", "5 days.")).title == "Harbour Trust"
    assert below(None, bare) is bare


def test_what_a_passage_says_of_it_amid_its_text_does_not_tell_whose_it_is() -> None:
    moved = passage("Leave", "It is 25 days. If you came to Harbour Trust in May, it is fewer.")
    assert below("Harbour Trust", moved).title == "Harbour Trust > Leave"


@pytest.mark.parametrize(
    ("organisation", "title"),
    [("Harbour Trust", "Harbour guide"), ("Fen Courier", "Guide > Trips at the Fen Courier")],
)
def test_a_title_that_names_it_stays(organisation: str, title: str) -> None:
    named = passage(title, "Up to 5 days.")
    assert below(organisation, named) is named


def test_a_short_first_word_does_not_name_it() -> None:
    """Such as "Fen", or the "St" of a street."""
    assert below("Fen Courier", passage("Walks", "Fen and marsh.")).title == "Fen Courier > Walks"
    assert below("Harbour Trust", passage("Walks", "Harbourside.")).title.startswith("Harbour Tr")
