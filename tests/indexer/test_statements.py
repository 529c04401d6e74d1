"""What is kept of a document's metadata."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.indexer.reliability import storable
from factcheck_local.indexer.reliability.access import own_groups
from factcheck_local.indexer.reliability.statements import MAX_ENTRIES, MAX_KEYS, MAX_TEXT


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("text", "text"),
        (6, 6),
        (0.5, 0.5),
        (False, False),
        (date(2024, 3, 1), "2024-03-01"),
        (datetime(2024, 3, 1, 10, tzinfo=UTC), "2024-03-01T10:00:00+00:00"),
        (time(10, 30), "10:30:00"),
        (float("nan"), "nan"),
        (("a", 1, date(2024, 3, 1)), ["a", 1, "2024-03-01"]),
        ([], []),
        ("x" * MAX_TEXT, "x" * MAX_TEXT),
    ],
)
def test_scalars_and_lists_are_kept(value: object, kept: object) -> None:
    assert storable({"key": value}) == {"key": kept}


@pytest.mark.parametrize(
    "value",
    [
        None,
        "x" * (MAX_TEXT + 1),
        {"a": 1},
        [["a"]],
        ["a", None],
        ["a", "x" * (MAX_TEXT + 1)],
        ["a"] * (MAX_ENTRIES + 1),
        2**63,
        b"bytes",
    ],
)
def test_the_rest_is_left_out(value: object) -> None:
    assert storable({"key": value, "other": 1}) == {"other": 1}


def test_keys_are_compared_without_case_hyphen_and_blank() -> None:
    metadata = {"Last-Modified": "a", "DOC  ID": "b", " owner ": "c", "OWNER": "later", "": "d"}
    assert storable(metadata) == {"last_modified": "a", "doc_id": "b", "owner": "c"}


def test_what_has_a_meaning_is_the_last_to_be_left_out() -> None:
    metadata = {f"k{number}": number for number in range(100)} | {"owner": "x", "access": ["hr"]}
    kept = storable(metadata)
    assert len(kept) == MAX_KEYS
    assert (kept["owner"], kept["access"], kept["k0"]) == ("x", ["hr"], 0)
    assert "k99" not in kept


def test_no_access_label_is_ever_lost() -> None:
    many = [f"group-{number}" for number in range(MAX_ENTRIES + 1)]
    assert own_groups(storable({"access": many})) == frozenset(many)
    assert own_groups(storable({"access": " ".join(many)})) == frozenset(many)
    assert own_groups(storable({"access": {"x": many}})) == frozenset()


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.dates()
    | st.datetimes(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
KEYS = st.text() | st.sampled_from(["access", "Access", "reliability", "owner", "date"])


@given(st.dictionaries(KEYS, VALUES, max_size=60))
def test_it_survives_json_and_itself(metadata: dict[str, Any]) -> None:
    kept = storable(metadata)
    written = json.dumps(kept, allow_nan=False)
    assert json.loads(written) == kept
    assert storable(kept) == kept
    assert len(kept) <= MAX_KEYS
    assert ("access" in kept) == any(key.strip().casefold() == "access" for key in metadata)
