"""An answer or a corpus in a language that the models do not read is named, wherever one looks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from factcheck_local.cli import verify as verify_module
from tests.test_language import ENGLISH, GERMAN, OTHERS

from .helpers import factcheck
from .worlds import fake, index, write


@pytest.fixture(autouse=True)
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Scripted models in an empty working directory."""
    fake(monkeypatch, verify_module)
    monkeypatch.chdir(tmp_path)


def test_an_answer_in_another_language_is_named() -> None:
    write(Path("docs"), leave=ENGLISH)
    index(Path("docs"), Path(".factcheck"))
    Path("antwort.md").write_text(GERMAN, encoding="utf-8")
    done = factcheck("verify", "antwort.md", "--format", "json", "--output", "run.json")
    said = "antwort.md: is in another language (German): the models read English"
    assert f"factcheck: {said}" in done.err.splitlines()
    run = json.loads(Path("run.json").read_text(encoding="utf-8"))
    assert run["run"]["answer"]["language"] == {"code": "de", "name": "German", "share": 1.0}
    note = "the answer is in another language (German): the models read English"
    assert run["notes"][0] == note
    for form in ("text", "markdown", "html"):
        shown = factcheck("report", "run.json", "--format", form).out
        assert "in another language" in shown, form


def test_an_english_answer_has_no_such_line_or_field() -> None:
    write(Path("docs"), leave=ENGLISH)
    index(Path("docs"), Path(".factcheck"))
    Path("answer.md").write_text(ENGLISH, encoding="utf-8")
    done = factcheck("verify", "answer.md", "--format", "json", "--output", "run.json")
    assert "language" not in done.err
    assert "language" not in Path("run.json").read_text(encoding="utf-8")


def test_passages_in_another_language_are_named_in_the_run() -> None:
    write(Path("docs"), leave=GERMAN, pay=OTHERS["fr"])
    index(Path("docs"), Path(".factcheck"))
    Path("answer.md").write_text(ENGLISH, encoding="utf-8")
    done = factcheck("verify", "answer.md", "--format", "json")
    (note,) = [n for n in json.loads(done.out)["notes"] if "language" in n]
    assert note.startswith("2 passages are in another language (")
    assert {"German", "French"} <= set(
        note.replace("(", " ").replace(")", " ").replace(",", "").split()
    )


def test_a_corpus_in_another_language_is_named() -> None:
    write(Path("docs"), urlaub=GERMAN, leave=ENGLISH)
    done = factcheck("index", "docs")
    assert done.err.splitlines() == [
        "factcheck: a source is in another language, and the models read English: urlaub.md"
    ]
    status = factcheck("status").out.splitlines()
    at = next(i for i, line in enumerate(status) if "urlaub.md" in line)
    assert status[at + 1].strip() == "in another language (German): the models read English"
    assert "1 of 2 sources in another language: the models read English" in status
    sources = json.loads(factcheck("status", "--json").out)["sources"]
    assert {s["source"]: s["note"] for s in sources} == {
        "leave.md": None,
        "urlaub.md": "in another language (German): the models read English",
    }
