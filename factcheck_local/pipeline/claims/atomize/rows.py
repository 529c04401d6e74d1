"""Rows of a table: what their claims leave out, cell by cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from factcheck_local.core.text.wording import (
    content_words,
    numbers,
    words_and_numbers,
)
from factcheck_local.indexer.tables import cells
from factcheck_local.pipeline.claims.atomize.checks import untold

#: Signs that deny, wherever they stand.
NO_SIGNS = "❌✗✘✖"

#: What a lone sign in a cell says.
_SIGNS = dict.fromkeys("✅✓✔☑", "yes") | dict.fromkeys(f"{NO_SIGNS}\u00d7", "no")


def is_row(text: str) -> bool:
    """Whether a unit of an answer is a row of a table."""
    return text.startswith("|")


def cells_left_out(
    kept: Sequence[str], row: str, head: str, also: Collection[str] = frozenset()
) -> list[str]:
    """The cells of a row that its claims do not take up, each with its name and its header.

    A row as it stands says nothing without its head: "| Basic | 9 euros | 30 days |" becomes
    "Basic, notice: 30 days.", if the price is claimed.

    Args:
        kept: claims of the row.
        row: as it stands in the answer; the first cell names it.
        head: the table's head row; empty for none.
        also: numbers that the claims say otherwise.
    """
    name, *values = cells(row)
    headers = [*cells(head)[1:], *[""] * len(values)]
    said = " ".join(kept)
    told = numbers(said) | frozenset(also)
    found = []
    for header, cell in zip(headers, values, strict=False):
        value = _SIGNS.get(cell.rstrip("\ufe0f"), cell)
        if value.lower() in ("yes", "no", "none", "n/a", "0"):
            # A claim says it of the header: "The Basic plan includes SSO", "Ceres has no moons".
            about = content_words(header) or content_words(name)
            missing = not any(about <= content_words(one) for one in kept)
        elif len(content_words(value)) < 2 and numbers(value):
            missing = not numbers(value) <= told  # a unit may be written otherwise: "8 h"
        else:
            missing = bool(words_and_numbers(value)) and bool(untold([value], said, also))
        if missing:
            named = ", ".join(part for part in (name, header) if part)
            found.append(f"{named}: {value.rstrip('.')}." if named else value)
    return found
