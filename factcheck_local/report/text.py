"""The assessment as a table for a terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from io import BytesIO, TextIOWrapper
from typing import Any

from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from factcheck_local.pipeline.settings import Settings
from factcheck_local.report.view import (
    NO_QUOTE,
    SIGNS,
    chosen,
    citations,
    doubted,
    headline,
    inferred,
    one_line,
    percent,
    promise,
    remarks,
    selection,
    timing,
    uncited,
)

_COLOURS = {
    "supported": "green",
    "contradicted": "red",
    "unsupported": "red",
    "conflicting": "magenta",
    "undecided": "cyan",
    "not_found": "yellow",
    "unscored": "bold red",
    "skipped": "dim",
}


#: Columns of a probability's bar, and of the narrowest table that has room for one.
BAR, ROOMY = 10, 100


def to_text(
    assessment: dict[str, Any],
    *,
    width: int,
    colour: bool,
    only: Collection[str] | None = None,
    encoding: str = "utf-8",
    titled: bool = False,
) -> str:
    """A table of the verdicts, each with the sentence that decides it.

    Args:
        assessment: what ``to_dict`` gives.
        width: columns of the terminal.
        colour: whether to write colour codes; the signs tell the verdicts apart
            without them.
        only: the verdicts to show; None for all.
        encoding: what the text will be written in. What it lacks becomes a question
            mark; the table's lines and bars are then ASCII, and there are no signs.
        titled: whether the answer's name stands above.
    """
    atoms = chosen(assessment, only)
    console, out = _console(width, encoding, colour=colour)
    if titled:
        console.print(one_line(assessment["answer"]["path"] or "an answer"), style="bold")
    table = _table([a for a in atoms if a["verdict"] != "skipped"], assessment, width, encoding)
    if table.row_count:
        console.print(table)
    skipped = [a for a in atoms if a["verdict"] == "skipped"]
    if skipped:
        console.print("not check-worthy, so not verified:", style="dim")
        for atom in skipped:
            console.print(f"  {one_line(atom['kind'])}: {one_line(atom['text'])}", style="dim")
    console.print(headline(assessment), style="bold")
    if only is not None:
        console.print(selection(assessment, only), style="dim")
    if said := promise(assessment):
        console.print(one_line(said))
    console.print(f"inference: {inferred(assessment)}; time: {timing(assessment)}", style="dim")
    for note in [*doubted(assessment), *assessment["notes"]]:
        console.print(f"note: {one_line(note)}", style="dim")
    console.print(made_with(assessment["run"]), style="dim")
    out.seek(0)
    return out.read()


def to_claim_lines(event: dict[str, Any], *, width: int, colour: bool, encoding: str) -> str:
    """A claim that was reached: a line on what is known of it so far, and one on where from.

    Args:
        event: what ``event_to_dict`` gives of a ``ClaimReached``.
        width: columns of the terminal; what does not fit is cut.
        colour: see ``to_text``.
        encoding: likewise.
    """
    console, out = _console(width, encoding, colour=colour)
    claim = event["claim"]
    cited = next(citations(event, claim), None)
    lines = Table.grid(padding=(0, 2, 0, 0), expand=True)
    lines.add_column(width=len("provisional"), no_wrap=True)
    lines.add_column(width=max(map(len, SIGNS)) + 2, no_wrap=True)
    lines.add_column(width=len(percent(1.0)), justify="right", no_wrap=True)
    lines.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    lines.add_row(
        Text("provisional", style="dim"),
        _verdict(claim["verdict"], encoding),
        percent(claim["probability"]),
        Text(one_line(claim["text"])),
    )
    if cited is not None:
        lines.add_row("", "", "", Text(one_line(cited.place), style="cyan"))
    console.print(lines)
    out.seek(0)
    return out.read()


def made_with(run: Mapping[str, Any]) -> str:
    """What a run was made with, on a line: version, models, index, settings that are no defaults.

    Args:
        run: of an assessment; its ``signature`` has every setting.
    """
    usual = Settings().as_dict()
    set_to = [f"{name}={v}" for name, v in run["settings"].items() if usual.get(name, v) != v]
    models = [f"{m['id']} {m['sha256'][:8]}" for m in run["models"]]
    index = run.get("index")
    # What a retriever searches has no digest.
    indexed = [f"index {index['digest'][:8] or index['store']}"] if index else []
    parts = [f"factcheck-local {run['version']}", *dict.fromkeys(models), *indexed]
    return one_line(f"made with: {', '.join(parts)}; settings: {', '.join(set_to) or 'defaults'}")


def _console(width: int, encoding: str, *, colour: bool) -> tuple[Console, TextIOWrapper]:
    """What writes with rich, and where it writes to."""
    out = TextIOWrapper(BytesIO(), encoding, errors="replace", newline="\n")
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
    return console, out


def _table(
    atoms: list[dict[str, Any]], assessment: dict[str, Any], width: int, encoding: str
) -> Table:
    """A row an atom; a bar beside its probability where there is room."""
    table = Table(show_lines=True, expand=True, header_style="bold")
    table.add_column("verdict", no_wrap=True)
    table.add_column("P", justify="right", no_wrap=True)
    if roomy := width >= ROOMY:
        table.add_column("", width=BAR)
    table.add_column("claim", ratio=2)
    table.add_column("what decides it", ratio=3)
    for atom in atoms:
        verdict, p = atom["verdict"], atom["probability"]
        table.add_row(
            _verdict(verdict, encoding),
            percent(p),
            *([_bar(p, _COLOURS[verdict])] if roomy else []),
            Text(one_line(atom["text"])),
            _evidence(assessment, atom),
        )
    return table


def _verdict(name: str, encoding: str) -> Text:
    """A verdict's words behind its sign."""
    words = f"{SIGNS[name]} " * _has_signs(encoding) + name.replace("_", " ")
    return Text(words, style=_COLOURS[name])


def _has_signs(encoding: str) -> bool:
    """Whether the verdicts' signs can be written."""
    try:
        "".join(SIGNS.values()).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _bar(probability: float | None, style: str) -> ProgressBar | str:
    """As long as the atom is probable; nothing without a probability."""
    if probability is None:
        return ""
    return ProgressBar(
        total=1.0,
        completed=probability,
        width=BAR,
        style="dim",
        complete_style=style,
        finished_style=style,
    )


def _evidence(assessment: dict[str, Any], atom: dict[str, Any]) -> Text:
    """The deciding piece of evidence, both sides of a conflict, or the reason."""
    if atom["verdict"] == "unscored":
        return Text(one_line(atom["reason"]))
    found = list(citations(assessment, atom))
    if not found:
        return Text(one_line(uncited(assessment, atom)), style="dim")
    shown = found if atom["verdict"] == "conflicting" else found[:1]
    text = Text()
    for i, citation in enumerate(shown):
        text.append("\n" if i else "")
        text.append(f"{one_line(citation.place)} ", style="cyan")
        said = f"{one_line(citation.relation)} {percent(citation.probability)}"
        text.append(f"({said}, source {citation.prior:g})\n", style="dim")
        text.append(f"“{one_line(citation.quote)}”" if citation.quote else NO_QUOTE)
    for sentence in remarks(assessment, atom):
        text.append(f"\n{one_line(sentence)}", style="dim")
    return text
