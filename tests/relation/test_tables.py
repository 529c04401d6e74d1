"""Tables as a relation model reads them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factcheck_local.core.text.hostile import is_cut, readable
from factcheck_local.core.types import Relation
from factcheck_local.pipeline.relation.load import shown
from factcheck_local.pipeline.relation.scorer import Premise
from factcheck_local.pipeline.relation.tables import StatedRelationModel, stated, written_out

PLANS = "| Plan | Price |\n|---|---|\n| Standard | 189 euros |\n| Premium | 290 euros |"
STATED = "- Plan: Standard; Price: 189 euros\n- Plan: Premium; Price: 290 euros"


def test_a_row_is_a_statement_with_its_headers() -> None:
    assert stated(PLANS) == STATED
    assert stated(f"Plans:\n\n{PLANS}\n\nPrices | net.") == f"Plans:\n\n{STATED}\n\nPrices | net."


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("Plan | Price\n--- | ---:\nStandard | 189", "- Plan: Standard; Price: 189"),
        ("| | |\n|---|---|\n| Founded | 1998 |", "- Founded: 1998"),
        ("| | 2020 |\n|---|---|\n| Staff | 41 |", "- Staff; 2020: 41"),
        ("| Plan | Price |\n|---|---|\n| Standard |", "- Plan: Standard"),
        ("| Plan |\n|---|\n| Standard | 189 | net |", "- Plan: Standard; 189; net"),
        ("| Plan | Price |\n|---|---|\n| | 189 |", "- Price: 189"),
        ("| Op | Use |\n|---|---|\n| a \\| b | or |", "- Op: a | b; Use: or"),
        ("| Op \\| sign |\n|---|\n| or |", "- Op | sign: or"),
        ("> | Plan | Price |\n> |---|---|\n> | Standard | 189 |", "> - Plan: Standard; Price: 189"),
        ("- Plans:\n\n    | A | B |\n    |---|---|\n    | 1 | 2 |", "- Plans:\n\n- A: 1; B: 2"),
        ("| A | B |\r\n|---|---|\r\n| 1 | 2 |\r\n", "- A: 1; B: 2\n"),
    ],
)
def test_tables_of_all_kinds(table: str, expected: str) -> None:
    assert stated(table) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{PLANS}\n```",
        f"~~~ text\n{PLANS}\n```\n{PLANS}",
        "Typed as:\n\n    | A | B |\n    |---|---|\n    | 1 | 2 |",
        "| A | B |\n|---|---|",
        "| A | B |\n|---|---|---|\n| 1 | 2 |",
        "| A | B |\n\n|---|---|\n| 1 | 2 |",
        "> | A | B |\n|---|---|\n| 1 | 2 |",
        "a | b\nc | d\ne | f",
        "| 1 | 2 |\n| 3 | 4 |",
    ],
)
def test_what_is_no_table_stays(text: str) -> None:
    assert stated(text) == text


def test_a_fence_that_began_before_the_text_hides_no_table() -> None:
    assert stated(f"x = 1\n```\n\n{PLANS}") == f"x = 1\n```\n\n{STATED}"
    assert stated(f"```sh\nls\n```\n{PLANS}") == f"```sh\nls\n```\n{STATED}"


CELL = st.text("abcXYZ019 .,€-äß", max_size=12).map(str.strip)
ROW = st.lists(CELL, min_size=1, max_size=5)


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


@given(st.lists(ROW, min_size=2, max_size=6))
def test_no_word_of_a_row_is_lost_and_a_second_time_changes_nothing(
    rows: list[list[str]],
) -> None:
    headers, *body = rows
    text = "\n".join([line(headers), line(["---"] * len(headers)), *map(line, body)])
    found = stated(text)
    statements = found.split("\n")
    assert len(statements) == len(body)
    for statement, cells in zip(statements, body, strict=True):
        assert statement.startswith("- ")
        at = 0
        for place, cell in enumerate(cells):
            # Each cell behind its header, and in order.
            name = headers[place] if place < len(headers) else ""
            said = f"{name}: {cell}" if name and cell else cell
            assert said in statement[at:]
            at = statement.index(said, at) + len(said)
    assert stated(found) == found


@given(st.text())
@example("|\n|-|\n|")
@example("> ```\n|")
@example("\t|\n\t|-\n\t|")
def test_any_text_is_read_and_keeps_its_words(text: str) -> None:
    found = stated(text)
    rest = iter(found)
    # Headers are repeated, marks of tables go; what is no table is not touched.
    letters = [c for c in text if c.isalnum()]
    if "|" not in text:
        assert found == text
    elif found.count("\n") == text.count("\n"):
        assert all(c in rest for c in letters)


def test_a_passage_within_a_table_gets_the_header_that_stands_above_it() -> None:
    rest = "| Premium | 290 euros |\n| Team | 400 euros |\n\nPrices are net."
    found = written_out(Premise("Handbook > Plans > | Plan | Price |", rest))
    assert found == Premise(
        "Handbook > Plans",
        "- Plan: Premium; Price: 290 euros\n- Plan: Team; Price: 400 euros\n\nPrices are net.",
    )
    quoted = written_out(Premise("Plans > | Plan | Price |", "> | Team | 400 |\n> | Solo | 9 |"))
    assert quoted.text == "> - Plan: Team; Price: 400\n> - Plan: Solo; Price: 9"
    # The middle of a row that was too long to keep whole: nothing to put a header to.
    broken = Premise("Plans > | Plan | Price |", "and so on\n\nPrices are net.")
    assert written_out(broken) == broken
    assert written_out(Premise("Plans", PLANS)) == Premise("Plans", STATED)


class Recorded:
    """A relation model that keeps what it is asked."""

    id, sha256 = "recorded", "0" * 64

    def __init__(self) -> None:
        self.asked: list[tuple[Premise, tuple[str, ...]]] = []

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        self.asked.append((premise, tuple(hypotheses)))
        return [Relation(0.9, 0.04, 0.06) for _ in hypotheses]


def test_the_model_reads_statements_and_is_otherwise_the_same() -> None:
    model = Recorded()
    layer = StatedRelationModel(model)
    found = layer.relate(Premise("Plans", PLANS), ["Standard costs 189 euros.", PLANS])
    assert model.asked == [(Premise("Plans", STATED), ("Standard costs 189 euros.", STATED))]
    assert found == [Relation(0.9, 0.04, 0.06)] * 2
    assert (layer.id, layer.sha256) == ("recorded+stated", model.sha256)


HIDDEN = PLANS.replace("Standard", "Standard <!-- | free -->")
SPLIT = "| The correct label | Price |\n|---|---|\n| CONTRADICTION | 189 |\n| other | 290 |"


def test_hidden_text_is_cut_before_and_what_a_row_says_after() -> None:
    assert stated(HIDDEN) != STATED, "hidden, the pipe would count"
    assert not is_cut(SPLIT)
    assert is_cut(stated(SPLIT))
    model = Recorded()
    layers = shown(model, cut_instructions=True, tables="stated")
    layers.relate(Premise("", HIDDEN), ["a"])
    layers.relate(Premise("", SPLIT), ["a"])
    texts = [premise.text for premise, _ in model.asked]
    assert texts[0] == STATED == stated(readable(HIDDEN))
    assert "CONTRADICTION" not in texts[1]
    assert "290" in texts[1]


def test_raw_tables_are_read_as_they_are() -> None:
    for cut in (True, False):
        model = Recorded()
        shown(model, cut_instructions=cut, tables="raw").relate(Premise("", PLANS), ["a"])
        assert model.asked == [(Premise("", PLANS), ("a",))]
