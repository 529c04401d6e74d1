"""Options and small helpers that several commands share."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from factcheck_local.cli.choosing import model_names, source_names
from factcheck_local.cli.messages import tell
from factcheck_local.core.errors import InputError
from factcheck_local.core.files import write_whole
from factcheck_local.core.types import Verdict
from factcheck_local.indexer.scope import Condition
from factcheck_local.pipeline.claims.records import decode_answer, load_json
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report.junit import FAILURES
from factcheck_local.report.render import FORMATS, SELECTIVE, View, render

STDIN = "-"

#: Columns of a table that goes to a file or a pipe.
PLAIN_WIDTH = 120


json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON to stdout.")


class Number(click.FloatRange):
    """A number in a range; ``nan``, which is below no bound and above none, is in none."""

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """See ``click.ParamType.convert``."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"expected a number, got {value}", param, ctx)
        return number


def valid_text(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Refuse an argument whose bytes are not UTF-8: no model can read it."""
    if value is not None and not value.isprintable():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise click.BadParameter("not valid UTF-8") from error
    return value


def _verdicts(
    known: Collection[str],
) -> Callable[[click.Context, click.Parameter, str | None], tuple[str, ...] | None]:
    """The verdicts of a comma-separated list, if all are known; None without one."""

    def check(
        _context: click.Context, _option: click.Parameter, value: str | None
    ) -> tuple[str, ...] | None:
        if value is None:
            return None
        names = tuple(name.strip().replace("-", "_") for name in value.split(","))
        if unknown := [name for name in names if name not in known]:
            raise click.BadParameter(f"expected {', '.join(known)}, got {unknown[0]!r}")
        return names

    return check


format_option = click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True
)
only_option = click.option(
    "--only",
    metavar="VERDICT,...",
    callback=_verdicts([v.value for v in Verdict]),
    help="Show only claims of these verdicts, as contradicted,not_found; in text and markdown.",
)
fail_on_option = click.option(
    "--fail-on",
    metavar="VERDICT,...",
    callback=_verdicts(FAILURES),
    help=f"Exit with 1 if a claim has one of these verdicts: {', '.join(FAILURES)}. "
    "In junit, what is a failure; there all of them by default.",
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


def _conditions(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Refuse what is no condition; None where there is none, so that settings stay as they are."""
    for value in values:
        Condition.parse(value)
    return values or None


def _groups(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """The groups of a comma-separated list."""
    if value is None:
        return None
    groups = tuple(dict.fromkeys(filter(None, (group.strip() for group in value.split(",")))))
    if not groups:
        raise click.BadParameter("expected at least one group")
    return groups


where_option = click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    callback=_conditions,
    shell_complete=source_names,
    help="Only sources of which this holds: source=policies/**, owner=Legal, date>=2024-01-01.",
)
as_option = click.option(
    "--as",
    "as_groups",
    metavar="GROUP,...",
    callback=_groups,
    help="Only what these groups may see; without it, everything.",
)


relation_option = click.option(
    "--relation",
    metavar="NAME",
    shell_complete=model_names("llm", "encoder", also=("llm", "encoder", "encoder+llm")),
    help="Relation model: llm, encoder, a model's name, or FAST+SLOW.",
)
llm_option = click.option(
    "--llm",
    metavar="NAME",
    shell_complete=model_names("llm"),
    help="Model that splits and rewords; it reads pairs, too, unless --relation leaves it out.",
)
k_option = click.option(
    "-k",
    type=click.IntRange(min=1),
    help=f"Passages retrieved for a claim; {Settings().k}.",
)


def check_writable(output: Path | None) -> None:
    """Refuse an output that cannot be made, before hours are spent on it.

    Raises:
        InputError: if its folder is not there or may not be written to, or it is one itself.
    """
    if output is None:
        return
    if output.is_dir():
        raise InputError(f"{output}: cannot be written: it is a folder")
    if not output.parent.is_dir():
        raise InputError(f"{output}: cannot be written: no folder {output.parent}")
    # A file is made beside the old one, and then takes its place; a pipe has no such.
    is_file = output.is_file() or not output.exists()
    written = output.resolve().parent if is_file else output
    if not os.access(written, os.W_OK):
        raise InputError(f"{output}: cannot be written: no permission to write to {written}")


def refuse_overwriting(targets: Iterable[Path], inputs: Iterable[str]) -> None:
    """Refuse to write over what is read; ``-`` is no file.

    Raises:
        InputError: naming the first that would be lost.
    """
    read = {_file_of(Path(name)) for name in inputs if name != STDIN}
    for target in targets:
        if (found := _file_of(target)) is not None and found in read:
            raise InputError(
                f"{target}: is read, and would be overwritten",
                hint="another file or folder",
            )


def _file_of(path: Path) -> tuple[int, int] | None:
    """What tells a file from all others, under whatever name; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


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
    write_utf8(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def write_utf8(text: str) -> None:
    """A text to stdout as it would stand in a file, whatever the terminal's encoding."""
    # A file's name need not be text.
    click.echo(text.encode("utf-8", "replace"), nl=False)


def settings_values(**given: Any) -> dict[str, Any]:  # noqa: ANN401
    """The options that the user gave, for ``Settings(**…)``."""
    return {name: value for name, value in given.items() if value is not None}


def make_view(
    form: str,
    output: Path | None,
    *,
    only: tuple[str, ...] | None = None,
    fail_on: tuple[str, ...] | None = None,
) -> View:
    """How reports are shown in a file, a pipe or on this terminal.

    Raises:
        click.UsageError: if verdicts are chosen where the format has all of them.
    """
    if only is not None and form not in SELECTIVE:
        raise click.UsageError(f"--only is for {' and '.join(SELECTIVE)}, not for {form}")
    to_terminal = output is None and sys.stdout.isatty()
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return View(
        width=shutil.get_terminal_size().columns if to_terminal else PLAIN_WIDTH,
        colour=to_terminal and not plain,
        encoding=sys.stdout.encoding if output is None else "utf-8",
        only=only,
        failing=fail_on or FAILURES,
    )


def write_report(
    assessments: Sequence[dict[str, Any]],
    form: str,
    output: Path | None,
    view: View,
    *,
    titled: bool = False,
) -> None:
    """Assessments in one of the formats of ``format_option``, to a file or stdout.

    A table to stdout is in the terminal's encoding, everything else in UTF-8.
    """
    text = render(assessments, form, view, titled=titled)
    if output is not None:
        write_text(output, text)
        return
    encoding = view.encoding if form == "text" else "utf-8"
    click.echo(text.encode(encoding, "replace") if isinstance(text, str) else text, nl=False)


def write_text(output: Path, text: str | bytes) -> None:
    """Write a file and say so on stderr; see ``replace_file``."""
    replace_file(output, text)
    tell(f"written to {output}")


def replace_file(path: Path, text: str | bytes) -> None:
    """Write a file, all of it or nothing: an interrupted run leaves none that is cut off.

    Raises:
        InputError: if it cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
