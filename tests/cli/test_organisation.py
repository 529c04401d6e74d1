"""Whose documents a store holds is said where a user looks, and can be said by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from factcheck_local.cli import verify as verify_module
from factcheck_local.core.types import Atom
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.work import Work

from .helpers import factcheck
from .worlds import fake, index, write

NOTE = "passages are read as documents of Harbour Trust"


@pytest.fixture(autouse=True)
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Scripted models in an empty working directory."""
    fake(monkeypatch, verify_module)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def told() -> None:
    write(
        Path("docs"),
        leave="# Leave\n\nUp to 5 unused days can be carried over.",
        travel="# Travel\n\nThis covers trips of employees of Harbour Trust.",
        welcome="# Welcome\n\nWelcome to Harbour Trust! The desk opens at nine.",
    )
    index(Path("docs"), Path(".factcheck"))
    Path("answer.md").write_text("Up to 5 unused days can be carried over.", encoding="utf-8")


def verified(*options: str) -> tuple[list[str], dict[str, str]]:
    """The notes of a run, and the titles of its passages by source."""
    run = json.loads(factcheck("verify", "answer.md", "--format", "json", *options).out)
    return run["notes"], {c["source"]: c["title"] for c in run["contexts"]}


@pytest.mark.usefixtures("told")
def test_it_is_in_the_status_and_in_every_report() -> None:
    assert "read as documents of Harbour Trust" in factcheck("status").out.splitlines()
    assert json.loads(factcheck("status", "--json").out)["organisations"] == ["Harbour Trust"]
    notes, titles = verified()
    assert NOTE in notes
    assert titles["leave.md"] == "Harbour Trust > Leave"
    factcheck("verify", "answer.md", "--format", "json", "--output", "run.json")
    for form in ("text", "markdown", "html"):
        assert NOTE in factcheck("report", "run.json", "--format", form).out, form


@pytest.mark.usefixtures("told")
def test_it_can_be_named_or_left_out() -> None:
    notes, titles = verified("--set", "organisation=Fen Courier")
    assert (notes, titles["leave.md"]) == ([], "Fen Courier > Leave")
    notes, titles = verified("--set", "organisation=none")
    assert (notes, titles["leave.md"]) == ([], "Leave")


@pytest.mark.usefixtures("told")
def test_sources_can_be_asked_for_by_it() -> None:
    _, titles = verified("--where", "organisation=Harbour Trust")
    assert titles == {f"{n.lower()}.md": f"Harbour Trust > {n}" for n in ("Travel", "Welcome")}


def test_where_nobody_tells_it_nothing_is_said() -> None:
    write(Path("docs"), leave="# Leave\n\nUp to 5 unused days can be carried over.")
    index(Path("docs"), Path(".factcheck"))
    Path("answer.md").write_text("Up to 5 unused days can be carried over.", encoding="utf-8")
    assert "documents of" not in factcheck("status").out
    assert json.loads(factcheck("status", "--json").out)["organisations"] == []
    assert verified() == ([], {"leave.md": "Leave"})


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(
    ("options", "whose"),
    [
        ((), None),
        (("--store", ".factcheck"), "Harbour Trust"),
        (("--store", ".factcheck", "--set", "organisation=none"), None),
        (("--set", "organisation=Fen Courier"), "Fen Courier"),
    ],
)
def test_claims_alone_are_those_of_an_organisation(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], whose: str | None
) -> None:
    asked: list[str | None] = []

    def heard(self: FactChecker, *_: object) -> tuple[tuple[Atom, ...], dict[str, str]]:
        asked.append(self._sources(Work(self._progress)).organisation)
        return (), {}

    monkeypatch.setattr(FactChecker, "atoms", heard)
    assert factcheck("atoms", "answer.md", "--json", *options).code == 0
    assert asked == [whose]
