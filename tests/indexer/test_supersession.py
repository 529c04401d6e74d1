"""Which document replaces which."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.indexer.reliability import storable, supersession


def found(documents: dict[str, dict[str, Any]], *, by_name: bool = False) -> dict[str, str]:
    stated = [(source, storable(metadata)) for source, metadata in documents.items()]
    links = supersession(stated, by_name=by_name)
    assert supersession(reversed(stated), by_name=by_name) == links
    return links


@pytest.mark.parametrize(
    ("path", "successor"),
    [
        ("new.md", "docs/hr/new.md"),
        ("./new.md", "docs/hr/new.md"),
        ("new.md#leave", "docs/hr/new.md"),
        ("../top.md", "docs/top.md"),
        ("hr/new.md", "docs/hr/new.md"),  # below the root
        ("docs/hr/new.md", "docs/hr/new.md"),  # the full name
        ("/hr/new.md", "docs/hr/new.md"),
        ("hr\\new.md", "docs/hr/new.md"),
        ("twin.md", "docs/hr/twin.md"),
        ("/twin.md", "docs/twin.md"),
        ("gone.md", "gone.md"),  # not among the documents: as written
        ("https://intranet/new.md#x", "https://intranet/new.md#x"),
        (["new.md", "top.md"], "docs/hr/new.md"),
        (4711, "4711"),
    ],
)
def test_paths(path: object, successor: str) -> None:
    names = ["docs/hr/new.md", "docs/top.md", "docs/hr/twin.md", "docs/twin.md"]
    others: dict[str, dict[str, Any]] = {name: {} for name in names}
    assert found({"docs/hr/old.md": {"superseded_by": path}, **others}) == {
        "docs/hr/old.md": successor
    }


def test_a_letter_and_its_mark_may_be_one_character_or_two() -> None:
    new, old = "hr/Lo\u0308hne.md", "hr/alt.md"
    documents = {new: {"supersedes": old}, old: {"superseded_by": "L\u00f6hne.md"}}
    assert found(documents) == {old: new}
    assert found({new: {}, "b.md": {"supersedes": "hr/L\u00f6hne.md"}}) == {new: "b.md"}


@pytest.mark.parametrize("path", ["old.md", "./old.md#x", "", "  ", True, None, {"a": 1}])
def test_what_names_no_other_document(path: object) -> None:
    assert found({"old.md": {"superseded_by": path, "supersedes": path}, "new.md": {}}) == {}


def test_by_the_word_of_the_successor() -> None:
    documents: dict[str, dict[str, Any]] = {
        "hr/2023.md": {},
        "hr/2024.md": {"supersedes": "2023.md"},
        "hr/2025.md": {"supersedes": ["2023.md", "hr/2024.md", "gone.md"]},
    }
    # Both 2024 and 2025 replace 2023; 2024, itself replaced by 2025, does so first.
    assert found(documents) == {"hr/2023.md": "hr/2024.md", "hr/2024.md": "hr/2025.md"}


def test_of_unrelated_claims_the_earlier_counts() -> None:
    documents: dict[str, dict[str, Any]] = {
        "old.md": {},
        "a.md": {"supersedes": "old.md", "date": "2024-05-01"},
        "b.md": {"supersedes": "old.md", "date": "2023-05-01"},
    }
    assert found(documents) == {"old.md": "b.md"}


def test_by_version() -> None:
    documents: dict[str, dict[str, Any]] = {
        "c.md": {"document_id": "P-7", "version": "1.10"},
        "a.md": {"document_id": "p-7", "version": 1.9},
        "b.pdf": {"doc_id": "P-7", "version": "v2"},
        "d.md": {"document_id": "P-8", "version": 3},
        "e.md": {"document_id": "", "version": 1},
        "f.md": {"document_id": "", "version": 2},
    }
    assert found(documents) == {"a.md": "c.md", "c.md": "b.pdf"}


def test_by_date_where_versions_do_not_tell() -> None:
    documents: dict[str, dict[str, Any]] = {
        "a.md": {"document_id": 1, "date": "2023-01-01", "updated": "2025-09-09"},
        "b.md": {"document_id": 1, "date": "1 February 2024"},
        "c.md": {"document_id": 1, "date": "2025-01-01", "version": "final"},
        "d.md": {"document_id": 1},
        "e.md": {"document_id": 2, "date": "2025-01-01", "version": 1},
        "f.md": {"document_id": 2, "date": "2024-01-01", "version": 2},
        "g.md": {"document_id": 3, "date": "2024-01-01", "version": 2},
        "h.md": {"document_id": 3, "date": "2025-01-01", "version": "2.0"},  # the same version
    }
    assert found(documents) == {"a.md": "b.md", "b.md": "c.md", "e.md": "f.md"}


def test_by_name() -> None:
    names = [
        "report-v1.md",
        "Report_v1.3.md",
        "report v10.md",
        "report-v10.pdf",
        "report.md",
        "old/report-v2.md",
        "v3.md",
        "reportv4.md",
    ]
    documents: dict[str, dict[str, Any]] = {name: {} for name in names}
    assert found(documents, by_name=True) == {
        "report-v1.md": "Report_v1.3.md",
        "Report_v1.3.md": "report v10.md",
    }
    assert found(documents) == {}


def test_what_is_stated_counts_before_what_is_guessed() -> None:
    documents: dict[str, dict[str, Any]] = {
        "a-v1.md": {"superseded_by": "c.md"},
        "a-v2.md": {"document_id": "a", "version": 1},
        "a-v3.md": {"document_id": "a", "version": 2},
        "c.md": {"supersedes": "a-v2.md"},
    }
    assert found(documents, by_name=True) == {"a-v1.md": "c.md", "a-v2.md": "c.md"}


def test_in_a_circle_the_weakest_links_are_dropped() -> None:
    # The names say that v2 replaces v1, the document that v1 is back in force.
    assert found({"a-v1.md": {}, "a-v2.md": {"superseded_by": "a-v1.md"}}, by_name=True) == {
        "a-v2.md": "a-v1.md"
    }


def test_in_a_circle_of_equals_nobody_is_superseded() -> None:
    documents: dict[str, dict[str, Any]] = {
        "a.md": {"superseded_by": "b.md"},
        "b.md": {"superseded_by": "c.md"},
        "c.md": {"superseded_by": "b.md"},
    }
    assert found(documents) == {"a.md": "b.md"}


def test_versions_and_dates_that_disagree_in_a_circle() -> None:
    documents: dict[str, dict[str, Any]] = {
        "a.md": {"document_id": 1, "version": 1, "date": "2025-01-01"},
        "b.md": {"document_id": 1, "version": 2, "date": "2023-01-01"},
        "c.md": {"document_id": 1, "date": "2024-01-01"},
    }
    assert found(documents) == {}


SOURCES = ["a-v1.md", "a-v2.md", "a-v2.0.md", "x/a-v3.md", "x/b.md", "c.md", "/", "/d.md", "."]
PATHS = st.sampled_from([*SOURCES, "../c.md", "./a-v1.md#x", "gone.md", "#x", "/c.md", ""])
STATED = st.fixed_dictionaries(
    {},
    optional={
        "superseded_by": PATHS,
        "supersedes": PATHS | st.lists(PATHS, max_size=3),
        "document_id": st.sampled_from(["1", 1, "2", ""]),
        "version": st.sampled_from([1, "1.0", "2", 2.5, "draft", ""]),
        "date": st.sampled_from(["2024-01-01", "2 May 2024", "2025-01-01", "soon"]),
    },
)


@given(st.dictionaries(st.sampled_from(SOURCES), STATED), st.booleans())
def test_every_chain_of_successors_ends(
    documents: dict[str, dict[str, Any]], by_name: bool
) -> None:
    links = found(documents, by_name=by_name)
    assert links.keys() <= documents.keys()
    for source in links:
        steps, at = 0, source
        while at in links:
            assert links[at] != at
            at, steps = links[at], steps + 1
            assert steps <= len(links)
