"""Links without their targets: what stays, what is none, and that odd text ends."""

from __future__ import annotations

import pytest

from factcheck_local.core.text.links import without_targets
from factcheck_local.pipeline.relation.tables import stated


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("See the [leave policy](/hr/leave.md).", "See the leave policy."),
        ('Ask [HR [Ghent]](https://hr.example/a_(b) "The desk") first.', "Ask HR [Ghent] first."),
        ("![Floor plan](plan.png) of Ghent", "Floor plan of Ghent"),
        ("[Rooms](<floor plan.pdf>)", "Rooms"),
        ("A section [](#top)", "A section "),
        ("[hr]: https://hr.example/desk 'HR'\nAsk [HR][hr].", "Ask [HR][hr]."),
        ("handlers[name](event)", "handlers[name](event)"),
        ("f(x)[0](y)", "f(x)[0](y)"),
        ("- [ ] (optional) a task", "- [ ] (optional) a task"),
        ("[open](https://a.example", "[open](https://a.example"),
        ("No link at all.", "No link at all."),
        ("", ""),
    ],
)
def test_words_stay_and_targets_go(text: str, left: str) -> None:
    assert without_targets(text) == left
    assert without_targets(left) == left


def test_the_relation_model_reads_tables_and_text_without_targets() -> None:
    table = "| Plan | Price |\n|---|---|\n| [Pro](/pro) | 189 euros |\n\nSee [terms](/terms)."
    assert stated(table) == "- Plan: Pro; Price: 189 euros\n\nSee terms."


@pytest.mark.parametrize(
    "text",
    ["[" * 50_000, "[a](" * 20_000, "[" * 20_000 + "](" * 20_000, "[a](" + "(" * 50_000],
    ids=["open", "begun", "both", "brackets"],
)
def test_unfinished_links_end(text: str) -> None:
    """A pattern that tries again and again would not."""
    assert without_targets(text) == text
