"""The assessment as a table for a terminal."""

from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from factcheck_local.report.view import (
    SIGNS,
    citations,
    doubted,
    headline,
    one_line,
    percent,
    timing,
    turns_on,
)

_COLOURS = {
    "supported": "green",
    "contradicted": "red",
    "conflicting": "magenta",
    "not_found": "yellow",
    "unscored": "bold red",
    "skipped": "dim",
}


def to_text(assessment: dict[str, Any], *, width: int, colour: bool) -> str:
    """A table of the verdicts, each with the sentence that decides it.

    Args:
        assessment: what ``to_dict`` gives.
        width: columns of the terminal.
        colour: whether to write colour codes; the signs tell the verdicts apart
            without them.
    """
    table = Table(show_lines=True, expand=True, header_style="bold")
    table.add_column("verdict", no_wrap=True)
    table.add_column("P", justify="right", no_wrap=True)
    table.add_column("claim", ratio=2)
    table.add_column("what decides it", ratio=3)
    skipped = []
    for atom in assessment["atoms"]:
        verdict = atom["verdict"]
        if verdict == "skipped":
            skipped.append(atom)
            continue
        table.add_row(
            Text(f"{SIGNS[verdict]} {verdict.replace('_', ' ')}", style=_COLOURS[verdict]),
            percent(atom["probability"]),
            Text(one_line(atom["text"])),
            _evidence(assessment, atom),
        )
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    if table.row_count:
        console.print(table)
    if skipped:
        console.print("not check-worthy, so not verified:", style="dim")
        for atom in skipped:
            console.print(f"  {atom['kind']}: {one_line(atom['text'])}", style="dim")
    console.print(headline(assessment), style="bold")
    inference = assessment["inference"]
    console.print(f"inference: {inference['method']}; time: {timing(assessment)}", style="dim")
    for note in [*doubted(assessment), *assessment["notes"]]:
        console.print(f"note: {one_line(note)}", style="dim")
    console.print(f"signature: {assessment['run']['signature']}", style="dim")
    return out.getvalue()


def _evidence(assessment: dict[str, Any], atom: dict[str, Any]) -> Text:
    """The deciding piece of evidence, both sides of a conflict, or the reason."""
    if atom["verdict"] == "unscored":
        return Text(one_line(atom["reason"]))
    found = list(citations(assessment, atom))
    if not found:
        return Text("nothing in the documents relates to it", style="dim")
    shown = found if atom["verdict"] == "conflicting" else found[:1]
    text = Text()
    for i, citation in enumerate(shown):
        text.append("\n" if i else "")
        text.append(f"{one_line(citation.place)} ", style="cyan")
        text.append(
            f"({citation.relation} {percent(citation.probability)}, source {citation.prior:g})\n",
            style="dim",
        )
        text.append(f"“{one_line(citation.quote)}”")
    if sentence := turns_on(assessment, atom):
        text.append(f"\n{one_line(sentence)}", style="dim")
    return text
