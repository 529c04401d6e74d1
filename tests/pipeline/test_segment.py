"""Units of an answer: offsets first, then what they know of their surroundings."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.core.types import Kind
from factcheck_local.pipeline.claims.split import segment

MARKUP = st.sampled_from(
    ["# H\n", "\n\n", "- ", "1. ", "> ", "| a | b |\n|---|---|\n", "```\n", "**B.** ", ". ", "? "]
)
TEXTS = st.lists(st.one_of(MARKUP, st.text(max_size=12)), max_size=25).map("".join)


@given(TEXTS)
@example("\x1f")
@example("0\r0\r- ")
def test_every_unit_is_verbatim_and_none_overlap(text: str) -> None:
    at = 0
    for unit in segment(text):
        assert unit.span.of(text) == unit.text
        assert unit.text == unit.text.strip()
        assert unit.span.start >= at
        at = unit.span.end


def test_abbreviations_and_decimals_do_not_end_a_sentence() -> None:
    units = segment("Dr. Falk pays 3.5 euros. It is due on 5 Jan. 2024.")
    assert [u.text for u in units] == ["Dr. Falk pays 3.5 euros.", "It is due on 5 Jan. 2024."]


def test_list_items_carry_the_line_that_introduces_them() -> None:
    units = segment("# Rules\n\nIn short. The dates are:\n\n- One is May.\n- Two is June.\n\nEnd.")
    by_text = {u.text: u for u in units}
    assert by_text["One is May."].headings == ("Rules", "The dates are:")
    assert by_text["Two is June."].headings == ("Rules", "The dates are:")
    assert by_text["The dates are:"].kind is Kind.META_STATEMENT
    assert by_text["End."].headings == ("Rules",)


def test_a_long_line_that_introduces_a_list_may_state_something() -> None:
    said = "The plan is run by Plover, and Fen pays what you pay in, depending on your grade:"
    lead_in, item = segment(f"{said}\n\n- 4 % in grade 8")
    assert (lead_in.text, lead_in.kind) == (said, None)
    assert item.headings == (said,)
    for short in (
        "These are the people who may come in:",
        "A list of what the people at Fen Courier in Ely get:",
    ):
        assert segment(f"{short}\n\n- 4 % in grade 8")[0].kind is Kind.META_STATEMENT


def test_table_rows_carry_the_head_row() -> None:
    head, row = segment("| Plan | Price |\n|---|---|\n| Basic | 9 euros |\n")
    assert (head.kind, head.headings) == (Kind.META_STATEMENT, ())
    assert (row.kind, row.text) == (None, "| Basic | 9 euros |")
    assert row.headings == ("| Plan | Price |",)


def test_a_run_in_heading_is_a_heading() -> None:
    heading, rule = segment("**Passwords.** They have 14 characters.")
    assert (heading.text, heading.kind) == ("**Passwords.**", Kind.META_STATEMENT)
    assert (rule.text, rule.headings) == ("They have 14 characters.", ("Passwords",))


def test_form_alone_tells_questions_and_code() -> None:
    units = segment("Is it so?\n\n```py\nx = 1\n```\n")
    assert [u.kind for u in units] == [Kind.QUESTION, Kind.DATA_FORMAT]


def test_deeper_headings_replace_those_of_their_level() -> None:
    units = segment("# A\n\n## B\n\none.\n\n## C\n\ntwo.\n\n# D\n\nthree.")
    found = {u.text: u.headings for u in units if u.kind is None}
    assert found == {"one.": ("A", "B"), "two.": ("A", "C"), "three.": ("D",)}


def test_a_heading_that_states_something_is_verified() -> None:
    text = (
        "# Leave\n\n## The notice period is 6 months\n\none.\n\n"
        "## What is not covered\n\ntwo.\n\n## Who is who"
    )
    found = {u.text: u.kind for u in segment(text)}
    open_, heading = None, Kind.META_STATEMENT
    assert found == {
        "Leave": heading,
        "The notice period is 6 months": open_,
        "one.": open_,
        "What is not covered": heading,
        "two.": open_,
        "Who is who": heading,
    }
    below = next(u for u in segment(text) if u.text == "one.")
    assert below.headings == ("Leave", "The notice period is 6 months")


def test_two_lines_above_a_rule_are_no_heading_with_any_ending() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f"One{end}two{end}---{end}{end}Text."
        lines, said = segment(text)
        assert lines.text == f"One{end}two"
        assert lines.kind is None
        assert said.text == "Text."


def test_bold_words_alone_are_a_heading() -> None:
    text = "# A\n\n**B**\n\none.\n\n**1. C**\n\ntwo.\n\n## D\n\nthree."
    found = {u.text: u.headings for u in segment(text) if u.kind is None}
    assert found == {"one.": ("A", "B"), "two.": ("A", "1. C"), "three.": ("A", "D")}


def test_bold_words_alone_in_a_list_are_the_heading_of_the_list_below() -> None:
    text = "Plans:\n\n1. **Steady**\n   - pays 6 %\n2. **Flex**\n   - pays 8 %\n3. none"
    found = {u.text: u.headings for u in segment(text) if u.kind is None}
    assert found == {
        "pays 6 %": ("Plans:", "Steady"),
        "pays 8 %": ("Plans:", "Flex"),
        "none": ("Plans:",),
    }


def test_labelled_lines_are_units_of_their_own() -> None:
    text = "**Hours:** 8 to 18\n**People:** 84, of whom\n31 are new\n**Wi-Fi:** none"
    said = [(u.text, u.headings) for u in segment(text) if u.kind is None]
    assert said == [
        ("8 to 18", ("Hours",)),
        ("84, of whom\n31 are new", ("People",)),
        ("none", ("Wi-Fi",)),
    ]
    plain = [u.text for u in segment("Tool: Restic 0.16\nFull: Sundays\r\nKept: 14 dailies")]
    assert plain == ["Tool: Restic 0.16", "Full: Sundays", "Kept: 14 dailies"]


def test_running_text_with_a_colon_stays_together() -> None:
    text = "There is one rule, and\nMarta put it like this: never lend\na key."
    assert [u.text for u in segment(text)] == [text]


def test_a_short_first_line_is_the_heading_of_the_others() -> None:
    title, said = segment("Early shifts\nSupport shifts stay on Irish time.")
    assert (title.text, title.kind) == ("Early shifts", Kind.META_STATEMENT)
    assert (said.text, said.headings) == ("Support shifts stay on Irish time.", ("Early shifts",))
    for wrapped in (
        "The plan is\nthe best.",
        "It is due.\nPay it.",
        "A desk on the way to the\nBar.",
    ):
        assert segment(wrapped)[0].kind is None


def test_bold_words_on_a_line_of_their_own_run_into_the_next() -> None:
    heading, said = segment("**Pay**\nSix weeks in full.")
    assert (heading.text, heading.kind) == ("**Pay**", Kind.META_STATEMENT)
    assert (said.text, said.headings) == ("Six weeks in full.", ("Pay",))


def test_a_bold_question_in_front_of_its_answer_is_a_heading() -> None:
    heading, said = segment("**Twice or out of order?** Both.")
    assert (heading.kind, said.headings) == (Kind.META_STATEMENT, ("Twice or out of order?",))


def test_a_bold_sentence_is_a_sentence() -> None:
    units = segment("**See a doctor by day three.** The plant pays.")
    assert [(u.text, u.kind) for u in units] == [
        ("**See a doctor by day three.**", None),
        ("The plant pays.", None),
    ]


@pytest.mark.parametrize(
    "said",
    [
        "**30 days**",  # the answer itself
        "See below.\n\n**Porto**",
        "- **Free parking**\n- **A gym**\n- lunch",
        "**The notice period is eight weeks.**\n\nSo plan ahead.",
        "**See a doctor by day three.**\n\nSo plan ahead.",
        "**30 days**\nThe policy says so.",
        "Room 12\nIt is next to the lift.",
    ],
)
def test_what_may_be_a_claim_is_left_to_the_model(said: str) -> None:
    assert all(unit.kind is None for unit in segment(said))


def test_a_number_that_counts_a_heading_is_none_of_its_own() -> None:
    units = segment("**1. Scope**\n\nAll sites.\n\n**Stage 2: Proposal**\n\nIt is due.")
    assert [u.kind for u in units] == [Kind.META_STATEMENT, None, None, None]
    assert [u.headings for u in units if u.kind is None] == [
        ("1. Scope",),
        (),
        ("Stage 2: Proposal",),
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("**Yes, 25 days.** Full-time staff get it.", None),
        ("**Refunds are not possible.** Contact us.", None),
        ("**The limit is \u20ac500:** see below.", None),
        ("**Overview.** It is nice.", Kind.META_STATEMENT),
        ("**1828:** He was born.", Kind.META_STATEMENT),
        ("**KI-204.** It is mended.", Kind.META_STATEMENT),
        ("You get 25 days on these conditions:\n\n- one", None),
        ("The policy doesn't cover:\n\n- one", Kind.META_STATEMENT),
    ],
)
def test_what_stands_out_or_leads_in_may_be_the_answer(text: str, kind: Kind | None) -> None:
    assert segment(text)[0].kind is kind


def test_a_rule_below_a_paragraph_makes_no_heading_of_it() -> None:
    found = segment("You can cancel within 14 days.\nRefunds take 5 days.\n---\n\nMore.")
    assert [(u.text, u.kind, u.headings) for u in found] == [
        ("You can cancel within 14 days.", None, ()),
        ("Refunds take 5 days.", None, ()),
        ("More.", None, ()),
    ]


@pytest.mark.parametrize("depth", [22, 120])
def test_what_is_nested_deeply_is_said(depth: int) -> None:
    quoted = segment(">" * depth + " The fee is 9 euros.")
    assert [(u.text, u.kind) for u in quoted] == [("The fee is 9 euros.", None)]
    items = "\n".join(f"{'  ' * i}- Level {i} costs {i} euros." for i in range(depth))
    found = segment(f"{items}\n\nThe last is dear.")
    expected = [f"Level {i} costs {i} euros." for i in range(depth)]
    assert [u.text for u in found] == [*expected, "The last is dear."]


def test_an_empty_item_says_nothing() -> None:
    assert segment("1.\n2.\n> -\n>\n3.") == ()


def test_what_only_looks_like_the_address_of_a_link_is_said() -> None:
    text = "# Fees\n\n[Fee]: 9€\n[Notice]: 30-days\n[Contact]: hr@example.com 'by mail'"
    heading, *said = segment(text)
    assert [u.text for u in said] == text.split("\n")[2:]
    assert {(u.kind, u.headings) for u in said} == {(None, (heading.text,))}


@pytest.mark.parametrize(
    "address",
    [
        "https://example.com/fees 'The fees'",
        "<https://example.com>",
        "mailto:hr@example.com",
        "www.example.com",
        "docs/fees.md#net",
        "../fees",
        "#fees",
        "# (the fee is 9 euros)",
        "<> (the fee is 9 euros)",
    ],
)
def test_the_address_of_a_link_is_not_said(address: str) -> None:
    (said,) = segment(f"The fee is 9 euros [1].\n\n[1]: {address}\n")
    assert said.text == "The fee is 9 euros [1]."


def test_what_a_block_of_html_shows_is_said() -> None:
    text = (
        "<p>The fee is <b>5 euros</b>. It is due in May.</p>\n\n<!-- no fee -->\n\n"
        "<table><tr><td>Basic</td><td>9</td></tr>\n<tr><td>Pro</td><td>19</td></tr></table>\n"
        "Prices are net.\n\n<script>\nvar fee = 7;\n</script>\n"
    )
    found = segment(text)
    assert [u.text for u in found if u.kind is None] == [
        "The fee is <b>5 euros</b>.",
        "It is due in May.",
        "<td>Basic</td><td>9</td>",
        "<td>Pro</td><td>19</td>",
        "Prices are net.",
    ]
    assert {u.kind for u in found} == {None, Kind.DATA_FORMAT}
    assert all(u.span.of(text) == u.text for u in found)


def test_what_stands_above_a_list_without_a_stop_introduces_it() -> None:
    text = (
        "**You may not**\n\n- smoke\n\nWe close at 6.\n\n- Tea\n  - 2 euros\n- Soup. It is hot.\n"
        "  - 4 euros\n\n**What is free**\n\nWater is.\n"
    )
    found = {u.text: u.headings for u in segment(text)}
    assert found["smoke"] == ("You may not",)
    assert found["We close at 6."] == ()
    assert found["2 euros"] == ("Tea",)
    assert found["4 euros"] == ()
    assert found["Water is."] == ("What is free",)


def test_lines_above_a_rule_are_no_heading() -> None:
    text = "Guests get 25 towels\nStaff get 20\n---\nHouse rules\n---\nSmoking is free."
    found = segment(text)
    assert [(u.text, u.kind) for u in found] == [
        ("Guests get 25 towels", None),
        ("Staff get 20", None),
        ("House rules", Kind.META_STATEMENT),
        ("Smoking is free.", None),
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The fee is approx. 3.5% p.a. and is due on Jan. 5.", 1),
        ("Open Mon. to Fri. 8 a.m. to 5 p.m. Closed Sun.", 2),
        ("By Art. 5 para. 2 no. 3 data is erased after 30 days.", 1),
        ("We close at 5. Then 3 leave.", 2),
        ("It takes max. \u20ac5. It is new.", 2),
        ("One ends.\ntwo begins.", 2),
        ("the fee is 5 euros. it is due in may.", 2),
        ("Arabica has *C. canephora* for a parent.", 1),
        ("The lease ends on 31. December 2024. It is not renewed.", 2),
        ("Report by 31.12. of each year. Version 3.0. was the last.", 2),
        ("Wait 2 hrs. before use, then add 1 tbsp. of salt.", 1),
    ],
)
def test_an_abbreviation_ends_no_sentence(text: str, count: int) -> None:
    assert len(sentence_spans(text)) == count


@pytest.mark.parametrize("space", ["\xa0", "\u2003", "\u3000", "\x85", "\xa0\xa0"])
@pytest.mark.parametrize("before", ["See point I", "I", "x A"])
def test_a_wide_space_between_an_initial_and_its_full_stop(before: str, space: str) -> None:
    """The library takes the byte in front of the full stop for the initial, and panics."""
    text = f"{before}{space}. The next one follows\xa0here."
    spans = sentence_spans(text)
    assert [c for span in spans for c in span.of(text) if not c.isspace()] == [
        c for c in text if not c.isspace()
    ]
    assert spans[-1].end == len(text)
