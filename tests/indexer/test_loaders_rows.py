"""Rows as statements: which row names the columns, and from where on."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from factcheck_local.indexer.loaders import table
from factcheck_local.indexer.loaders.rows import Cell, Row, grid, statements

from .samples import read, workbook

Rows = list[list[str]]


def said(rows: Rows) -> list[str]:
    return [line for _, line in statements(map(Row, count(1), rows))]


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        # Names and values, some of them numbers, have no header.
        ([["Name", "Acme"], ["Founded", "1998"], ["Seat", "Berlin"]], None),
        ([["Name", "Acme"], ["Price", "from € 5"], ["Fee", "EUR 5"], ["Rate", "-5 %"]], None),
        # Two columns of which the second is of one kind have one.
        ([["Item", "Price"], ["Tea", "2.50"], ["Milk", "€ 3"], ["Water", "-"]], 0),
        ([["Item", "Price"], ["Tea", "n/a"], ["Milk", "1"]], 0),
        ([["Country", "Capital"], ["France", "Paris"], ["Italy", "Rome"]], 0),
        ([["Room", "Place"], ["A 1", "House 5"], ["A 2", "Yard"]], 0),
        ([["Term", "Meaning"], ["Fee", "What is paid"]], 0),
        # Of more columns each may be of several kinds.
        ([["Plan", "Fee", "Users"], ["Basic", "free", "5"], ["Pro", "5 EUR", "all"]], 0),
        # Signs, dates and repeated labels may name columns, ...
        ([["#", "Name", "Price"], ["1", "Bread", "5"]], 0),
        ([["Country", "GDP", "%"], ["France", "100", "12"]], 0),
        ([["Name", "Phone", "Phone"], ["Anna", "1", "2"]], 0),
        ([["Item", "2024-01-01", "2024-02"], ["Rent", "5", "6"]], 0),
        # ... but not above the same, or alone.
        ([["Anna", "2024-01-01", "2023-01-01"], ["Bob", "2022-05-01", "2021-01-01"]], None),
        ([["Anna", "1998", "2001"], ["Bob", "1997", "2002"]], None),
        ([["Anna", "yes", "yes"], ["Bob", "no", "yes"]], None),
        ([["-", "%"], ["a", "b"]], None),
        # A title may stand above, and the first row below may be apart.
        ([["Prices"], [], ["Item", "Price"], ["Tea", "2.5"]], 2),
        ([["Item", "Price"], [], ["Tea", "2.5"]], 0),
    ],
)
def test_the_header_is_guessed(rows: Rows, header: int | None) -> None:
    filled = [row for row in rows if any(row)]
    lines = said(rows)
    for row, line in zip(filled, lines, strict=True):
        names = rows[header] if header is not None and row in rows[header + 1 :] else []
        cells = [f"{names[at]}: {cell}" if names else cell for at, cell in enumerate(row)]
        assert line == "; ".join(cells)


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        # A row that is not like those below it begins another table, ...
        ([["Person", "Age"], ["Anna", "30"]], ["Person; Age", "Person: Anna; Age: 30"]),
        # ... and so does one that names a column anew, maybe below a title.
        (
            [["Exports"], [], ["Land", "Ports"], ["Peru", "Callao"]],
            ["Exports", "Land; Ports", "Land: Peru; Ports: Callao"],
        ),
        # What may be either is read by no header: it may be wrong.
        ([["Person", "Role"], ["Anna", "CEO"]], ["Person; Role", "Anna; CEO"]),
        (
            [["Peru", "Lima", "as said"], ["Chile", "Arica"]],
            ["Peru; Lima; as said", "Chile; Arica"],
        ),
        # Numbers and codes go on.
        (
            [["Peru", "30"], ["Chile", "40"]],
            ["Land: Peru; Capital: 30", "Land: Chile; Capital: 40"],
        ),
        ([["a1", "b1"], ["a2", "b2"]], ["Land: a1; Capital: b1", "Land: a2; Capital: b2"]),
    ],
)
def test_behind_an_empty_row_another_table_may_begin(rows: Rows, lines: list[str]) -> None:
    above = [["Land", "Capital"], ["France", "Paris"]]
    assert said([*above, [], *rows]) == [
        "Land; Capital",
        "Land: France; Capital: Paris",
        *lines,
    ]


@pytest.mark.parametrize(
    ("above", "rows", "lines"),
    [
        # What its own column says again is a value, so the rows go on.
        (
            [["Product", "Type", "Price"], ["Tea", "Drink", "2.50"]],
            [["Cake", "Food", "free"], ["Bread", "Food", "1.20"]],
            [
                "Product: Cake; Type: Food; Price: free",
                "Product: Bread; Type: Food; Price: 1.20",
            ],
        ),
        # No value, and words where the table has numbers, do not make a header.
        (
            [["Land", "Capital", "Ports"], ["France", "Paris", "n.a."]],
            [["Peru", "Lima", "-"], ["Chile", "Santiago", "30"]],
            ["Peru; Lima; -", "Chile; Santiago; 30"],
        ),
        (
            [["Plan", "Users", "Price"], ["Basic", "5", "2"]],
            [["Team", "unlimited", "on request"], ["Pro", "all", "9"]],
            ["Team; unlimited; on request", "Pro; all; 9"],
        ),
    ],
)
def test_data_behind_an_empty_row_is_no_header(above: Rows, rows: Rows, lines: list[str]) -> None:
    assert said([*above, [], *rows])[-2:] == lines


@pytest.mark.parametrize(
    "rows",
    [
        [["Plan", "Price"], ["Basic", "$5"], ["Pro", "$20"], ["Enterprise", "Contact us"]],
        [["Item", "Price"], ["Tea", "2.50"], ["Water", "free"]],
        [["Term", "Definition"], ["Fee", "What is paid"], ["Year", "365 days"]],
    ],
)
def test_a_sheet_of_two_columns_has_a_header(corpus: Path, rows: Rows) -> None:
    lines = [f"{rows[0][0]}: {name}; {rows[0][1]}: {value}" for name, value in rows[1:]]
    text = "\n".join(map(";".join, rows))
    assert table.load(text.encode(), "a.csv").text.split("\n")[1:] == lines
    assert read(corpus, "a.xlsx", workbook({"S": rows})).text.split("\n")[1:] == lines
    # Elsewhere they may be names and values.
    assert said(rows)[1:] == list(map("; ".join, rows[1:]))


def test_no_value_is_of_any_kind() -> None:
    rows = [["Item", "Price"], ["Tea", "n.a."], ["Milk", "N/A"], ["Bread", "1"]]
    assert said(rows)[1] == "Item: Tea; Price: n.a."


def test_a_header_does_not_stand_in_front_of_itself() -> None:
    rows = grid([head("Region", "GDP"), cells("Region", "9"), cells("North", "5")])
    assert [line for _, line in statements(rows)][1:] == ["Region; GDP: 9", "Region: North; GDP: 5"]


def test_a_repeated_header_is_no_row() -> None:
    rows = [["Land", "GDP"], ["France", "9"]]
    assert said([*rows, *rows]) == ["Land; GDP", "Land: France; GDP: 9"] * 2


def head(*texts: str, across: int = 1) -> list[Cell]:
    return [Cell(text, across=across, head=True) for text in texts]


def cells(*texts: str) -> list[Cell]:
    return [Cell(text) for text in texts]


def test_marked_rows_name_the_columns() -> None:
    rows = [
        [Cell("Land", down=2, head=True), *head("2023", "2024", across=2)],
        head("Q1", "Q2", "Q1", "Q2"),
        cells("Peru", "1", "2", "3", "4"),
        head("Europe", across=5),  # a title
        cells("France", "5", "6", "7", "8"),
        head("Total", "6", "8", "10", "12"),  # no names
        head("Person", "Age"),
        cells("Anna", "30"),
        head("Person", "Age"),  # with nothing below it
    ]
    assert [line for _, line in statements(grid(rows))] == [
        "Land; 2023; 2024",
        "Land; Q1; Q2; Q1; Q2",
        "Land: Peru; 2023 Q1: 1; 2023 Q2: 2; 2024 Q1: 3; 2024 Q2: 4",
        "Europe",
        "Land: France; 2023 Q1: 5; 2023 Q2: 6; 2024 Q1: 7; 2024 Q2: 8",
        "Land: Total; 2023 Q1: 6; 2023 Q2: 8; 2024 Q1: 10; 2024 Q2: 12",
        "Person; Age",
        "Person: Anna; Age: 30",
        "Person; Age",
    ]


@pytest.mark.parametrize(
    ("marked", "last"),
    [
        # A row of values that is marked does not name columns together with its header, ...
        ([head("Plan", "Fee"), head("Basic", "5 EUR")], "Basic: Pro; 5 EUR: 9 EUR"),
        # ... nor does a header of which a title parts it, ...
        (
            [head("Plan", "Fee"), head("Monthly", across=2), head("Term", "Price")],
            "Term: Pro; Price: 9 EUR",
        ),
        # ... but one of which a cell reaches over several rows or columns.
        (
            [[Cell("Plan", 2, head=True), *head("Fee")], head("a month")],
            "Plan: Pro; Fee a month: 9 EUR",
        ),
        (
            [[*head("Plan"), *head("Fee", across=2)], head("Name", "Net", "Gross")],
            "Plan Name: Pro; Fee Net: 9 EUR",
        ),
    ],
)
def test_headers_of_several_rows(marked: list[list[Cell]], last: str) -> None:
    *above, line = (line for _, line in statements(grid([*marked, cells("Pro", "9 EUR")])))
    assert line == last
    assert len(above) == len(marked)


def test_marked_rows_with_nothing_below_are_no_header() -> None:
    rows = [head("Land", "GDP"), cells("Peru", "9"), head("Person", "Age"), head("Team", "Size")]
    assert [line for _, line in statements(grid(rows))][2:] == ["Person; Age", "Team; Size"]


def test_marks_are_believed_before_guesses() -> None:
    rows = [["Name", "Acme"], ["Seat", "Berlin"]]
    marked = [[Cell(name, head=True), Cell(value)] for name, value in rows]
    assert [line for _, line in statements(grid(marked))] == ["Name; Acme", "Seat; Berlin"]
    titled = [head("About"), *(cells(*row) for row in rows)]  # a title is no mark
    assert [line for _, line in statements(grid(titled))][1:] == said(rows)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        # Equally often it is the delimiter that is no decimal comma.
        (
            "Product;Price, EUR\nBread;1,50\n",
            ["Product; Price, EUR", "Product: Bread; Price, EUR: 1,50"],
        ),
        ("Bread;1,50\nMilk;0,99\n", ["Bread; 1,50", "Milk; 0,99"]),
        # Quotes behind a space enclose a cell, if all of the table can be read like that.
        (
            'Name, Place, Phone\nAnna, "Main St 1, Berlin", 123\n',
            ["Name; Place; Phone", "Name: Anna; Place: Main St 1, Berlin; Phone: 123"],
        ),
        ('Size, Kind\n5, "so" called\n', ["Size; Kind", 'Size: 5; Kind: "so" called']),
    ],
)
def test_csv_as_it_is_found(text: str, lines: list[str]) -> None:
    assert table.load(text.encode(), "a.csv").text.split("\n") == lines
