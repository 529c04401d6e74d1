"""Queries beside the atom's own words: what is asked for, believed, and counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.text.wording import content_words
from factcheck_local.core.types import Atom, Context, Span
from factcheck_local.models.contracts import Message
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.claims.split import segment
from factcheck_local.pipeline.retrieval.queries import (
    FIRST,
    SHOWN,
    WORDS,
    parse_queries,
    says_found,
    with_headings,
    with_question,
    with_units,
    write_queries,
)

LUNCH = Atom("a1", "Guests pay 12 euros for lunch.", "Guests pay 12 euros for lunch.")
LEAVE = Atom("a2", "Staff get 25 days of leave.", "Staff get 25 days of leave.")


def passage(text: str, title: str = "Canteen") -> Context:
    return Context(id=text, source="canteen.md", title=title, text=text, prior=0.9)


def nothing(_atom: Atom, _queries: Sequence[str]) -> list[Context]:
    return []


def refining(messages: Sequence[Message]) -> bool:
    """Whether a prompt shows what was found."""
    return "\nPassages:" in messages[-1].content


def model(first: str, then: str = "found") -> FakeChatModel:
    return FakeChatModel(lambda m: then if refining(m) else first)


# -------------------------------------------------------------------- parsing


@pytest.mark.parametrize(
    ("reply", "queries"),
    [
        ("price of lunch\ncanteen prices", ["price of lunch", "canteen prices"]),
        ("- price of lunch\n2. canteen prices", ["price of lunch", "canteen prices"]),
        ('1) "price of lunch"\n2) “canteen prices”', ["price of lunch", "canteen prices"]),
        ("Query: price of lunch\nQuery 2: canteen", ["price of lunch", "canteen"]),
        ("**Search query 1:** price of lunch", ["price of lunch"]),
        ("**price of lunch**\n`canteen`", ["price of lunch", "canteen"]),
        ("Here are two queries:\nprice of lunch", ["price of lunch"]),
        ("Queries\nprice of lunch", ["price of lunch"]),
        ("Not found.\nprice of lunch", ["price of lunch"]),
        ("not found - price of lunch", ["price of lunch"]),
        ("price of lunch\nprice of lunch\n\n---", ["price of lunch"]),
        ("query-builder manual", ["query-builder manual"]),
        ("search.example.org rules", ["search.example.org rules"]),
        ('"price of lunch",\n"canteen",', ["price of lunch", "canteen"]),
        ("", []),
        ("...\n-\n''\n", []),
        ("```\n```", []),
    ],
)
def test_parsing_forgives_form(reply: str, queries: list[str]) -> None:
    assert parse_queries(reply) == queries


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("found", True),
        ("Found.", True),
        ("**found**", True),
        ("Reply: found", True),
        ('"found"', True),
        ("found: the first passage gives the price", True),
        ("Found in the first passage.", True),
        ("found\nprice of lunch", True),
        ("not found", False),
        ("Nothing found.\nprice of lunch", False),
        ("price of lunch\nfound", False),
        ("founding year of the firm", False),
        ("found items policy", False),
        ("", False),
    ],
)
def test_found_is_a_word_of_its_own(reply: str, found: bool) -> None:
    assert says_found(reply) is found


# -------------------------------------------------------------------- prompts


def test_the_examples_of_the_prompts_would_be_taken() -> None:
    for example in load_prompt("query").examples:
        assert 1 <= len(parse_queries(example["reply"])) <= FIRST
    kinds = set()
    for example in load_prompt("requery").examples:
        assert len(example["passages"]) <= SHOWN
        kinds.add(says_found(example["reply"]))
        assert len(parse_queries(example["reply"])) == 1
    assert kinds == {True, False}
    for name in ("query", "requery"):
        for example in load_prompt(name).examples:
            if not says_found(example["reply"]):
                for query in parse_queries(example["reply"]):
                    known = f"{example['claim']} {example.get('question', '')}"
                    assert content_words(query) & content_words(known), query


# ---------------------------------------------------------------------- stage


def test_the_question_stands_in_front() -> None:
    assert with_question([LUNCH], " What does lunch cost? ") == {
        "a1": ("What does lunch cost? Guests pay 12 euros for lunch.",)
    }
    assert with_question([LUNCH], None) == with_question([LUNCH], "  ") == {}


ANSWER = """Lunch is from 11:30.

## Canteen

Guests pay 12 euros. So do visitors.

Further prices:

- Coffee is 2 euros.

| Drink | Price |
|---|---|
| Tea | 1 euro |
"""


def test_an_atom_goes_with_what_stands_above_it() -> None:
    atoms = [Atom(s.text, s.text, s.text, span=s.span) for s in segment(ANSWER)]
    found = with_headings(atoms, ANSWER)
    assert found["So do visitors."] == ("Canteen\nSo do visitors.",)
    assert found["Coffee is 2 euros."] == ("Canteen > Further prices:\nCoffee is 2 euros.",)
    assert found["| Tea | 1 euro |"] == ("Canteen > | Drink | Price |\n| Tea | 1 euro |",)
    assert "Lunch is from 11:30." not in found


def test_the_place_of_an_atom_counts_and_not_its_words() -> None:
    unit = "Coffee is 2 euros."
    at = ANSWER.index(unit)
    reworded = Atom("a", "A cup costs 2 euros.", unit, span=Span(at, at + len(unit)))
    assert with_headings([reworded], ANSWER) == {
        "a": ("Canteen > Further prices:\nA cup costs 2 euros.",)
    }


def test_an_atom_without_a_place_has_no_headings() -> None:
    assert with_headings([LUNCH], ANSWER) == {}
    elsewhere = Atom("a", "Lunch", "Lunch", span=Span(0, 5))
    assert with_headings([elsewhere], ANSWER) == {}


def test_an_atom_goes_with_the_unit_that_it_is_from() -> None:
    unit = "Coffee is 2 euros."
    at = ANSWER.index(unit)
    reworded = Atom("a", "A cup at Acme costs 2 euros.", unit, span=Span(at, at + len(unit)))
    inside = replace(reworded, id="b", span=Span(at + 7, at + 9))
    assert with_units([reworded, inside], ANSWER) == {
        "a": ("Canteen > Further prices:\nCoffee is 2 euros.",),
        "b": ("Canteen > Further prices:\nCoffee is 2 euros.",),
    }


def test_an_atom_that_is_its_unit_or_of_none_has_no_query_but_itself() -> None:
    text = "Lunch is from 11:30. Guests pay."
    same = Atom("a", "Lunch is from 11:30.", "Lunch is from 11:30.", span=Span(0, 20))
    behind = replace(same, id="b", span=Span(len(text) + 5, len(text) + 9))
    assert with_units([same, behind, LUNCH], text) == {}
    assert with_units([same], "") == {}


def test_units_of_a_long_answer_are_found_by_place() -> None:
    text = " ".join(f"Item {i} costs {i} euros." for i in range(50))
    atoms = []
    for i in range(50):
        at = text.index(f"Item {i} costs")
        # A span that begins in the space before, as a record's may.
        atoms.append(Atom(str(i), f"It is {i}.", "", span=Span(max(0, at - 1), at + 8)))
    found = with_units(atoms, text)
    assert [found[str(i)] for i in range(50)] == [
        (f"Item {i} costs {i} euros.",) for i in range(50)
    ]


def test_two_queries_at_most_and_the_claim_is_none() -> None:
    fake = model("price of lunch\nlunch for guests\nlunch again")
    found = write_queries([LUNCH], fake, nothing, rounds=0)
    assert found.by_atom == {"a1": ("price of lunch", "lunch for guests")}
    assert (found.refused, found.failed) == (0, 0)
    assert "Claim: Guests pay 12 euros for lunch." in fake.calls[0][-1].content
    same = write_queries([LUNCH], model("guests pay 12 euros for lunch"), nothing)
    assert (same.by_atom, same.refused, same.failed) == ({}, 0, 0)


def test_a_query_about_something_else_is_refused() -> None:
    fake = model("price of lunch\nholiday on the moon")
    found = write_queries([LUNCH], fake, nothing, rounds=0)
    assert found.by_atom == {"a1": ("price of lunch",)}
    assert found.refused == 1
    # The question's words will do, and a number of the claim.
    with_words = write_queries([LUNCH], fake, nothing, rounds=0, question="How far is the moon?")
    assert with_words.by_atom == {"a1": ("price of lunch", "holiday on the moon")}
    assert write_queries([LUNCH], model("12"), nothing, rounds=0).by_atom == {"a1": ("12",)}


def test_the_model_sees_what_is_found_and_leaves_it_at_that() -> None:
    fake = model("price of lunch", "found")
    long = " ".join(["Guests"] + ["pay"] * WORDS)
    looked: list[tuple[str, tuple[str, ...]]] = []

    def look(atom: Atom, queries: Sequence[str]) -> list[Context]:
        looked.append((atom.id, tuple(queries)))
        return [passage(long), passage("Lunch is\nat noon.", title=""), *map(passage, "xyz")]

    found = write_queries([LUNCH], fake, look, rounds=5)
    assert found.by_atom == {"a1": ("price of lunch",)}
    assert looked == [("a1", ("price of lunch",))]
    shown = fake.calls[-1][-1].content
    assert f"\n- Canteen: Guests{' pay' * (WORDS - 1)} …\n- Lunch is at noon.\n- " in shown
    assert shown.count("\n- Canteen: ") == SHOWN - 1
    assert "Tried:\n- price of lunch\n" in shown


def test_each_round_adds_a_query_until_nothing_new_comes() -> None:
    replies = iter(["price of lunch", "lunch fee", "canteen lunch", "Lunch fee"])
    fake = FakeChatModel(lambda _m: next(replies))
    found = write_queries([LUNCH], fake, nothing, rounds=9)
    assert found.by_atom == {"a1": ("price of lunch", "lunch fee", "canteen lunch")}
    assert len(fake.calls) == 4
    assert "Passages:\nnone\n" in fake.calls[-1][-1].content


def test_all_atoms_take_a_round_together() -> None:
    fake = FakeChatModel(lambda m: "found" if refining(m) else m[-1].content.split("Claim: ")[1])
    told: list[tuple[int, int]] = []
    replies = write_queries(
        [LUNCH, LEAVE], fake, nothing, progress=lambda done, count: told.append((done, count))
    )
    # The reply is the claim itself: no query, but each goes on to see what it finds.
    assert replies.by_atom == {}
    assert [refining(call) for call in fake.calls] == [False, False, True, True]
    assert told == [(1, 2), (2, 2), (1, 2), (2, 2)]


def test_rounds_end_where_no_atom_is_open() -> None:
    fake = model("price of lunch", "found")
    found = write_queries([LUNCH], fake, nothing, rounds=10**12)
    assert found.by_atom == {"a1": ("price of lunch",)}
    assert len(fake.calls) == 2


def does_not_fit(_messages: Sequence[Message]) -> str:
    raise ScoringError("does not fit")


@pytest.mark.parametrize("reply", [does_not_fit, lambda _m: "", lambda _m: "...\n---"])
def test_a_failure_leaves_the_claim_and_is_counted(
    reply: Callable[[Sequence[Message]], str],
) -> None:
    fake = FakeChatModel(reply)
    found = write_queries([LUNCH, LEAVE], fake, nothing, rounds=3)
    assert (found.by_atom, found.refused, found.failed) == ({}, 0, 2)
    assert len(fake.calls) == 2, "an atom that it failed on is not asked about again"


def test_a_failure_later_keeps_what_there_is() -> None:
    def reply(messages: Sequence[Message]) -> str:
        return does_not_fit(messages) if refining(messages) else "price of lunch"

    found = write_queries([LUNCH], FakeChatModel(reply), nothing, rounds=3)
    assert (found.by_atom, found.failed) == ({"a1": ("price of lunch",)}, 1)


def test_a_real_model_says_the_same_twice(smollm: LlamaCppModel) -> None:
    question = "What does lunch cost?"
    found = [write_queries([LUNCH], smollm, nothing, question=question, rounds=0) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].failed == 0
    for query in found[0].by_atom.get("a1", ()):
        assert content_words(query) & content_words(f"{LUNCH.text} {question}")
