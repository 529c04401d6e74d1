"""Markdown tables in a text, found by its lines: a header, a rule below it, rows.

What is found is what GitHub's Markdown takes for a table, with rows of too many or too few
cells, in block quotes and list items too; what stands in a code fence or an indented code
block is none. A text may be a passage, so it may begin in the middle of a list or a fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: What is in front of a line of a block quote or a list item.
_INDENT = re.compile(r"(?:[ \t]*>)*[ \t]*")

#: The line below a table's header: hyphens, each column's maybe with colons.
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")

_CELL_END = re.compile(r"(?<!\\)\|")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)")

#: Columns that make a line outside of a list one of code.
_CODE = 4

#: Characters of a header that stands above a passage; further columns go without.
_MAX_LEAD = 200

#: What parts the titles of a passage, see `Chunk.title`.
_BETWEEN = " > "


@dataclass(frozen=True, slots=True)
class Table:
    """A table among the lines of a text.

    Attributes:
        first: line of the header, from 0; the rule is the next one.
        end: line after the last row; there is at least one row.
        headers: the header's cells, without white space around them; some may be empty.
    """

    first: int
    end: int
    headers: tuple[str, ...]


def indent(line: str) -> str:
    """What stands in front of a line's own text: white space, marks of block quotes."""
    found = _INDENT.match(line)
    return found[0] if found else ""


def cells(line: str) -> tuple[str, ...]:
    """The cells of a header, rule or row; a pipe behind a backslash is text."""
    inner = line[len(indent(line)) :].strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return tuple(cell.strip().replace("\\|", "|") for cell in _CELL_END.split(inner))


def lead(headers: Sequence[str]) -> str:
    """A table's header on one line, for passages that begin further down in the table.

    Empty where the header says nothing.
    """
    line = "|"
    for header in headers:
        cell = " ".join(header.split()).replace("|", "\\|").replace(_BETWEEN, " ")
        if len(line) + len(cell) + 3 > _MAX_LEAD:
            break
        line += f" {cell} |"
    return line if any(cells(line)) else ""


def rule_below(header: str) -> str:
    """The rule for a header."""
    return "|" + "---|" * len(cells(header))


def split_lead(title: str) -> tuple[str, str]:
    """A passage's title without the header of a table at its end, and that header, if any."""
    rest, _, last = title.rpartition(_BETWEEN)
    if len(last) > 2 and last.startswith("| ") and last.endswith(" |"):
        return rest, last
    return title, ""


def tables(lines: Sequence[str]) -> Iterator[Table]:
    """The tables of a text, in order, none overlapping another; in linear time.

    Args:
        lines: of the text, with their line ends or without.
    """
    code = _fenced(lines)
    in_list = True  # as far as is known of the text above
    at = 0
    while at < len(lines):
        if at in code:
            at = code[at]
            continue
        own = lines[at][len(indent(lines[at])) :]
        if _ITEM.match(own):
            in_list = True
        elif own.strip() and not _columns(lines[at]):
            in_list = False
        end = at if _columns(lines[at]) >= _CODE and not in_list else _end(lines, at)
        if end > at:
            yield Table(at, end, cells(lines[at]))
        at = max(end, at + 1)


def _end(lines: Sequence[str], at: int) -> int:
    """The line after the table that begins here; ``at`` if none does."""
    depth = indent(lines[at]).count(">")
    end = at
    while end < len(lines) and _is_row(lines[end], depth):
        if end == at + 1 and not _is_rule(lines[end], len(cells(lines[at]))):
            return at
        end += 1
    return end if end > at + 2 else at


def _is_row(line: str, depth: int) -> bool:
    return "|" in line and indent(line).count(">") == depth


def _is_rule(line: str, columns: int) -> bool:
    own = line[len(indent(line)) :].strip()
    return _RULE.fullmatch(own) is not None and len(cells(line)) == columns


def _columns(line: str) -> int:
    """How far a line is indented, within its block quote."""
    return len(indent(line).rpartition(">")[2].expandtabs(_CODE))


def _fenced(lines: Sequence[str]) -> dict[int, int]:
    """The first line of each code fence, and the line after it.

    One that nothing closes goes to the end if it names a language; a bare one closes a
    fence that began before the text, and so is passed over.
    """
    marks = []
    for number, line in enumerate(lines):
        found = _FENCE.fullmatch(line[len(indent(line)) :].strip())
        if found:
            marks.append((number, found["mark"], found["info"].strip()))
    fences: dict[int, int] = {}
    after = 0
    for place, (number, mark, info) in enumerate(marks):
        if number < after:
            continue
        closing = (n for n, m, i in marks[place + 1 :] if m.startswith(mark) and not i)
        end = next(closing, len(lines) if info else None)
        if end is not None:
            after = fences[number] = end + 1
    return fences
