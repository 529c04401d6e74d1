"""Tables as a relation model reads them: a row as a statement with its headers.

A small model that reads a Markdown table takes the cell of another row or column for the one a
claim is about. Written out ("Length of service: Up to 5 years; Notice: 2 months") each value
stands beside what it is the value of. Only the model reads that; passages and quotes stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

#: The line below a table's header: hyphens, each column's maybe with colons.
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")

_CELL_END = re.compile(r"(?<!\\)\|")


def stated(text: str) -> str:
    """The text with the rows of its Markdown tables as lines "header: value; …".

    A header stands once, in each of its rows; where the header row is empty, a row of two
    cells is a name and its value. Everything else stays as it is.
    """
    if "|" not in text:
        return text
    return "\n".join(_lines(text.split("\n")))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if not _begins_table(lines, at):
            yield lines[at]
            at += 1
            continue
        headers = _cells(lines[at])
        at += 2
        while at < len(lines) and "|" in lines[at] and lines[at].strip():
            yield _statement(headers, _cells(lines[at]))
            at += 1


def _begins_table(lines: Sequence[str], at: int) -> bool:
    """Whether a header, a rule of as many columns and a row stand here."""
    return (
        at + 2 < len(lines)
        and "|" in lines[at]
        and "|" in lines[at + 1]
        and _RULE.fullmatch(lines[at + 1]) is not None
        and len(_cells(lines[at])) == len(_cells(lines[at + 1]))
        and "|" in lines[at + 2]
    )


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(inner)]


def _statement(headers: Sequence[str], cells: Sequence[str]) -> str:
    if not any(headers) and len(cells) == 2 and all(cells):
        return f"- {cells[0]}: {cells[1]}"
    padded = [*headers, *[""] * (len(cells) - len(headers))]
    said = (f"{h}: {c}" if h else c for h, c in zip(padded, cells, strict=False) if c)
    return "- " + "; ".join(said)
