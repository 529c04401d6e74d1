"""CSV, TSV and JSON exports: rows and records with the lines that they stand in."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.core.errors import DocumentError
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.loaders import json_records, table

from .samples import JSON, JSON_LINES, outline, read


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_delimiter_is_found_out(corpus: Path, delimiter: str, line_end: str) -> None:
    lines = ["Name,Days,Note", "Ann,25,'so; so | it'", "Bob,26,", "", "Cid,27,last"]
    text = line_end.join(lines).replace(",", delimiter).replace("'", '"')
    document = read(corpus, "a.csv", text)
    assert [(block.line, said) for block, (_, said) in
            zip(document.blocks, outline(document), strict=True)] == [
        (1, "Name; Days; Note"),
        (2, "Name: Ann; Days: 25; Note: so; so | it"),
        (3, "Name: Bob; Days: 26"),
        (5, "Name: Cid; Days: 27; Note: last"),
    ]  # fmt: skip


def test_decimal_commas_are_no_delimiter(corpus: Path) -> None:
    text = "Item;Price;Rate\nTea;2,50;0,1\nMilk;1,20;0,2\n"
    assert outline(read(corpus, "a.csv", text))[1][1] == "Item: Tea; Price: 2,50; Rate: 0,1"


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "sep=|\na,x|b\n1|2\n"), ("a.tsv", "a,x\tb\n1\t2\n"), ("A.TSV", "a,x\tb\n1\t2\n")],
)
def test_the_delimiter_is_stated(corpus: Path, name: str, text: str) -> None:
    assert [said for _, said in outline(read(corpus, name, text))] == ["a,x; b", "a,x: 1; b: 2"]


def test_one_column_is_a_table_too(corpus: Path) -> None:
    texts = [said for _, said in outline(read(corpus, "a.csv", "Tea is hot\nMilk is not\n"))]
    assert texts == ["Tea is hot", "Milk is not"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('a,b\nc,"open\nd,e\n', "row at line 2 cannot be read: unexpected end of data"),
        ('a,b\nc,d\n"x"y,z\n', "row at line 3 cannot be read: "),
        ("a,b\nc," + "x" * 200_000, "row at line 2 cannot be read: field larger than"),
        (",,\n,,\n", "holds no text"),
    ],
)
def test_tables_that_cannot_be_read(corpus: Path, text: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=rf"^a\.csv: {reason}"):
        read(corpus, "a.csv", text)


CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8).map(str.strip)


@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=30))
@settings(deadline=None)
def test_no_cell_is_lost_and_every_row_has_its_line(rows: list[list[str]]) -> None:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter="\t", quoting=csv.QUOTE_ALL).writerows(rows)
    document = table.load(buffer.getvalue().encode(), "a.tsv")
    filled = {n: row for n, row in enumerate(rows, start=1) if any(row)}
    assert [block.line for block in document.blocks] == list(filled)
    for block, row in zip(document.blocks, filled.values(), strict=True):
        text = block.span.of(document.text)
        assert all(" ".join(cell.split()) in text for cell in row)


def test_records_of_json_lines(corpus: Path) -> None:
    document = read(corpus, "a.jsonl", JSON_LINES)
    assert [(*entry, block.line) for entry, block in
            zip(outline(document), document.blocks, strict=True)] == [
        (("Leave",), "Leave", 1),
        (("Leave",), "owner: People", 1),
        (("Leave",), "Staff get 25 days.", 1),
        (("Leave",), "- five\r- six", 1),
        ((), "pages: 3\rtags: a, b\rby.name: Ann", 3),
        ((), "They ask in writing.", 3),
    ]  # fmt: skip
    assert document.text.count("\n") == 2
    assert document.title == "a.jsonl"
    (first, *_) = chunk(document)
    assert (first.line, first.titles) == (1, ("a.jsonl",))


def test_records_of_a_list_have_their_lines(corpus: Path) -> None:
    document = read(corpus, "a.json", JSON)
    lines = {said: block.line for (_, said), block in
             zip(outline(document), document.blocks, strict=True)}  # fmt: skip
    assert lines == {
        "Leave": 2, "Staff get 25 days.": 2, "Carry": 4, "Five days.": 4, "They ask.": 4,
    }  # fmt: skip


def test_one_object_is_a_document_with_metadata(corpus: Path) -> None:
    page = {"title": "Leave", "Date": "2024-03-01", "reliability": 0.8, "text": "25 days."}
    document = read(corpus, "a.json", json.dumps(page, indent=1))
    assert document.title == "Leave"
    assert document.metadata == {"date": "2024-03-01", "reliability": 0.8}


def test_one_object_may_state_lists_of_texts(corpus: Path) -> None:
    page = {"text": "25 days.", "Access": ["hr", "board"], "version": 3, "owner": {"name": "x"}}
    document = read(corpus, "a.json", json.dumps(page | {"author": ["x", {}], "updated": []}))
    assert document.metadata == {"access": ["hr", "board"], "version": "3"}


def test_nothing_of_a_record_is_lost(corpus: Path) -> None:
    line = (
        '{"a": 1, "a": 2.50, "b": [[1, {"c": null}], {"d": [true, false]}], "body": {"e": 1e400}}'
    )
    (_, said) = outline(read(corpus, "a.jsonl", line))[0]
    assert said.split("\r") == ["a: 1", "a: 2.50", "b.1: 1", "b.2.d: true, false", "body.e: 1e400"]


def test_what_cannot_be_stored_is_replaced(corpus: Path) -> None:
    document = read(corpus, "a.json", '{"text": "a\\u0000b\\ud800c"}')
    assert document.text == "a\ufffdb\ufffdc"
    document.text.encode()


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.json", "[1, 2", "is not valid JSON, line 1: expected a comma"),
        ("a.json", '[\n{"a": 1},\n]', "is not valid JSON, line 3: Expecting value"),
        ("a.json", '{"a": 1}\n{"b": 2}', "is not valid JSON, line 2: text after the end"),
        ("a.json", '[\n{"a" 1}]', "is not valid JSON, line 2: Expecting ':' delimiter"),
        ("a.json", "[]", "holds no text"),
        ("a.json", '{"text": null}', "holds no text"),
        ("a.json", "[" * 100_000, "is nested too deeply"),
        ("a.json", '{"a":' * 100_000, "is nested too deeply"),
        ("a.jsonl", '{"a": 1}\n{"a": ', "is not valid JSON, line 2: "),
        ("a.jsonl", '{"a": 1} {"a": 2}', "is not valid JSON, line 1: more than one value"),
        ("a.jsonl", "text", "is not valid JSON, line 1: "),
    ],
)
def test_records_that_cannot_be_read(corpus: Path, name: str, text: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=rf"^{name}: {reason}"):
        read(corpus, name, text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)


@given(records=st.lists(VALUES, max_size=6), indent=st.sampled_from([None, 1]))
@settings(deadline=None)
def test_lines_of_any_records(records: list[object], indent: int | None) -> None:
    text = json.dumps(records, indent=indent)
    document = json_records.load(text.encode(), "a.json")
    position = 0
    first = document.blocks[0].line if document.blocks else 0
    for block in document.blocks:
        said = block.span.of(document.text)
        assert position <= block.span.start < block.span.end
        assert said == said.strip()
        assert "\n" not in said
        assert block.line == (first or 0) + document.text.count("\n", 0, block.span.start)
        position = block.span.end
