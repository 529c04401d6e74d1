"""The second verification: what is claimed by a new sentence, and what has to be supported."""

from __future__ import annotations

import pytest

from factcheck_local.core.types import Atom, Context, Span
from factcheck_local.correct import correct
from factcheck_local.correct.replace import Wrong
from factcheck_local.correct.units import Unit
from factcheck_local.correct.verification import substituted
from factcheck_local.models.fake import FakeEmbedder
from factcheck_local.pipeline.retrieval.search import retrieve_from_record

from .helpers import Writer, assessed, checker, rewrite

LOGS = "Server logs are kept for 180 days and security logs are kept for 365 days."
SERVER, SECURITY = "Server logs are kept for 180 days.", "Security logs are kept for 365 days."


def apart(sentence: str) -> str:
    return sentence.replace(" and s", ".\nS")


@pytest.mark.parametrize("verdict", ["not_found", "conflicting", "undecided"])
@pytest.mark.parametrize("kept", ["are kept for", "are kept"])
def test_a_value_borrowed_from_an_open_claim_is_no_open_claim(verdict: str, kept: str) -> None:
    """Verified claim by claim, and split anew where more than one run of words is another."""
    run = assessed(LOGS, (LOGS, SERVER, verdict), (LOGS, SECURITY, "contradicted"))
    new = LOGS.replace("365", "180").replace("are kept for", kept, 1)
    (edit,) = correct(run, checker(new, apart)).edits
    assert edit.action == "mark"
    assert edit.refused == (
        "the rewriting is not found itself: Security logs are kept for 180 days."
    )


def test_of_a_sentence_split_anew_one_claim_has_to_be_new_and_supported() -> None:
    run = assessed(LOGS, (LOGS, SERVER, "not_found"), (LOGS, SECURITY, "contradicted"))
    new = LOGS.replace("security logs are kept for 365", "they are kept, server logs, for 180")
    (edit,) = correct(run, checker(new, apart)).edits
    assert edit.refused == "the rewriting claims nothing else"


def test_the_old_claims_are_verified_with_what_was_changed_in_them() -> None:
    """A sentence split anew may lose the subject that headings gave to its claims."""
    text = "It lasts six months, and the notice period is eight weeks."
    first, second = "Probation in Kiel lasts six months.", "The notice period is eight weeks."
    run = assessed(
        text,
        (text, first, "contradicted"),
        (text, second, "supported"),
        passage="Probation in Kiel lasts 4 months.",
    )
    drifted = checker(text.replace("six", "four"), lambda _: "It lasts 900 months.")
    (edit,) = correct(run, drifted).edits
    assert (edit.action, edit.new) == ("replace", text.replace("six", "four"))
    assert [c["text"] for c in edit.checked] == ["Probation in Kiel lasts four months."]


@pytest.mark.parametrize(
    ("new", "claims", "expected"),
    [
        ("A is 5 and b is 2.", {"A is 1.": "contradicted", "B is 2.": "supported"}, ["A is 5."]),
        # Whatever has the words has to be verified again.
        ("A is 5 and b is 2.", {"A is 1.": "contradicted", "C 1": "not_found"}, ["A is 5.", "C 5"]),
        ("A is 5 and b is 2.", {"A is 1.": "contradicted", "C 1": "supported"}, ["A is 5.", "C 5"]),
        ("A is not 1 and b is 2.", {"A is 1.": "contradicted"}, None),
        ("A is 1 and b isn't 2.", {"Is 1 b?": "contradicted"}, None),
        # What is not known is split anew: no such words, twice, changed apart, never scored.
        ("A is 5 and b is 2.", {"A is one.": "contradicted"}, None),
        ("A is 5 and b is 2.", {"A is 1 of 1.": "contradicted"}, None),
        ("A is 5 and b is 6.", {"A is 1.": "contradicted"}, None),
        ("A is 5, which costs 3, and b is 2.", {"A is 1.": "contradicted"}, None),
        ("A is 5 and b is 2.", {"A is 1.": "contradicted", "B.": "unscored"}, None),
    ],
)  # fmt: skip
def test_which_claims_change_with_their_sentence(
    new: str, claims: dict[str, str], expected: list[str] | None
) -> None:
    old = "A is 1 and b is 2."
    rows = tuple({"text": text, "verdict": verdict} for text, verdict in claims.items())
    found = substituted(Unit(Span(0, len(old)), old, rows), new)
    assert (None if found is None else [text for _, text in found]) == expected


@pytest.mark.parametrize(
    ("old", "new", "first", "second"),
    [
        # Of the run of words a claim has a part, or all in another case or notation, or none.
        ("get 30 working days", "get 25 calendar days", "get 30 working days", "get 30 days"),
        ("get thirty days", "get 25 days", "get thirty days", "get 30 days"),
        ("get Working Days", "get days off", "get Working Days", "get working days"),
        ("may stay", "may not stay", "may stay", "can stay"),
    ],
)
def test_a_claim_that_says_what_changed_in_other_words_changes_too(
    old: str, new: str, first: str, second: str
) -> None:
    sentence = f"Managers and interns {old}."
    claims = (f"Managers {first}.", "contradicted"), (f"Interns {second}.", "supported")
    rows = tuple({"text": text, "verdict": verdict} for text, verdict in claims)
    assert substituted(Unit(Span(0, 1), sentence, rows), f"Managers and interns {new}.") is None
    skipped = rows[1] | {"verdict": "skipped"}
    assert substituted(Unit(Span(0, 1), sentence, (rows[0], skipped)), f"Managers {new}.") != []


def test_a_true_claim_is_not_made_false_by_what_another_one_becomes() -> None:
    text = "Managers and interns below 18 get 30 working days of leave."
    run = assessed(
        text,
        (text, "Managers get 30 working days of leave.", "contradicted"),
        (text, "Interns below 18 get 30 days of leave.", "supported"),
        passage="Managers get 25 calendar days of leave. Interns get 30 days of leave.",
    )
    new = text.replace("30 working", "25 calendar")

    def split(sentence: str) -> str:
        _, _, days = sentence.partition(" 18 ")
        return f"Managers {days}\nInterns below 18 {days}"

    (edit,) = correct(run, checker(new, split)).edits
    assert (edit.action, edit.refused) == (
        "mark",
        "the rewriting is contradicted itself: Interns below 18 get 25 calendar days of leave.",
    )


BOTH = "Server and security logs are kept for 365 days."


@pytest.mark.parametrize("kept", ["are kept for", "are now kept"])
def test_an_open_claim_that_comes_out_supported_is_not_marked(kept: str) -> None:
    """Verified claim by claim, and split anew where more than one run of words is another."""
    server, security = (f"{of} logs are kept for 365 days." for of in ("Server", "Security"))
    run = assessed(
        BOTH,
        (BOTH, server, "not_found"),
        (BOTH, security, "contradicted"),
        passage="Server and security logs are now kept for 180 days.",
    )
    new = BOTH.replace("365", "180").replace("are kept for", kept)

    def split(sentence: str) -> str:
        logs = sentence.removeprefix("Server and security ")
        return f"Server {logs}\nSecurity {logs}"

    (edit,) = correct(run, checker(new, split)).edits
    assert (edit.action, edit.new) == ("replace", new)


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("kept", ["are kept for", "are now kept"])
def test_an_open_claim_that_stays_open_is_marked(kept: str, *, lost: bool) -> None:
    """Even where the sentence is split anew and it is not found again."""
    text = "Security logs are kept for 365 days and the moon is cheese."
    moon = "The moon is cheese."
    run = assessed(
        text,
        (text, SECURITY, "contradicted"),
        (text, moon, "not_found"),
        passage="Security logs are now kept for 180 days.",
    )
    new = text.replace("365", "180").replace("are kept for", kept)

    def split(sentence: str) -> str:
        logs, _, _ = sentence.partition(" and the")
        return f"{logs}." if lost else f"{logs}.\n{moon}"

    (edit,) = correct(run, checker(new, split)).edits
    assert (edit.action, edit.new) == ("replace", new.replace(".", " [unverified]."))


def test_marks_do_not_hide_what_changed() -> None:
    old = "A is **1 `unit`** and b is 2."
    rows = ({"text": "A is 1 unit.", "verdict": "contradicted"},)
    new = old.replace("1 `unit`", "5 `parts`")
    found = substituted(Unit(Span(0, len(old)), old, rows), new)
    assert found == [(rows[0], "A is 5 parts.")]


def test_a_contradicted_claim_that_is_left_refuses_the_sentence() -> None:
    text = "Leave is 30 days and it expires in March."
    run = assessed(
        text,
        (text, "Leave is 30 days.", "contradicted"),
        (text, "Leave expires in March.", "contradicted"),
        passage="Leave is 25 days. It expires in April.",
    )
    model = checker("")
    model.llm = Writer(text.replace("30", "25"))
    (edit,) = correct(run, model).edits
    assert edit.refused == "the rewriting leaves what is wrong: Leave expires in March."
    assert edit.action == "mark"


def test_a_supported_claim_that_changes_too_has_to_stay_supported() -> None:
    text = "Kiel gives 30 days of leave to all."
    run = assessed(
        text,
        (text, "Kiel gives 30 days of leave.", "contradicted"),
        (text, "Pupils: 30", "supported"),
        passage="Kiel gives 25 days of leave to all.",
    )
    (edit,) = correct(run, checker(text.replace("30", "25"))).edits
    assert edit.refused == "the rewriting is not found itself: Pupils: 25"


def test_the_next_draft_is_tried_and_the_refused_ones_are_kept() -> None:
    text = "Annual leave in Kiel is 30 days."
    run = assessed(text, (text, text, "contradicted"), passage="Annual leave in Kiel is 25 days.")
    drafts = ["Annual leave in Kiel is 30 days or 25.", "Annual leave in Kiel is 25 days."]
    model = checker("")
    model.llm = Writer(text.replace("30", "40"), *drafts)
    (edit,) = correct(run, model).edits
    assert (edit.action, edit.new, edit.refused) == ("replace", drafts[1], None)
    (refused,) = edit.drafts
    assert refused.text == drafts[0]
    assert [c["verdict"] for c in refused.checked] == ["contradicted"]
    assert refused.reason == f"the rewriting is contradicted itself: {drafts[0]}"


def test_no_more_than_three_drafts_are_verified() -> None:
    text = "Annual leave in Kiel is 30 days."
    run = assessed(
        text, (text, text, "contradicted"), passage="Annual leave in Kiel is 25 days. Not 2 3 4 5."
    )
    model = checker("")
    model.llm = Writer(*(f"Annual leave in Kiel is 30 or {n} days." for n in range(2, 9)))
    (edit,) = correct(run, model).edits
    assert [draft.text for draft in edit.drafts] == [
        f"Annual leave in Kiel is 30 or {n} days." for n in (2, 3, 4)
    ]
    assert edit.refused == edit.drafts[0].reason


def test_a_draft_that_is_not_believed_is_kept_too() -> None:
    text = "Annual leave in Kiel is 30 days."
    run = assessed(text, (text, text, "contradicted"), passage="Leave is 25 days.")
    (edit,) = correct(run, checker(text.replace("30", "40"))).edits
    (draft,) = edit.drafts
    assert (draft.text, draft.reason) == (text.replace("30", "40"), edit.refused)
    assert draft.checked == ()


def test_whom_a_supported_claim_is_about_stays() -> None:
    text = "There is a breakfast with Maret Oskoline, our Chief Technology Officer."
    wrong = Wrong(
        "Maret Oskoline is the Chief Technology Officer.",
        "Maret Oskoline: Chief Executive. Davor Quillet: Chief Technology Officer.",
    )
    other = "There is a breakfast with Maret Oskoline."
    another, right = (
        text.replace("Maret Oskoline", "Davor Quillet"),
        text.replace("Technology Officer", "Executive"),
    )
    writer = Writer(another, right)
    assert rewrite(text, [wrong], writer, others=[other], supported=[other]) == right
    # What nothing bears out may have been said of somebody else.
    assert rewrite(text, [wrong], Writer(another), others=[other]) == another


def test_of_copies_of_a_passage_the_most_reliable_stands_for_all() -> None:
    copies = (
        Context("archive", "archive/leave.md", "Leave", "Leave is 25 days.", 0.35),
        Context("other", "pets.md", "Pets", "Pets may come.", 0.9),
        Context("policy", "policies/leave.md", "Leave", "Leave is 25 days.", 0.98),
    )
    atoms = [
        Atom(id_, "Leave is 25 days.", "Leave is 25 days.", context_ids=(id_,))
        for id_ in ("archive", "policy")
    ]
    found = retrieve_from_record(atoms, copies, FakeEmbedder())
    assert [(c.id, c.prior) for c in found.contexts] == [("policy", 0.98), ("other", 0.9)]
    assert found.by_atom == {"archive": ("policy",), "policy": ("policy",)}
