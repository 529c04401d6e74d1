"""The atomizer's own logic, on scripted replies, and one run on a real model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.types import Atom, Kind, Span
from factcheck_local.models.contracts import Message
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.pipeline.claims.atomize import atomize, merge_repeats
from factcheck_local.pipeline.claims.atomize.lists import taken_apart
from factcheck_local.pipeline.claims.atomize.parse import parse_claims
from factcheck_local.pipeline.claims.split import segment


def sentence_of(messages: Sequence[Message]) -> str:
    """The marked sentence of a prompt."""
    return messages[-1].content.rsplit("Sentence: ", 1)[1]


@pytest.mark.parametrize(
    ("reply", "claims"),
    [
        ("A is B.\nC is D.", ["A is B.", "C is D."]),
        ("- A is B.\n* C is D.\n3) E is F.", ["A is B.", "C is D.", "E is F."]),
        ("fact: A is B.\nClaim - C is D.", ["A is B.", "C is D."]),
        ("fact\nA is B.", ["A is B."]),
        ("Data-protection questions go to C.", ["Data-protection questions go to C."]),
        ("Claims-handling takes C days.", ["Claims-handling takes C days."]),
        ("**A is B.**\n`C is D.`", ["A is B.", "C is D."]),
        ("`a` and `b`\n`a` is b\n**a** and **b**", ["`a` and `b`", "`a` is b", "**a** and **b**"]),
        ("A is B.\nA is B.\n\n---", ["A is B."]),
        ("Facts matter to C.", ["Facts matter to C."]),
        ("", []),
        ("...\n-\n", []),
    ],
)
def test_parsing_forgives_form(reply: str, claims: list[str]) -> None:
    assert parse_claims(reply) == claims


def test_atoms_stay_with_their_own_sentence() -> None:
    # The model repeats the neighbour and makes up a number: both are dropped.
    replies = {
        "The gateway serves 64 sensors.": "The gateway serves 64 sensors.",
        "Its battery lasts five years.": (
            "Its battery lasts five years.\nThe gateway serves 64 sensors.\n"
            "Its battery lasts seven years."
        ),
    }
    model = FakeChatModel(lambda m: replies[sentence_of(m)])
    found = atomize(segment(" ".join(replies)), model)
    assert [a.text for a in found.atoms] == list(replies)
    assert found.dropped == 2


@pytest.mark.parametrize(
    ("sentence", "reply", "added"),
    [
        # a clause with its number
        (
            "You get 27 days a year, and up to ten unused days can be carried over.",
            "You get 27 days a year.",
            "up to ten unused days can be carried over.",
        ),
        # a clause without any number
        (
            "The laptop locks after 5 minutes, and private devices need written consent.",
            "The laptop locks after 5 minutes.",
            "private devices need written consent.",
        ),
        # part of a list, which says nothing alone
        (
            "She worked at the Public Theater and the New York Shakespeare Festival.",
            "She worked at the Public Theater.",
            "She worked at the Public Theater and the New York Shakespeare Festival.",
        ),
        (
            "Despite several long hiatuses and lineup changes, the band plays on.",
            "The band plays on.",
            "Despite several long hiatuses and lineup changes, the band plays on.",
        ),
        # a negation
        (
            "Carried days are never paid out.",
            "Carried days are paid out.",
            "Carried days are never paid out.",
        ),
        # everything
        ("The hub runs in Frankfurt.", "Berlin has bears.", "The hub runs in Frankfurt."),
        ("The hub runs in Frankfurt.", "", "The hub runs in Frankfurt."),
    ],
)
def test_what_the_split_leaves_out_is_added(sentence: str, reply: str, added: str) -> None:
    found = atomize(segment(sentence), FakeChatModel(lambda _m: reply))
    assert found.atoms[-1].text == added
    assert found.completed == 1


@pytest.mark.parametrize(
    ("claim", "claims"),
    [
        (
            "His films include Heat, Ran and Alien.",
            ["His films include Heat.", "His films include Ran.", "His films include Alien."],
        ),
        # the comma of a quotation stands inside it; "and" within one joins nothing
        (
            'She wrote plays such as "Ice," "Salt and Water," and "Rust."',
            [f"She wrote plays such as {p}." for p in ('"Ice"', '"Salt and Water"', '"Rust"')],
        ),
        ("Kits include 2 lenses, 3 filters, and 1 mount.", 3),
        ("Stops include The Hague, Porto and Rio de Janeiro.", 3),
        ("The region includes Kent, Essex and Stratford upon Avon.", 3),
        ("Kits include 1 camera, 2 lithium batteries and 1 carry bag.", 3),
        # what stands behind the last name is said of all of them
        ("Cities such as Paris, Rome and Berlin were founded by the Romans.", 1),
        ("Several countries, including France, Germany and Spain signed the treaty in 1957.", 1),
        ("The tour included Paris, Rome and Berlin in 1998.", 1),
        ('The tour included "Ice", "Salt" and "Rust" in 1998.', 1),
        ("Lines such as 5, 7 and 9 stop.", 1),
        ("Kits include 2 lenses, 3 filters, and 1 mount in 1998.", 1),
        ("Clients include Marks and Spencer.", 1),
        ("The plan includes support, storage and backups.", 1),
        ("It includes Heat, which won a prize, and Ran.", 1),
        ("Offices include Ghent, Porto, or Kiel.", 1),
        ("A merger of Abel, Baker and Cole made it.", 1),
        ("Offices include Ghent, Porto, and the old customs house in the harbour of Kiel.", 1),
    ],
)
def test_an_enumeration_of_names_is_taken_apart(claim: str, claims: list[str] | int) -> None:
    found = taken_apart(claim)
    assert found == claims if isinstance(claims, list) else len(found) == claims
    if len(found) == 1:
        assert found == [claim]
    atoms = atomize(segment(claim), FakeChatModel(lambda _m: claim)).atoms
    assert [a.text for a in atoms] == found


def test_a_unit_that_is_not_check_worthy_is_kept_with_its_kind() -> None:
    model = FakeChatModel(lambda _m: "never asked", label=lambda _m, _e, _l: "meta")
    (atom,) = atomize(segment("Thanks for asking!"), model).atoms
    assert (atom.kind, atom.text) == (Kind.META_STATEMENT, "Thanks for asking!")
    assert model.calls == []


def test_a_figure_is_verified_whatever_the_model_calls_it() -> None:
    model = FakeChatModel(sentence_of, label=lambda _m, _e, _l: "instruction")
    (atom,) = atomize(segment("Submit receipts within 45 days."), model).atoms
    assert atom.kind.check_worthy


def test_the_window_holds_question_headings_and_neighbours() -> None:
    model = FakeChatModel(sentence_of)
    names = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus"]
    text = "# Leave\n\n" + " ".join(f"{name} takes a week off." for name in names)
    atomize(segment(text), model, question="Who is away?")
    prompt = model.calls[5][-1].content
    assert prompt.endswith("Sentence: Fay takes a week off.")
    assert "Question: Who is away?" in prompt
    assert "Heading: Leave" in prompt
    # Three before, the paragraph's first since it is long, and one after.
    before = " ".join(f"{name} takes a week off." for name in ("Ann", "Cleo", "Dan", "Eve"))
    assert f"Before: {before}\n" in prompt
    assert "After: Gus takes a week off." in prompt


def test_a_sentence_that_does_not_fit_is_a_failure_not_a_verdict() -> None:
    def fail(_messages: Sequence[Message]) -> str:
        raise ScoringError("does not fit")

    found = atomize(segment("The hub runs in Frankfurt."), FakeChatModel(fail))
    assert found.failures == {"a1": "does not fit"}
    assert found.atoms[0].text == "The hub runs in Frankfurt."


def test_repeats_merge_into_the_first() -> None:
    atoms = [
        Atom("a1", "The limit is 5.", "x", span=Span(0, 4)),
        Atom("a2", "the limit is 5", "y", span=Span(9, 12)),
        Atom("a3", "The limit is 6.", "z", span=Span(20, 24)),
    ]
    first, other = merge_repeats(atoms)
    assert (first.id, first.repeats) == ("a1", (Span(9, 12),))
    assert other.id == "a3"


def test_claims_that_differ_in_a_sign_are_no_repeats() -> None:
    texts = ["It is 5 degrees.", "It is -5 degrees.", "It runs C++.", "It runs C#.", "It runs C."]
    atoms = [Atom(f"a{i}", text, text, span=Span(i, i + 1)) for i, text in enumerate(texts)]
    assert merge_repeats(atoms) == tuple(atoms)


def test_a_real_model_splits_and_every_atom_is_tied_to_the_answer(smollm: LlamaCppModel) -> None:
    text = "## Leave\n\nEmployees get 27 days of leave and 5 days can be carried over. Is that all?"
    found = atomize(segment(text), smollm)
    assert not found.failures
    for atom in found.atoms:
        assert atom.span is not None
        assert atom.span.of(text) == atom.original
    said = " ".join(a.text for a in found.atoms if a.kind.check_worthy)
    assert "27" in said
    assert "5" in said
