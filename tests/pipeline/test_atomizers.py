"""VERIFY's units and VeriScore's claims: what is asked for, read, believed, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.types import Answer, Kind
from factcheck_local.models.contracts import Message
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.atomize import (
    ATOMIZERS,
    Atomizer,
    extract_claims,
    extract_units,
)
from factcheck_local.pipeline.claims.atomize.parse import parse_units, says_none
from factcheck_local.pipeline.claims.rewording import revise
from factcheck_local.pipeline.claims.split import segment
from factcheck_local.pipeline.settings import AtomizerName, Settings

VENTI = "Carla Venti founded the firm in Turin. Born in 1931, she never finished her doctorate."

both = pytest.mark.parametrize("atomizer", [extract_units, extract_claims])


def sentence_of(messages: Sequence[Message]) -> str:
    """The marked sentence of a prompt."""
    return messages[-1].content.rsplit("Sentence: ", 1)[1]


def by_sentence(replies: dict[str, str]) -> FakeChatModel:
    return FakeChatModel(lambda m: replies[sentence_of(m)])


def test_every_name_of_the_setting_has_an_atomizer() -> None:
    assert set(ATOMIZERS) == set(get_args(AtomizerName))


# -------------------------------------------------------------------- parsing


@pytest.mark.parametrize(
    ("reply", "units"),
    [
        ("fact: A is B.\nmeta: Hello.", [("fact", "A is B."), ("meta statement", "Hello.")]),
        ("- Fact: A is B.\n2) CLAIM - A is best.", [("fact", "A is B."), ("claim", "A is best.")]),
        ("**Fact 1:** A is B.\n[data format] a;b", [("fact", "A is B."), ("data format", "a;b")]),
        ("**fact**: A is B.", [("fact", "A is B.")]),
        (
            "A is B. (fact)\nAsk me! [instruction]",
            [("fact", "A is B."), ("instruction", "Ask me!")],
        ),
        ("Facts:\nA is B.\nC is D.", [("fact", "A is B."), ("fact", "C is D.")]),
        ("question: Why? Because.", [("question", "Why? Because.")]),
        ("Here they are:\nfact: A is B.", [("fact", "A is B.")]),
        ("fact: A is B.\nfact: A is B.", [("fact", "A is B.")]),
        # Without a kind, or with a word that only begins like one, a line is no unit.
        ("A is B.", []),
        ("Data-driven design wins.\nOther rooms are free.", []),
        ("fact:", []),
        ("", []),
    ],
)
def test_units_are_read_with_their_kind(reply: str, units: list[tuple[str, str]]) -> None:
    assert [(kind.value, text) for kind, text in parse_units(reply)] == units


@pytest.mark.parametrize(
    ("reply", "none"),
    [
        ("No verifiable claim.", True),
        ("- no verifiable claims", True),
        ("There are no verifiable facts in this sentence.", True),
        ("None.", True),
        ("None of the rooms has a window.", False),
        ("No claim may be made after 30 days.", False),
        ("The hub runs in Lyon.\nNo verifiable claim.", False),
        ("", False),
    ],
)
def test_none_is_said_not_guessed(reply: str, none: bool) -> None:
    assert says_none(reply) is none


# ------------------------------------------------------------- VERIFY's units


def test_each_unit_has_its_own_kind_and_place() -> None:
    text = "Sure, happy to help! Ask the desk, since phones arrive within 14 days."
    model = by_sentence(
        {
            "Sure, happy to help!": "meta: Happy to help.",
            "Ask the desk, since phones arrive within 14 days.": (
                "instruction: Ask the desk.\nfact: Phones arrive within 14 days."
            ),
        }
    )
    found = extract_units(segment(text), model)
    assert [(a.kind, a.text) for a in found.atoms] == [
        (Kind.META_STATEMENT, "Happy to help."),
        (Kind.INSTRUCTION, "Ask the desk."),
        (Kind.FACT, "Phones arrive within 14 days."),
    ]
    assert [a.span.of(text) for a in found.atoms if a.span] == [a.original for a in found.atoms]
    assert (found.dropped, found.completed, found.failures) == (0, 0, {})


def test_a_unit_that_its_sentence_does_not_state_is_dropped_and_what_is_missing_added() -> None:
    reply = "fact: Phones arrive within 7 days.\nmeta: The team lead orders phones."
    found = extract_units(
        segment("The team lead orders phones, and they arrive within 14 days."),
        FakeChatModel(lambda _m: reply),
    )
    assert [(a.kind, a.text) for a in found.atoms] == [
        (Kind.META_STATEMENT, "The team lead orders phones."),
        (Kind.CLAIM, "they arrive within 14 days."),
    ]
    assert (found.dropped, found.completed) == (1, 1)


def test_all_units_can_be_made_understandable_on_their_own() -> None:
    units = segment(VENTI)
    atoms = extract_units(units, by_sentence({u.text: f"fact: {u.text}" for u in units})).atoms
    asked: list[str] = []

    def reword(messages: Sequence[Message]) -> str:
        asked.append(messages[-1].content.rsplit("Unit: ", 1)[1])
        return asked[-1].replace(" she ", " Carla Venti ")

    found = revise(atoms, units, FakeChatModel(reword), which="all")
    assert asked == [u.text for u in units]  # the first one, which needs nothing, too
    assert [a.text for a in found.atoms] == [
        "Carla Venti founded the firm in Turin.",
        "Born in 1931, Carla Venti never finished her doctorate.",
    ]


@pytest.mark.parametrize(
    ("atomizer", "reworded"), [("atoms", 1), ("factbench", 2), ("veriscore", 0)]
)
def test_the_setting_decides_how_the_answer_is_split_and_what_is_reworded(
    atomizer: AtomizerName, reworded: int
) -> None:
    text = VENTI.replace("the firm", "Northlight")  # only the second leans on the first
    starts = {"atoms": "", "factbench": "fact: ", "veriscore": ""}
    rewordings = []

    def reply(messages: Sequence[Message]) -> str:
        if "\nSentence: " in messages[-1].content:
            return starts[atomizer] + sentence_of(messages)
        rewordings.append(messages[-1].content)
        return ""

    checker = FactChecker(Settings(atomizer=atomizer), llm=FakeChatModel(reply))
    atoms, failures = checker.atoms(Answer(text, question="Who was she?"))
    assert [a.text for a in atoms] == [u.text for u in segment(text)]
    assert failures == {}
    assert len(rewordings) == reworded


# --------------------------------------------------------- VeriScore's claims


@pytest.mark.parametrize(
    ("claim", "believed"),
    [
        ("Carla Venti was born in 1931.", True),
        ("Carla Venti never finished her doctorate.", True),
        ("Carla Venti founded the firm in Turin.", False),  # another sentence's
        ("Carla Venti was born in 1932.", False),  # a number from nowhere
        ("Carla Venti was a chemist.", False),  # words from nowhere
        ("Carla Venti.", False),  # says nothing of its sentence
    ],
)
def test_a_claim_takes_names_from_the_window_and_the_rest_from_its_sentence(
    claim: str, believed: bool
) -> None:
    first, second = segment(VENTI)
    never = "Carla Venti never finished her doctorate."
    model = by_sentence({first.text: first.text, second.text: f"{never}\n{claim}"})
    found = extract_claims((first, second), model)
    texts = [a.text for a in found.atoms if a.original == second.text]
    assert texts == list(dict.fromkeys([never, claim] if believed else [never]))
    assert found.dropped == (not believed)


def test_a_sentence_without_a_verifiable_claim_is_skipped_not_dropped() -> None:
    (atom,) = extract_claims(segment("I love it."), FakeChatModel(lambda _m: "None.")).atoms
    assert (atom.text, atom.kind.check_worthy) == ("I love it.", False)


@pytest.mark.parametrize("reply", ["Berlin has bears.", "The hub runs in Frankfurt."])
def test_a_sentence_stays_whole_where_its_claims_are_not_believed(reply: str) -> None:
    sentence = "The hub does not run in Frankfurt."
    found = extract_claims(segment(sentence), FakeChatModel(lambda _m: reply))
    assert found.atoms[-1].text == sentence
    assert found.completed == 1


NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus"]


@pytest.mark.parametrize(
    ("question", "before"),
    [("Who is away?", ["Cleo", "Dan", "Eve"]), (None, ["Ann", "Cleo", "Dan", "Eve"])],
)
def test_the_first_sentence_of_a_long_paragraph_stands_in_for_a_question(
    question: str | None, before: list[str]
) -> None:
    model = FakeChatModel(sentence_of)
    text = " ".join(f"{name} takes a week off." for name in NAMES)
    extract_claims(segment(text), model, question=question)
    prompt = model.calls[5][-1].content
    assert f"Before: {' '.join(f'{name} takes a week off.' for name in before)}\n" in prompt
    assert "After: Gus takes a week off.\nSentence: Fay takes a week off." in prompt
    assert ("Question: Who is away?" in prompt) is bool(question)


# ------------------------------------------------------------------- for both


@both
@pytest.mark.parametrize("reply", ["", "...", "\n-\n"])
def test_a_reply_that_cannot_be_read_is_a_failure_not_an_empty_success(
    atomizer: Atomizer, reply: str
) -> None:
    found = atomizer(segment("The hub runs in Lyon."), FakeChatModel(lambda _m: reply))
    assert [a.text for a in found.atoms] == ["The hub runs in Lyon."]
    assert list(found.failures) == ["a1"]


@both
def test_a_sentence_that_does_not_fit_is_a_failure(atomizer: Atomizer) -> None:
    def fail(_messages: Sequence[Message]) -> str:
        raise ScoringError("does not fit")

    assert atomizer(segment("The hub runs."), FakeChatModel(fail)).failures == {
        "a1": "does not fit"
    }


@both
def test_what_the_form_settles_is_not_asked_and_only_what_is_chosen(atomizer: Atomizer) -> None:
    model = FakeChatModel(lambda m: f"fact: {sentence_of(m)}")
    text = "# Leave\n\nAnn is off. Bob is off."
    found = atomizer(segment(text), model, chosen=[0, 2])
    assert [(a.kind, a.text) for a in found.atoms] == [
        (Kind.META_STATEMENT, "Leave"),
        (Kind.FACT, "Bob is off."),
    ]
    assert len(model.calls) == 1


@both
@settings(deadline=None)
@given(reply=st.text(max_size=200))
def test_whatever_a_model_writes_no_sentence_is_lost(atomizer: Atomizer, reply: str) -> None:
    text = "The gateway serves 64 sensors. It never sleeps."
    found = atomizer(segment(text), FakeChatModel(lambda _m: reply))
    assert {a.original for a in found.atoms} == {
        "The gateway serves 64 sensors.",
        "It never sleeps.",
    }
    assert all(a.text.strip() for a in found.atoms)


@both
def test_a_real_model_splits_and_every_atom_is_tied_to_the_answer(
    atomizer: Atomizer, smollm: LlamaCppModel
) -> None:
    text = "## Leave\n\nEmployees get 27 days of leave and 5 days can be carried over. Is that all?"
    found = atomizer(segment(text), smollm, question="How much leave do I get?")
    for atom in found.atoms:
        assert atom.span is not None
        assert atom.span.of(text) == atom.original
    assert [a.kind for a in found.atoms if a.original == "Is that all?"] == [Kind.QUESTION]
