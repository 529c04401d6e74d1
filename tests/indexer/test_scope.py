"""Filters on sources, and what groups may see."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.core.errors import InputError
from factcheck_local.core.types import Context
from factcheck_local.indexer.joined import JoinedStore, ReadableStore
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.scope import Condition, as_seen, in_scope
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.pipeline.retrieval.search import search
from factcheck_local.pipeline.settings import Retrieval

from .helpers import HashingEmbedder, write

FILES: dict[str, str | bytes] = {
    "hr/pay.md": "---\naccess: hr\nowner: Personnel\ndate: 2024-03-01\n---\nPay is due.",
    "hr/board.md": "---\naccess: [board]\nowner: Board\n---\nPay of the board is due.",
    "leave.md": "---\nstatus: approved\ntags: [leave, Pay]\nrevision: 10\n---\nPay goes on.",
    "office.txt": "Pay at the counter of the office.",
}


@pytest.fixture
def filled(corpus: Path, store: Store, embedder: HashingEmbedder) -> Store:
    write(corpus, FILES)
    sync([corpus], store, embedder)
    return store


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("source=hr/**", ["hr/board.md", "hr/pay.md"]),
        ("source != hr/**", ["leave.md", "office.txt"]),
        ("owner=personnel", ["hr/pay.md"]),
        ("owner!=personnel", ["hr/board.md", "leave.md", "office.txt"]),
        ("status=approved", ["leave.md"]),
        ("tags=pay", ["leave.md"]),
        ("format=txt", ["office.txt"]),
        ("revision>9", ["leave.md"]),
        ("revision<=9", []),
        ("date<2024-12-31", ["hr/pay.md"]),
        ("date>=2024-12-31", ["hr/board.md", "leave.md", "office.txt"]),  # the files' own dates
        ("prior>0.5", ["hr/board.md", "hr/pay.md", "leave.md", "office.txt"]),
        ("prior>0.95", []),
        ("prior>high", []),
        ("nothing=x", []),
    ],
)
def test_conditions(filled: Store, condition: str, expected: list[str]) -> None:
    found = in_scope(filled.sources(), [Condition.parse(condition)])
    assert sorted(found or ()) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("Department=HR", ["a.md"]),
        ("valid-from>=2024-01-01", ["a.md"]),
        ("Valid_From<2024-01-01", []),
        ("Source=a.*", ["a.md"]),
        ("owner=legal", ["a.md"]),  # an author, where no owner is stated
        ("owner!=legal", ["b.md", "c.md", "d.md", "e.md"]),
        ("team=bu\u0308ro   eins", ["e.md"]),
        ("format=.MD", ["a.md", "b.md", "c.md", "d.md", "e.md"]),
        ("Format!=md", []),
        ("date=2024-03-12", ["a.md"]),
        ("date = 12 March 2024", ["a.md"]),
        ("date>=2024-01-01", ["a.md", "b.md", "c.md"]),
        ("date<2025-01-01", ["a.md", "c.md"]),
        ("date!=2024-03-12", ["b.md", "c.md", "d.md", "e.md"]),
        ("date=2024", ["a.md", "c.md", "e.md"]),
        ("date>2024", ["b.md"]),
        ("date>=2024-03", ["a.md", "b.md", "c.md"]),
        ("date<=2024-03", ["a.md"]),
        ("last-modified>=2025-07-01", ["b.md"]),
    ],
)
def test_keys_and_dates_are_read_as_those_of_rules(
    corpus: Path, store: Store, embedder: HashingEmbedder, condition: str, expected: list[str]
) -> None:
    files = {
        "a.md": "department: HR\nValid-From: 2024-02-01\nauthor: Legal\ndate: 12 March 2024",
        "b.md": "Date: 20.6.2025\nLast-Modified: 1 July 2025",
        "c.md": "owner: Board\ndate: 2024-06-30T10:00:00",
        "d.md": "date: spring of 2024\nlast_modified: 02/08/2025",
        "e.md": "date: 2024\nteam: B\u00fcro Eins",
    }
    write(corpus, {name: f"---\n{stated}\n---\nText." for name, stated in files.items()})
    sync([corpus], store, embedder)
    found = in_scope(store.sources(), [Condition.parse(condition)])
    assert sorted(found or ()) == expected


def test_all_conditions_have_to_hold(filled: Store) -> None:
    both = [Condition.parse("source=hr/**"), Condition.parse("owner=Board")]
    assert in_scope(filled.sources(), both) == frozenset({"hr/board.md"})
    assert in_scope(filled.sources()) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "owner", "=x", "owner=", "owner ~ x", "source>a", "Source>a"),
        *("date>=soon", "Date=02/06/2025", "last-modified<March 2024"),
    ],
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(InputError, match="where: "):
        Condition.parse(text)


@given(
    st.from_regex(r"[a-z_]{1,8}", fullmatch=True),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.text(min_size=1).filter(lambda v: v == v.strip() and not v.startswith("=")),
)
def test_conditions_read_as_written(key: str, operator: str, value: str) -> None:
    if key != "source" or operator in ("=", "!="):
        assert str(Condition.parse(f"{key} {operator}  {value} ")) == f"{key}{operator}{value}"


@pytest.mark.parametrize(
    ("groups", "hidden"),
    [
        (["hr"], {"hr/board.md"}),
        (["hr", "board"], set()),
        (["sales"], {"hr/board.md", "hr/pay.md"}),
        ([], {"hr/board.md", "hr/pay.md"}),
        (None, set()),
    ],
)
@pytest.mark.parametrize("retrieval", ["dense", "lexical", "fused"])
def test_a_group_finds_only_what_it_may_see(
    filled: Store,
    embedder: HashingEmbedder,
    retrieval: Retrieval,
    groups: list[str] | None,
    hidden: set[str],
) -> None:
    scope = in_scope(filled.sources(), groups=groups)
    texts = ["pay is due"]
    (found,) = search(texts, embedder.embed(texts), filled, 9, retrieval, scope)
    assert {context.source for context in found} == set(FILES) - hidden


def test_what_is_being_written_is_shown_to_no_group(filled: Store) -> None:
    """Its passages may still carry the access of before."""
    filled.begin(next(r for r in filled.sources() if r.source == "office.txt"))
    assert "office.txt" not in (in_scope(filled.sources(), groups=["hr"]) or ())
    assert "office.txt" in (in_scope(filled.sources(), [Condition.parse("format=txt")]) or ())


def test_a_new_access_rule_needs_no_embedding(
    corpus: Path, filled: Store, embedder: HashingEmbedder
) -> None:
    embedded = len(embedder.texts)
    write(corpus, {"reliability.toml": '[[access]]\nmatch = "office.*"\ngroups = ["sales"]'})
    sync([corpus], filled, embedder)
    assert len(embedder.texts) == embedded
    assert "office.txt" not in (in_scope(filled.sources(), groups=["hr"]) or ())
    assert "office.txt" in (in_scope(filled.sources(), groups=["sales"]) or ())
    rows = filled._passages._collection.get(where={"source": "office.txt"})
    assert [m["access"] for m in rows["metadatas"] or ()] == ['["sales"]']


def test_a_successor_is_named_to_those_alone_who_may_see_it(
    corpus: Path, filled: Store, embedder: HashingEmbedder
) -> None:
    write(
        corpus,
        {
            "leave.md": "---\nsuperseded_by: hr/board.md\n---\nPay goes on.",
            "reliability.toml": "superseded = 0.3",
        },
    )
    sync([corpus], filled, embedder)

    def told(store: ReadableStore, groups: list[str] | None) -> set[tuple[str | None, str, float]]:
        seen = in_scope(store.sources(), groups=groups)
        texts = ["pay goes on"]
        (passages,) = search(texts, embedder.embed(texts), store, 9, "dense", seen)
        rated: list[SourceRecord | Context] = [as_seen(r, seen) for r in store.sources()]
        rated += [as_seen(c, seen) for c in passages]
        return {
            (r.superseded_by, r.prior_rule, r.prior) for r in rated if r.source.endswith("leave.md")
        }

    rule = "default; superseded by hr/board.md"
    assert told(filled, None) == told(filled, ["board"]) == {("hr/board.md", rule, 0.3)}
    assert told(filled, ["hr"]) == {(None, "default", 0.3)}
    # A rule has the name that its own store knows.
    joined = JoinedStore({"own": filled})
    assert told(joined, ["board"]) == {("own/hr/board.md", rule, 0.3)}
    assert told(joined, ["hr"]) == {(None, "default", 0.3)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("owner=x" + " " * 400 + "y" * 100, "a condition of 507 characters, at most 500 are taken"),
        ("source=folder\\", "a source is named by a glob"),
        ("source=[z-a]", "a source is named by a glob"),
    ],
)
def test_conditions_that_are_refused_at_once(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Condition.parse(text)
