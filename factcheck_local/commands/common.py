"""Options and small helpers that several commands share."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from factcheck_local.errors import InputError, StoreError
from factcheck_local.indexer.store import STORE_NAME, Store, find_store
from factcheck_local.records import decode_answer, load_json
from factcheck_local.report import to_fact_graph, to_markdown, to_text

STDIN = "-"

#: Columns of a table that goes to a file or a pipe.
PLAIN_WIDTH = 120

store_option = click.option(
    "--store",
    "store_path",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"The store's folder; by default the nearest {STORE_NAME} from here upwards.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")


def valid_text(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Refuse an argument whose bytes are not UTF-8: no model can read it."""
    if value is not None and not value.isprintable():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise click.BadParameter("not valid UTF-8") from error
    return value


format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "fact-graph"]),
    default="text",
    show_default=True,
)
rerank_option = click.option(
    "--rerank",
    metavar="NAME",
    help="Reads the best passages again: encoder, or a model's name; nothing by default.",
)
output_option = click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write here."
)
question_option = click.option(
    "--question", callback=valid_text, help="The question that the answer replies to."
)


def open_store(path: Path | None) -> Store:
    """The store that the user named, or the nearest one.

    Raises:
        StoreError: if there is none.
    """
    return Store.open(path or find_store(Path.cwd()))


def store_to_write(path: Path | None) -> Path:
    """Where to index into: what the user named, the nearest store, or a new one here."""
    if path is not None:
        return path
    try:
        return find_store(Path.cwd())
    except StoreError:
        return Path.cwd() / STORE_NAME


def check_writable(output: Path | None) -> None:
    """Refuse an output that cannot be made, before hours are spent on it.

    Raises:
        InputError: if its folder is not there.
    """
    if output is not None and not output.parent.is_dir():
        raise InputError(f"{output}: cannot be written: no folder {output.parent}")


def read_input(name: str) -> tuple[bytes, str]:
    """The bytes of a file, or of stdin for ``-``, and what to call it.

    Raises:
        InputError: if it cannot be read.
    """
    if name == STDIN:
        return sys.stdin.buffer.read(), input_name(name)
    try:
        return Path(name).read_bytes(), name
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from error


def json_lines(name: str) -> Iterator[tuple[int, Any]]:
    """The JSON value of every line of a file, or of stdin for ``-``, with the line's number.

    Blank lines are passed over; numbers count from 1.

    Raises:
        InputError: if it cannot be read.
        RecordError: if a line is not JSON, naming it.
    """
    data, name = read_input(name)
    # Not splitlines: JSON allows other line separators inside its texts.
    for number, line in enumerate(decode_answer(data, name).split("\n"), start=1):
        if line.strip():
            yield number, load_json(line, name, number)


def input_name(name: str) -> str:
    """What to call an input in a message."""
    return "standard input" if name == STDIN else name


def write_json(value: object) -> None:
    """One indented JSON value to stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def stage_progress() -> Callable[[str, int, int], None]:
    """Shows on a terminal's stderr how far each stage is; silent elsewhere."""
    if not sys.stderr.isatty():
        return lambda _stage, _done, _all: None

    def show(stage: str, done: int, count: int) -> None:
        end = "\n" if done >= count else ""
        click.echo(f"\r\033[K{stage} {done}/{count}{end}", nl=False, err=True)

    return show


def settings_values(**given: Any) -> dict[str, Any]:  # noqa: ANN401
    """The options that the user gave, for ``Settings(**…)``."""
    return {name: value for name, value in given.items() if value is not None}


def write_report(assessment: dict[str, Any], form: str, output: Path | None) -> None:
    """An assessment in one of the formats of ``format_option``, to a file or stdout."""
    if form in ("json", "fact-graph"):
        value = assessment if form == "json" else to_fact_graph(assessment)
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    elif form == "markdown":
        text = to_markdown(assessment)
    else:
        to_terminal = output is None and sys.stdout.isatty()
        columns = shutil.get_terminal_size().columns if to_terminal else PLAIN_WIDTH
        text = to_text(
            assessment, width=columns, colour=to_terminal and "NO_COLOR" not in os.environ
        )
    if output is None:
        click.echo(text, nl=False)
        return
    write_text(output, text)


def write_text(output: Path, text: str) -> None:
    """Write a file and say so on stderr.

    Raises:
        InputError: if it cannot be written.
    """
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output}: cannot be written: {error.strerror}") from error
    click.echo(f"written to {output}", err=True)
