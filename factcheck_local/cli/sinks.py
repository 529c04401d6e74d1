"""Where the reports of a verification go: a stream or file, or a folder for many answers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import click

from factcheck_local.cli.answers import answer_name, digest
from factcheck_local.cli.common import replace_file, write_report
from factcheck_local.cli.messages import tell
from factcheck_local.core.errors import InputError, RecordError
from factcheck_local.pipeline.claims.records import Record, decode_answer, load_json
from factcheck_local.report import SCHEMA
from factcheck_local.report.html import to_overview
from factcheck_local.report.many_answers import AnswerEntry, to_summary
from factcheck_local.report.render import FORMATS, SERIAL, SINGLE, View, render


class Sink(Protocol):
    """What takes the assessments as they are made."""

    def earlier(self, name: str, record: Record) -> dict[str, Any] | None:
        """The assessment of the same record by an earlier run, if a new one may only repeat it."""

    def add(self, number: int, name: str, record: Record, assessment: dict[str, Any]) -> None:
        """Take the assessment of an answer; ``number`` and ``name`` are distinct."""

    def finish(self, failed: list[tuple[str, str]]) -> None:
        """Write what is of all answers; ``failed`` are the others, with reasons."""


@dataclass
class Stream:
    """Reports one after the other, or merged into one document; to stdout or a file.

    Attributes:
        form: the format.
        view: how it is shown.
        output: the file; None for stdout.
        many: whether several answers are expected.
    """

    form: str
    view: View
    output: Path | None
    many: bool
    _held: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Refuse several answers in a format that is of one.

        Raises:
            click.UsageError: naming the format.
        """
        if self.many and self.form in SINGLE:
            raise click.UsageError(f"several answers as {self.form} need --output FOLDER")

    def earlier(self, name: str, record: Record) -> dict[str, Any] | None:  # noqa: ARG002
        """None: nothing is kept here."""
        return None

    def add(
        self,
        number: int,  # noqa: ARG002
        name: str,  # noqa: ARG002
        record: Record,  # noqa: ARG002
        assessment: dict[str, Any],
    ) -> None:
        """Write it at once where the format allows that."""
        if self.output is None and self.form in SERIAL:
            self._write([assessment])
        else:
            self._held.append(assessment)

    def finish(self, failed: list[tuple[str, str]]) -> None:  # noqa: ARG002
        """Write what was held back."""
        if self._held:
            self._write(self._held)

    def _write(self, assessments: list[dict[str, Any]]) -> None:
        write_report(assessments, self.form, self.output, self.view, titled=self.many)


@dataclass
class Folder:
    """A report an answer, its assessment as JSON, an overview; a later run goes on from there.

    Attributes:
        path: the folder; it is made.
        form: the format of the reports.
        view: how they are shown.
        again: whether everything is verified again.
        tells: whether each report is told.
        summary: of all answers, once that is finished.
    """

    path: Path
    form: str
    view: View
    again: bool = False
    tells: bool = True
    summary: dict[str, Any] = field(default_factory=dict)
    _entries: dict[int, AnswerEntry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the folder, before hours are spent on what goes there.

        Raises:
            InputError: if that cannot be done.
        """
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path}: is a file; several answers go into a folder")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be made: {error.strerror}") from error
        if not os.access(self.path, os.W_OK):
            raise InputError(f"{self.path}: cannot be written: no permission to write to it")

    def earlier(self, name: str, record: Record) -> dict[str, Any] | None:
        """What is kept under the name, if it is of the same answer; its run may still be another.

        Where a claim could not be scored, another attempt is worth its time.
        """
        found = None if self.again else self._kept(name)
        if found is None or found["input"] != digest(record):
            return None
        if found["summary"]["counts"]["unscored"] or "coverage" not in found["summary"]:
            # The latter is of a version that counted otherwise.
            return None
        return found

    def _kept(self, name: str) -> dict[str, Any] | None:
        path = self._place(name, "json")
        try:
            value = load_json(decode_answer(path.read_bytes(), str(path)), str(path))
        except (OSError, RecordError):
            # Not there, or cut off: it is made again.
            return None
        known = isinstance(value, dict) and value.get("schema") == SCHEMA and "input" in value
        return value if known else None

    def add(self, number: int, name: str, record: Record, assessment: dict[str, Any]) -> None:
        """Write the report and the assessment."""
        value = assessment | {"input": digest(record)}
        data = self._place(name, "json")
        replace_file(data, render([value], "json", self.view))
        report = self._place(name, self.form)
        if report != data:
            replace_file(report, render([value], self.form, self.view))
        if self.tells:
            tell(f"written to {report}")
        entry = AnswerEntry.of(answer_name(record), report.name, data.name, value)
        self._entries[number] = entry

    def finish(self, failed: list[tuple[str, str]]) -> None:
        """Write the overview as a page and as JSON; ``summary`` has it, too."""
        # In the order in which they were given, whichever was done first.
        entries = [entry for _, entry in sorted(self._entries.items())]
        self.summary = to_summary(entries, failed)
        data, page = self._overview
        text = json.dumps(self.summary, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        replace_file(data, text)
        replace_file(page, to_overview(self.summary))
        tell(f"written to {page}")

    def begin(self) -> None:
        """Do away with an earlier run's overview: however this one ends, it is not its own."""
        for path in self._overview:
            path.unlink(missing_ok=True)

    def targets(self, names: Iterable[str]) -> list[Path]:
        """The files that are written if these are the reports' names."""
        found = [self._place(name, form) for name in names for form in ("json", self.form)]
        return [*found, *self._overview]

    @property
    def _overview(self) -> tuple[Path, Path]:
        return self.path / "summary.json", self.path / "index.html"

    def _place(self, name: str, form: str) -> Path:
        return self.path / f"{name}{FORMATS[form]}"


def make_sink(form: str, view: View, output: str | None, *, many: bool, again: bool) -> Sink:
    """A folder where there are several answers, or where the output is or looks like one."""
    if output is None:
        return Stream(form, view, None, many)
    if not output:
        raise click.BadParameter("expected a file or a folder", param_hint="--output")
    folder = many or os.path.isdir(output) or output.endswith(("/", os.sep))
    if folder:
        return Folder(Path(output), form, view, again)
    return Stream(form, view, Path(output), many)
