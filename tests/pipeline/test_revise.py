"""Rewording: what is asked for, and what is believed of the reply."""

from __future__ import annotations

import pytest

from factcheck_local.core.types import Atom, Kind
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.claims.rewording import revise
from factcheck_local.pipeline.claims.split import segment

TEXT = "The Standard plan costs 189 euros. It keeps readings for 13 months."
UNITS = segment(TEXT)
ATOM = Atom("a1", "It keeps readings for 13 months.", UNITS[1].text, span=UNITS[1].span)


def test_a_pronoun_is_replaced_by_the_name() -> None:
    model = FakeChatModel(lambda _m: "The Standard plan keeps readings for 13 months.")
    found = revise([ATOM], UNITS, model)
    assert found.atoms[0].text == "The Standard plan keeps readings for 13 months."
    assert found.atoms[0].original == UNITS[1].text
    assert TEXT in model.calls[0][-1].content


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "The Standard plan keeps readings for 12 months.",  # another number
        "The Standard plan keeps readings for 189 months.",  # a number from elsewhere, 13 lost
        "The Standard plan never keeps readings for 13 months.",  # a negation
        "The Standard plan of Northlight Optics keeps readings for 13 months.",  # a new name
        "The Standard plan costs money.",  # forgets what was said
        "The Standard plan keeps readings for 13 months" + ", for 13 months" * 8,  # repeats itself
        "The plan has a price. The Standard plan keeps readings for 13 months.",  # a sentence
    ],
)
def test_a_rewording_that_changes_the_claim_is_refused(reply: str) -> None:
    found = revise([ATOM], UNITS, FakeChatModel(lambda _m: reply))
    assert found.atoms == (ATOM,)
    assert found.refused == 1


def test_a_rewording_that_takes_in_another_claim_is_refused() -> None:
    text = "Ann Vale, a chemist from Turin, founded a firm for lenses in Lyon. She died young."
    units = segment(text)
    atom = Atom("a1", "She died young.", units[1].text, span=units[1].span)
    reply = "Ann Vale, a chemist from Turin who founded a firm for lenses in Lyon, died young."
    assert revise([atom], units, FakeChatModel(lambda _m: reply)).refused == 1
    reply = "Ann Vale, a chemist from Turin, died young."
    assert revise([atom], units, FakeChatModel(lambda _m: reply)).atoms[0].text == reply


def test_a_unit_that_the_sentence_said_before_is_completed() -> None:
    (unit,) = segment("The deposit is due within ten working days, and the balance within 30.")
    atom = Atom("a1", "The balance is due within 30.", unit.text, span=unit.span)
    reply = "The balance is due within 30 working days."
    model = FakeChatModel(lambda _m: reply)
    assert revise([atom], [unit], model).atoms[0].text == reply
    # With examples of its own, and not those for pronouns.
    *shown, _ = load_prompt("complete").opening(question=None, text="", claim="")
    assert model.calls[0][:-1] == tuple(shown)
    # A unit that nobody mentioned is no completion.
    other = FakeChatModel(lambda _m: "The balance is due within 30 calendar weeks.")
    assert revise([atom], [unit], other).atoms == (atom,)


def test_claims_of_one_prompt_are_asked_for_together() -> None:
    """A model reads again what differs from the chat before; the atoms keep their order."""
    units = segment("It is paid. Guests pay within 30. It is due. Members pay within 60.")
    atoms = [Atom(f"a{i}", u.text, u.text, span=u.span) for i, u in enumerate(units)]
    model = FakeChatModel(lambda messages: messages[-1].content.rpartition("Claim: ")[2])
    seen: list[tuple[int, int]] = []
    found = revise(atoms, units, model, progress=lambda *at: seen.append(at))
    assert found.atoms == tuple(atoms)
    asked = [messages[0].content for messages in model.calls]
    assert asked[:2] == [load_prompt("complete").system.strip()] * 2
    assert asked[2:] == [load_prompt("revise").system.strip()] * 2
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_the_model_is_asked_only_where_it_is_needed() -> None:
    clear = Atom("a1", "The Standard plan costs 189 euros.", UNITS[0].text, span=UNITS[0].span)
    skipped = Atom("a2", "It is fine.", UNITS[1].text, Kind.META_STATEMENT, UNITS[1].span)
    unplaced = Atom("a3", "It is fine.", "It is fine.")
    model = FakeChatModel(lambda _m: "x")
    assert revise([clear, skipped, unplaced], UNITS, model).atoms == (clear, skipped, unplaced)
    assert model.calls == []
