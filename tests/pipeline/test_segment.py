"""Units of an answer: offsets first, then what they know of their surroundings."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

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


def test_a_heading_over_two_lines_of_any_ending() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f"One{end}two{end}---{end}{end}Text."
        heading, said = segment(text)
        assert heading.text == f"One{end}two"
        assert heading.kind is Kind.META_STATEMENT
        assert said.text == "Text."
