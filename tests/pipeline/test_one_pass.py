"""Taking an answer apart in one pass: what is asked, what is believed, what a failure does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from factcheck_local.core.errors import ScoringError, TooLongError
from factcheck_local.core.types import Answer, Kind
from factcheck_local.models.contracts import Labelled, Message
from factcheck_local.pipeline.claims.atomize import Atomized, take_apart
from factcheck_local.pipeline.claims.atomize.asking import KINDS, MAX_TOKENS, WINDOW
from factcheck_local.pipeline.claims.atomize.checks import own_claims, pieces_left_out
from factcheck_local.pipeline.claims.atomize.lists import taken_apart
from factcheck_local.pipeline.claims.atomize.one_pass import founded, uncited
from factcheck_local.pipeline.claims.atomize.rows import cells_left_out
from factcheck_local.pipeline.claims.split import segment
from tests.models.helpers import FakeAdapted

TEXT = """Hello!

## Edge firmware 4.3

You have 24 hours to go back to 4.2. Rooms are warm, and nobody may use the lift.

```
reboot
```

Ask Joris first. Is that clear?
"""
ANSWER = Answer(TEXT, question="How long can an update of the Plover gateway be undone?")

CLAIMS = {
    "You have 24 hours to go back to 4.2.": "Edge firmware 4.3 of the Plover gateway can be taken "
    "back to 4.2 within 24 hours.",
    "Rooms are warm, and nobody may use the lift.": "The rooms are warm.\nNobody may use the lift.",
}


def part_of(text: str) -> str:
    return text.rsplit("Part: ", 1)[1]


def model(**others: str) -> FakeAdapted:
    """Replies with ``CLAIMS``, or what is given by a part's first word; others claim nothing."""

    def reply(messages: Sequence[Message]) -> str:
        part = part_of(messages[-1].content)
        return others.get(part.split()[0], CLAIMS.get(part, ""))

    def label(_messages: Sequence[Message], ending: str, labels: Sequence[str]) -> str:
        part = part_of(ending)
        if part in CLAIMS or part.split()[0] in others:
            return labels[0]
        return "greeting" if part == "Hello!" else "instruction"

    return FakeAdapted(reply, label)


def apart(llm: FakeAdapted, answer: Answer = ANSWER, whose: str | None = None) -> Atomized:
    return take_apart(answer, segment(answer.text), llm, whose=whose)


def test_kinds_and_claims_in_the_answer_s_order() -> None:
    llm = model()
    found = apart(llm)
    assert [(a.kind, a.text) for a in found.atoms] == [
        (Kind.GREETING, "Hello!"),
        (Kind.META_STATEMENT, "Edge firmware 4.3"),
        (Kind.FACT, CLAIMS["You have 24 hours to go back to 4.2."]),
        (Kind.FACT, "The rooms are warm."),
        (Kind.FACT, "Nobody may use the lift."),
        (Kind.DATA_FORMAT, "```\nreboot\n```"),
        (Kind.INSTRUCTION, "Ask Joris first."),
        (Kind.QUESTION, "Is that clear?"),
    ]
    assert (found.failures, found.dropped, found.completed) == ({}, 0, 0)
    for atom in found.atoms:
        assert atom.span is not None
        assert atom.span.of(TEXT) == atom.original


def test_the_answer_stands_in_front_once_and_the_part_behind_it() -> None:
    llm = model()
    apart(llm)
    prompt = llm.calls[0][-1].content
    assert prompt.startswith(f"Question: {ANSWER.question}\n\nAnswer:\n{TEXT}")
    assert prompt.endswith("Under: Edge firmware 4.3\nPart: You have 24 hours to go back to 4.2.")
    assert len({call[-1].content.rpartition("\nUnder: ")[0] for call in llm.calls}) == 1


@pytest.mark.parametrize(
    ("question", "whose", "asked"),
    [
        ("How long?", None, "How long?"),
        ("How long?", "Harbour Trust", "Harbour Trust: How long?"),
        (None, "Harbour Trust", "How does this work at Harbour Trust?"),
        ("", "Harbour Trust", "How does this work at Harbour Trust?"),
        ("How long at Harbour?", "Harbour Trust", "How long at Harbour?"),
        ("How long in Harbourton?", "Harbour Trust", "Harbour Trust: How long in Harbourton?"),
    ],
)
def test_the_question_names_whose_documents_the_answer_is_about(
    question: str | None, whose: str | None, asked: str
) -> None:
    llm = model()
    apart(llm, Answer(TEXT, question=question), whose)
    assert llm.calls[0][-1].content.startswith(f"Question: {asked}\n\nAnswer:\n{TEXT}")


def test_markers_of_a_correction_are_not_shown() -> None:
    llm = model()
    text = TEXT.replace("4.2.", "4.2 [contradicted by b.md:9].")
    apart(llm, Answer(text, question=ANSWER.question))
    assert llm.calls[0][-1].content.startswith(f"Question: {ANSWER.question}\n\nAnswer:\n{TEXT}")


@pytest.mark.parametrize(
    "claim",
    [
        "Edge firmware 4.3 can be taken back within 25 hours.",  # a number that stands nowhere
        "Edge firmware 4.3 cannot be taken back to 4.2 after 24 hours.",  # a denial
        "Joris is warm in the lift.",  # another part's
        "Penguins migrate through 24 hours of antarctic twilight.",  # other words
        "Edge firmware 4.3 has 24 hours. " * 20,
        "The 24 hours are the 24 hours.",  # of itself
    ],
)
def test_what_the_part_does_not_say_is_dropped_and_the_part_stays(claim: str) -> None:
    found = apart(model(You=claim))
    texts = [a.text for a in found.atoms]
    assert claim.strip() not in texts
    assert "You have 24 hours to go back to 4.2." in texts
    assert found.dropped == 1


def test_names_are_those_of_the_first_statement_and_of_the_section() -> None:
    text = (
        "Plover sells plans.\n\n**Login.** Codes come by Heron.\n\n**Data.** Logs are kept 30 days."
    )
    claims = {
        "Plover": "Plover sells plans of the Curlew API.",
        "Codes": "Codes of Plover come by Heron.",
        "Logs": "Logs of Plover are kept 30 days in Heron.",
    }
    found = apart(model(**claims), Answer(text))
    assert [a.text for a in found.atoms if a.kind is Kind.FACT] == [
        "Plover sells plans.",
        "Codes of Plover come by Heron.",
        "Logs of Plover are kept 30 days.",
    ]
    other = apart(model(**claims | {"Codes": "The archive is hosted in Ghent."}), Answer(text))
    assert (other.atoms[2].text, other.dropped) == ("Codes come by Heron.", 1)


def test_who_is_named_first_is_not_whose_rules_these_are_where_that_is_known() -> None:
    text = "Trips are booked in Heron.\n\n**Data.** Logs are kept 30 days."
    claims = {"Trips": "Trips are booked in Heron.", "Logs": "Logs at Heron are kept 30 days."}
    found = apart(model(**claims), Answer(text))
    assert found.atoms[-1].text == "Logs at Heron are kept 30 days."
    found = apart(model(**claims), Answer(text), "Plover")
    assert found.atoms[-1].text == "Logs are kept 30 days."
    found = apart(
        model(**claims | {"Logs": "Logs at Plover last 30 days."}), Answer(text), "Plover"
    )
    assert found.atoms[-1].text == "Logs at Plover last 30 days."


def test_what_a_unit_further_down_says_is_that_unit_s_claim() -> None:
    """Of what this one says the other claim has all."""
    text = "With a card you can spend 5,000 euros. It draws cash abroad, too."
    spend, cash = "A card can spend up to 5,000 euros.", "A card draws cash abroad."
    found = apart(model(With=f"{spend}\n{cash}", It=cash), Answer(text))
    assert [(a.original, a.text) for a in found.atoms] == [
        ("With a card you can spend 5,000 euros.", spend),
        ("It draws cash abroad, too.", cash),
    ]
    assert found.dropped == 1


@pytest.mark.parametrize(
    "claims",
    [
        ["A card draws cash abroad."],  # the only one
        ["Up to 5,000 euros can be spent.", "A card draws cash abroad."],  # says of what
        ["A card can spend 5,000 euros.", "A card draws a limit."],  # one word may be a turn
    ],
)
def test_a_claim_with_something_of_its_unit_alone_stays(claims: list[str]) -> None:
    unit, below = "With a card you can spend 5,000 euros.", "It draws cash abroad, too."
    assert own_claims(claims, unit, "", below) == claims


@pytest.mark.parametrize(
    ("written", "claim"),
    [
        ("You have **24 hours** to go *back* to 4.2.", "You have 24 hours to go back to 4.2."),
        ("You have `**24` hours to go back.", "You have `**24` hours to go back."),
        ("You have 24 * 24 * 24 hours to go back.", "You have 24 * 24 * 24 hours to go back."),
    ],
)
def test_a_claim_stresses_nothing(written: str, claim: str) -> None:
    found = apart(model(You=written))
    assert claim in [a.text for a in found.atoms]


def test_the_last_line_of_a_text_that_was_cut_is_no_claim() -> None:
    said = "Rooms are warm, and nobody may use the lift."
    for going_on in (" rooms" * MAX_TOKENS, ""):
        found = apart(model(Rooms=f"The rooms are warm.\nThe lift{going_on}"), Answer(said))
        assert [a.text for a in found.atoms] == [
            "The rooms are warm.",
            *([] if going_on else ["The lift"]),
            said,
        ]


def test_a_clause_that_is_left_out_is_added() -> None:
    found = apart(model(Rooms="The rooms are warm."))
    assert [a.text for a in found.atoms if a.original.startswith("Rooms")] == [
        "The rooms are warm.",
        "Rooms are warm, and nobody may use the lift.",
    ]
    assert found.completed == 1


QUIZ = Answer("The quiz has 12 questions, of which you must get 10 right.")


@pytest.mark.parametrize(
    ("piece", "added"),
    [
        ("Of the 12 questions of the quiz 10 must be right.", None),
        ("There are 12 questions in it.\nIn the quiz you must get 10 right.", None),
        ("The quiz must be right.", QUIZ.text),  # not what was left out
        ("The quiz takes 11 hours, and 10 are right.", QUIZ.text),  # made up
        ("", QUIZ.text),  # "claims nothing", though it has a number
    ],
)
def test_what_claims_leave_out_is_asked_for(piece: str, added: str | None) -> None:
    llm = model(The="The quiz has 12 questions.", **({"of": piece} if piece else {}))
    found = apart(llm, QUIZ)
    last = added or piece.splitlines()[-1]
    assert [a.text for a in found.atoms] == ["The quiz has 12 questions.", last]
    assert {a.original for a in found.atoms} == {QUIZ.text}
    assert found.completed == (added is not None)


def test_what_claims_leave_out_may_claim_nothing() -> None:
    filler = "Some really good news for all of our dear guests today"
    text = f"{filler}: the lift carries 630 kg."
    asked: list[str] = []

    def label(_messages: Sequence[Message], ending: str, labels: Sequence[str]) -> str:
        asked.append(part_of(ending))
        return "greeting" if asked[-1] == filler else labels[0]

    llm = FakeAdapted(lambda _: "The lift carries 630 kg.", label)
    found = apart(llm, Answer(text))
    assert asked == [text, filler]
    assert [a.text for a in found.atoms] == ["The lift carries 630 kg."]
    assert found.completed == 0
    said = apart(FakeAdapted(lambda _: "The lift carries 630 kg."), Answer(text))
    assert [a.text for a in said.atoms] == ["The lift carries 630 kg.", text], "it claims something"


def test_a_cell_that_is_left_out_is_asked_for_with_its_header() -> None:
    table = "| Plan | Price | Notice |\n|---|---|---|\n| Basic | 9 euros | 30 days |\n"
    asked = {"|": "Basic costs 9 euros.", "Basic,": "The notice of the Basic plan is 30 days."}
    assert [a.text for a in apart(model(**asked), Answer(table)).atoms][1:] == list(asked.values())
    del asked["Basic,"]  # then it claims nothing, as a model says; a cell is no filler
    colours = table.replace("30 days", "blue").replace("Notice", "Colour")
    assert [a.text for a in apart(model(**asked), Answer(colours)).atoms][1:] == [
        "Basic costs 9 euros.",
        "Basic, Colour: blue.",
    ]


def test_a_failure_on_what_was_left_out_adds_it_as_it_stands() -> None:
    class Once(FakeAdapted):
        def label_and_write(
            self,
            messages: Sequence[Message],
            endings: Sequence[str],
            *rest: Any,  # noqa: ANN401
            **options: Any,  # noqa: ANN401
        ) -> list[Labelled]:
            if any(part_of(ending).startswith("of which") for ending in endings):
                raise ScoringError("no room")
            return super().label_and_write(messages, endings, *rest, **options)

    plain = model(The="The quiz has 12 questions.")
    found = apart(Once(plain._reply, plain._label), QUIZ)
    assert [a.text for a in found.atoms] == ["The quiz has 12 questions.", QUIZ.text]
    assert found.failures == {}


@pytest.mark.parametrize(
    "citation",
    [
        "[2, 3]",
        "[1-4]",
        "[1, p. 7]",
        "[3, Art. 99(6)]",
        "[reef_2024.pdf, p. 4]",
        "[^1]",
        "[[1]](#ref-1)",
        "[1](https://a.example/c)",
        "[Source 1]",
        "(source 2)",
        "【4:0†lift.pdf】",
        "<sup>1</sup>",
    ],
)
def test_a_citation_is_no_number_that_a_claim_left_out(citation: str) -> None:
    said = f"The lift carries 630 kg {citation}."
    found = apart(model(The="The lift carries 630 kg."), Answer(said))
    assert [a.text for a in found.atoms] == ["The lift carries 630 kg."]
    assert found.atoms[0].original == said


def test_a_long_run_of_spaces_is_read_in_one_go() -> None:
    gap = " " * 200_000
    said = f"The fee{gap}is 9 euros [2]{gap}net"
    assert uncited(said) == said.replace(" [2]", "")
    assert pieces_left_out(["The fee is 9 euros."], f"The fee{gap}is 9 euros – 5 off") == ["5 off"]
    table = f"| Plan | Price |\n|---|---|\n| Basic |{gap}–{gap}|\n"
    assert founded("Basic has no price.", segment(table)[1], "", table)


def test_a_clause_without_a_subject_is_added_with_its_sentence() -> None:
    said = "The film opened in 1954, runs for 207 minutes and tells of a village that is raided."
    found = apart(model(The="The film opened in 1954."), Answer(said))
    assert [a.text for a in found.atoms] == ["The film opened in 1954.", said]


def test_a_name_with_a_relative_clause_is_no_clause() -> None:
    said = "It was fed by two rivers, the Amu and the Syr, which were diverted in the 1960s."
    found = apart(model(It="The lake was fed by the Amu."), Answer(said))
    assert [a.text for a in found.atoms] == ["The lake was fed by the Amu.", said]


def test_a_sentence_that_is_added_is_not_taken_apart() -> None:
    said = "Its rivers, of which there are 3, include the Amu Darya, the Syr Darya and the Ili."
    assert len(taken_apart(said)) == 3
    found = apart(model(Its="The rivers of the lake are named."), Answer(said))
    assert found.atoms[-1].text == said


def test_a_failure_is_no_verdict_and_no_loss() -> None:
    class Failing(FakeAdapted):
        def label_and_write(self, *_args: object, **_kwargs: object) -> list[Labelled]:
            raise ScoringError("no room")

    found = take_apart(ANSWER, segment(TEXT), Failing(lambda _: ""))
    asked = [s.text for s in segment(TEXT) if s.kind is None]
    assert [a.text for a in found.atoms if a.id in found.failures] == asked
    assert set(found.failures.values()) == {"no room"}


def test_what_does_not_fit_is_read_in_smaller_windows() -> None:
    """As a table of figures, of which each digit is a token."""
    text = "\n\n".join(f"Rule {i} has {i + 100} words." for i in range(200))

    class Small(FakeAdapted):
        def label_and_write(
            self,
            messages: Sequence[Message],
            *rest: Any,  # noqa: ANN401
            **options: Any,  # noqa: ANN401
        ) -> list[Labelled]:
            if len(messages[-1].content) > 1000:
                raise TooLongError("no room")
            return super().label_and_write(messages, *rest, **options)

    llm = Small(lambda messages: part_of(messages[-1].content))
    found = apart(llm, Answer(text))
    assert not found.failures
    assert [a.text for a in found.atoms] == text.split("\n\n")
    single = apart(Small(lambda _: ""), Answer("Rule 1 has 101 words, " * 100 + "and 3 more."))
    assert set(single.failures.values()) == {"no room"}


def test_progress_goes_on_within_what_is_asked_together() -> None:
    told: list[tuple[int, int]] = []
    take_apart(
        ANSWER, segment(TEXT), FakeAdapted(lambda _: ""), progress=lambda *at: told.append(at)
    )
    asked = sum(s.kind is None for s in segment(TEXT))
    assert told == [*((done, asked) for done in range(1, asked + 1)), (asked, asked)]


def test_of_a_long_answer_what_stands_around_is_shown() -> None:
    paragraphs = [f"Rule {i} has {i + 100} words. " + "It is long. " * 40 for i in range(30)]
    text = "\n\n".join(paragraphs)

    def reply(messages: Sequence[Message]) -> str:
        return part_of(messages[-1].content)

    llm = FakeAdapted(reply)
    found = apart(llm, Answer(text))
    assert not found.failures
    assert found.dropped == 0
    shown = {call[-1].content.rpartition("\n\nPart: ")[0] for call in llm.calls}
    assert 1 < len(shown) < len(text) / WINDOW + 2
    assert max(map(len, shown)) < 1.5 * WINDOW
    for call in llm.calls:
        above, _, part = call[-1].content.rpartition("\n\nPart: ")
        assert part in " ".join(above.split())


def test_only_the_chosen_are_asked_for() -> None:
    llm = model()
    places = [i for i, s in enumerate(segment(TEXT)) if s.text.startswith("Rooms")]
    found = take_apart(ANSWER, segment(TEXT), llm, chosen=places)
    assert [a.text for a in found.atoms] == ["The rooms are warm.", "Nobody may use the lift."]
    assert len(llm.calls) == 1


def test_the_kinds_begin_with_the_one_that_has_claims() -> None:
    assert next(iter(KINDS)) == "claim"
    assert [k for k, kind in KINDS.items() if kind.check_worthy] == ["claim"]


def test_a_heading_may_deny_what_a_part_names() -> None:
    text = "# Not covered\n\n- Apps such as Duolingo\n"
    claim = "Apps such as Duolingo are not covered."
    assert [a.text for a in apart(model(Apps=claim), Answer(text)).atoms][1:] == [claim]


def test_an_empty_cell_may_be_said_with_a_negation() -> None:
    text = "| | Basic | Plus |\n|---|---|---|\n| Glasses | – | 200 euros |\n"
    claim = "Basic does not pay for glasses."
    reply = f"{claim}\nPlus pays 200 euros for glasses."
    found = apart(model(**{"|": reply}), Answer(text))
    assert claim in [a.text for a in found.atoms]


def test_a_part_of_a_citation_alone_claims_nothing() -> None:
    found = apart(model(**{"[1,": ""}), Answer("It is due.\n\n- [1, p. 5]\n"))
    assert [(a.kind, a.text) for a in found.atoms][1:] == [(Kind.META_STATEMENT, "[1, p. 5]")]


def test_a_hyphen_that_does_not_break_is_a_hyphen() -> None:
    said = "Twenty\u2011five days are paid."
    found = apart(model(**{said.split()[0]: "25 days are paid."}), Answer(said))
    assert [a.text for a in found.atoms] == ["25 days are paid."]


def test_numbers_below_a_heading_are_in_its_unit() -> None:
    text = "| Year | Sales (hl) | Revenue (€m) |\n|---|---|---|\n| 2019 | 88,400 | 19.7 |\n"
    claims = ["Sales in 2019 were 88,400 hl.", "Revenue in 2019 was €19.7 million."]
    found = apart(model(**{"|": "\n".join(claims)}), Answer(text))
    assert [a.text for a in found.atoms][1:] == claims
    wrong = "Revenue in 2019 was €19.7 billion."
    found = apart(model(**{"|": f"{claims[0]}\n{wrong}"}), Answer(text))
    assert wrong not in [a.text for a in found.atoms]


def test_a_cell_that_is_left_out_is_added_with_its_header() -> None:
    head = "| Plan | Price | Notice |\n|---|---|---|\n"
    found = apart(
        model(**{"|": "Basic costs 9 euros."}), Answer(f"{head}| Basic | 9 euros | 30 days |\n")
    )
    assert [a.text for a in found.atoms][1:] == ["Basic costs 9 euros.", "Basic, Notice: 30 days."]
    assert found.completed == 1
    none = apart(model(**{"|": ""}), Answer(f"{head}| Basic | – | 30 days |\n"))
    assert [a.text for a in none.atoms][1:] == ["Basic, Notice: 30 days."]
    bare = apart(model(**{"|": ""}), Answer(f"{head}| Basic | | |\n"))
    assert [a.text for a in bare.atoms][1:] == ["| Basic | | |"]


def test_a_link_s_target_is_nothing_that_is_said() -> None:
    said = "The lift carries 630 kg ([lift rules](https://a.example/2024/lift-12))."
    found = apart(model(The="The lift carries 630 kg by the lift rules."), Answer(said))
    assert [a.text for a in found.atoms] == ["The lift carries 630 kg by the lift rules."]


def kept(said: str, claim: str, *, above: str = "", question: str | None = None) -> bool:
    """Whether a claim of the last part of an answer is believed."""
    text = f"{above}\n\n{said}" if above else said
    *_, part = segment(text)
    around = " ".join((question or "", *part.headings, text[: part.span.start]))
    return founded(claim, part, around, text)


@pytest.mark.parametrize("sign", ["\u274c", "\u2717", "x", "n/a", "0", "\u2013", ""])
def test_a_sign_for_no_may_be_said_with_a_negation(sign: str) -> None:
    table = f"| Feature | Basic | Pro |\n|---|---|---|\n| SSO | {sign} | yes |"
    assert kept(table, "The Basic feature set does not include SSO.")
    assert not kept(
        table.replace(f"| {sign} |", "| yes |"), "Basic does not have SSO as a feature."
    )


@pytest.mark.parametrize(
    ("said", "above", "claim"),
    [
        ("Cosmetic surgery", "## Exclusions", "Cosmetic surgery is not covered under exclusions."),
        ("Smoking is prohibited in the lift.", "", "Smoking in the lift is not allowed."),
        ("\u274c Remote work on Mondays", "", "Remote work on Mondays is not allowed."),
        ("Deposits are non-refundable.", "", "Deposits are not refundable."),
        ("- share a desk key", "**Guests must not:**", "Guests must not share a desk key."),
        ("- share a desk key", "**Guests may not**", "Guests may not share a desk key."),
        ("Desk keys", "**What is not lent**", "Desk keys are not lent."),
        ("  - desk keys", "- Not lent", "Desk keys are not lent."),
        ("- Lunch", "Leave these out of Tally:", "Lunch is not in Tally."),
        ("Close it, otherwise it stays locked.", "", "If it is not closed, it stays locked."),
        ("Unlike Care, Plus covers plug-ins.", "", "Care does not cover plug-ins."),
        ("Plus pays for care rather than a room.", "", "Plus does not pay for a room."),
        ("Neither of them pays.", "## Care, Plus", "Neither Care nor Plus pays."),
        ("Agents can skip the form.", "", "Agents do not need the form."),
    ],
)
def test_a_denial_in_other_words(said: str, above: str, claim: str) -> None:
    assert kept(said, claim, above=above)
    assert not kept(said, claim + " Not at all, never.", above=above)


def test_a_bare_yes_is_about_the_question() -> None:
    question = "Can contractors use the line?"
    assert kept("Yes.", "Contractors can use the line.", question=question)
    assert not kept("Yes.", "Contractors cannot use the line.", question=question)
    assert kept("No.", "Contractors cannot use the line.", question=question)
    assert not kept("Yes.", "Penguins migrate.", question=question)
    llm = model(**{"No.": "Contractors cannot use the line."})
    found = apart(llm, Answer("No.", question=question))
    assert [a.text for a in found.atoms] == ["Contractors cannot use the line."]


def test_a_number_counts_among_the_words_that_are_known() -> None:
    assert kept("Price: \u20ac6,450", "The Corvo 220 costs \u20ac6,450.", above="## Corvo 220")
    assert not kept("Price: \u20ac6,450", "Penguins cost \u20ac6,450.", above="## Corvo 220")


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("$5m", "$5 million"),
        ("$5bn", "5 billion dollars"),
        ("10k calls", "10,000 calls"),
        ("CHF 25'000", "CHF 25,000"),
        ("12,50 euros", "12.50 euros"),
        ("7.50%", "7.5%"),
        ("one day", "1 day"),
        ("zero euros", "0 euros"),
        ("a test until 31.12.2024", "a test until 31 December 2024"),
        ("a test on 2024-03-01", "a test on 1 March 2024"),
    ],
)
def test_a_number_may_be_written_otherwise(said: str, claim: str) -> None:
    found = apart(model(The=f"The lift has {claim}."), Answer(f"The lift has {said}."))
    assert [a.text for a in found.atoms] == [f"The lift has {claim}."]


def test_the_parts_of_a_version_are_no_numbers_of_a_date() -> None:
    assert not kept("The lift runs version 4.10.12.", "The lift runs version 4 of 10 December.")


def test_a_comma_between_thousands_is_no_decimal_one() -> None:
    assert kept("The grant is 12,50 euros.", "The grant is 12.5 euros.")
    assert not kept("The grant is 25,000 euros.", "The grant is 25 euros.")


def test_a_claim_may_write_the_number_of_a_cell_in_letters() -> None:
    head = "| Plan | Seats | Rooms |\n|---|---|---|\n"
    claims = ["Basic has one seat.", "Basic has 2 rooms."]
    found = apart(model(**{"|": "\n".join(claims)}), Answer(f"{head}| Basic | 1 | 2 |\n"))
    assert [a.text for a in found.atoms][1:] == claims


@pytest.mark.parametrize(
    ("row", "claims", "added"),
    [
        ("| SSO | \u274c | \u2705 |", ["The Pro plan includes SSO."], ["SSO, Basic: no."]),
        ("| SSO | no | Yes |", ["Pro has SSO.", "Basic lacks SSO."], []),
        ("| Ceres | 0 | 2 |", ["Ceres is no basic one.", "Ceres has 2 pros."], []),
        ("| Reply | 8 h | 2 h |", ["Basic: 8 hours.", "Pro: within 2 hours."], []),
        ("| Reply | 8 h | 2 h |", ["Basic: 8 hours."], ["Reply, Pro: 2 h."]),
    ],
)
def test_cells_that_claims_say_in_other_words(
    row: str, claims: list[str], added: list[str]
) -> None:
    assert cells_left_out(claims, row, "| Feature | Basic | Pro |") == added


def test_the_way_that_is_most_like_the_others_counts() -> None:
    part = "You have 24 hours to go back to 4.2."
    odd = "Joris has 24 hours to go back to 4.2."
    alike = "Users of Edge firmware 4.3 have 24 hours to go back to 4.2."
    llm = model(You=odd)
    llm.drawn = lambda m: [alike, alike] if part_of(m[-1].content) == part else []

    def atoms(draws: int) -> list[str]:
        found = take_apart(ANSWER, segment(TEXT), llm, draws=draws)
        return [a.text for a in found.atoms if part in a.original]

    assert atoms(0) == [odd]
    assert atoms(2) == [alike]
    # What is not believed of a way says nothing for or against it.
    llm.drawn = lambda _m: ["Users have 99 hours.", "Users have 99 hours."]
    assert atoms(2) == [odd]
