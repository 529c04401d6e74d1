"""Rows as statements: which row names the columns, and from where on."""

from __future__ import annotations

from itertools import count

import pytest

from factcheck_local.indexer.loaders import table
from factcheck_local.indexer.loaders.rows import Cell, Row, grid, statements

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
        # ... and so does one that names a column anew, maybe below a title, ...
        (
            [["Exports"], [], ["Land", "Ports"], ["Peru", "Callao"]],
            ["Exports", "Land; Ports", "Land: Peru; Ports: Callao"],
        ),
        # ... or one that the table above does not have.
        (
            [["Person", "Role", "Seat"], ["Anna", "CEO", "Rome"]],
            ["Person; Role; Seat", "Person: Anna; Role: CEO; Seat: Rome"],
        ),
        # What may be either is read by no header: it may be wrong.
        ([["Person", "Role"], ["Anna", "CEO"]], ["Person; Role", "Anna; CEO"]),
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
