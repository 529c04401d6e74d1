"""One page over many reports, with a link to each; it has no script."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from factcheck_local.report.html.build import bars, environment, page_file, policy
from factcheck_local.report.html.claims import URGENCY
from factcheck_local.report.html.numbers import IN_TEXT, numbers


def to_overview(summary: dict[str, Any]) -> str:
    """The page.

    Args:
        summary: what ``to_summary`` gives; its files stand beside the page.
    """
    style = page_file("style.css")
    values = {
        "policy": policy(style),
        "style": Markup(style),
        "summary": summary,
        "number": numbers(summary, IN_TEXT),
        # A verdict has a column where some answer has it.
        "shown": [v for v in (*reversed(URGENCY), "skipped") if summary["counts"][v]],
        "bars": [bars(answer["counts"]) for answer in summary["answers"]],
        "all_bars": bars(summary["counts"]),
        # A name that looks like a scheme must not become one.
        "link": lambda name: f"./{quote(name)}",
    }
    return environment().get_template("overview.html.j2").render(values) + "\n"
