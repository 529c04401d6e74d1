"""One or several assessments as text in any of the formats."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from factcheck_local.core import plugins
from factcheck_local.core.errors import InputError
from factcheck_local.report.fact_graph import to_fact_graph
from factcheck_local.report.html import to_html
from factcheck_local.report.junit import FAILURES, to_junit
from factcheck_local.report.markdown import to_markdown
from factcheck_local.report.parquet import to_parquet
from factcheck_local.report.sarif import to_sarif
from factcheck_local.report.text import to_text

#: The formats by name, with the ending of a file's name.
FORMATS = {
    "text": ".txt",
    "json": ".json",
    "jsonl": ".jsonl",
    "markdown": ".md",
    "html": ".html",
    "sarif": ".sarif",
    "junit": ".xml",
    "fact-graph": ".graph.json",
    "parquet": ".parquet",
}

#: Those that other distributions add.
ADDED = tuple(name for name in plugins.plugin_names(plugins.REPORTS) if name not in FORMATS)
FORMATS |= {name: f".{name}" for name in ADDED}

#: Those in which several answers simply follow each other, as soon as each is there.
SERIAL = ("text", "markdown", "jsonl")

#: Those that are of one answer.
SINGLE = ("html", "fact-graph")

#: Those that may leave out verdicts.
SELECTIVE = ("text", "markdown")


@dataclass(frozen=True, slots=True)
class View:
    """How a report is shown.

    Attributes:
        width: columns of a table.
        colour: whether a table has colour codes.
        encoding: what a table will be written in.
        only: verdicts to show in text and Markdown; None for all.
        failing: verdicts that are failures in JUnit XML.
    """

    width: int = 120
    colour: bool = False
    encoding: str = "utf-8"
    only: Collection[str] | None = None
    failing: Collection[str] = FAILURES


def render(
    assessments: Sequence[dict[str, Any]], form: str, view: View, *, titled: bool = False
) -> str | bytes:
    """The assessments in one of ``FORMATS``; a text ends with a line end.

    Args:
        assessments: what ``to_dict`` gives for each; a single one for ``SINGLE``.
        form: the format's name.
        view: how it is shown.
        titled: whether the assessments are of several answers: a table then has the answer's
            name above it and a blank line below, and JSON is a list, however many there are.

    Raises:
        InputError: if a plugin's format cannot be loaded, or gives no text, or pyarrow is needed
            and not here.
    """
    if form == "parquet":
        return to_parquet(assessments)
    if form in ADDED:
        return _by_plugin(form, assessments)
    if form == "text":
        end = "\n" if titled else ""
        return "".join(
            to_text(
                a,
                width=view.width,
                colour=view.colour,
                only=view.only,
                encoding=view.encoding,
                titled=titled,
            )
            + end
            for a in assessments
        )
    if form == "markdown":
        end = "\n" if titled else ""
        return "".join(to_markdown(a, only=view.only) + end for a in assessments)
    if form == "jsonl":
        return "".join(
            json.dumps(a, ensure_ascii=False, allow_nan=False) + "\n" for a in assessments
        )
    if form == "sarif":
        return _json(to_sarif(assessments))
    if form == "junit":
        return to_junit(assessments, failing=view.failing)
    if form == "json":
        return _json(list(assessments) if titled or len(assessments) != 1 else assessments[0])
    (assessment,) = assessments
    return to_html(assessment) if form == "html" else _json(to_fact_graph(assessment))


def _by_plugin(form: str, assessments: Sequence[dict[str, Any]]) -> str:
    text = plugins.load_plugin(plugins.REPORTS, form)(assessments)
    if not isinstance(text, str):
        raise InputError(f"the plugin of format {form} gives {type(text).__name__}, expected str")
    return text if text.endswith("\n") else text + "\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
