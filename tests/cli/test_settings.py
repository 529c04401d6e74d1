"""Settings on the command line: what --help shows, factcheck settings, completion."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from factcheck_local.cli import cli
from factcheck_local.cli import verify as verify_module
from factcheck_local.indexer.folder import STORE_NAME
from factcheck_local.indexer.parts import META
from factcheck_local.pipeline.settings import SETTINGS

from .helpers import factcheck, refused
from .worlds import fake


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_verify_shows_twelve_options_and_what_sets_the_rest() -> None:
    command = cli.get_command(click.Context(cli), "verify")
    assert command is not None
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    assert {o.opts[0] for o in options} - {"--set", "--preset"} == {
        *("--store", "--question", "--llm", "--relation", "-k", "--where", "--as"),
        *("--format", "--output", "--only", "--fail-under", "--fail-on"),
    }
    shown = factcheck("verify", "--help").out
    assert "--set NAME=VALUE" in shown.partition("Every other setting")[2]
    assert "--again " not in shown.partition("Options:")[2]


def test_settings_are_shown_with_where_they_come_from(desk: Path) -> None:
    (desk / "factcheck.toml").write_text("[verify]\nk = 5\n", encoding="utf-8-sig")
    done = factcheck("settings", "--set", "retrieval=dense", "--preset", "quick")
    assert done.code == 0
    lines = done.out.splitlines()
    assert f"k=5  ({Path.cwd() / 'factcheck.toml'}; default 3)" in lines
    assert "retrieval=dense  (--set; default fused)" in lines
    assert "relation=encoder  (preset quick; default encoder+llm)" in lines
    assert "strong=0.5  (default; default 0.5)" in lines
    rows = json.loads(factcheck("settings", "--format", "json").out)["settings"]
    assert [row["name"] for row in rows] == list(SETTINGS)
    assert next(row for row in rows if row["name"] == "k") == {
        "name": "k",
        "value": "5",
        "origin": str(Path.cwd() / "factcheck.toml"),
        "default": "3",
        "values": "a whole number from 1 to 1000",
        "effect": SETTINGS["k"].effect,
    }


@pytest.mark.usefixtures("desk")
def test_a_wrong_setting_is_one_line() -> None:
    assert refused("settings", "--set", "kk=3").startswith("--set: no setting 'kk' (try: k")
    idle = ("--set", "relation=llm", "--set", "budget=3")
    assert refused("settings", *idle).startswith("--set budget: has no effect")
    assert refused("settings", "--preset", "carefull").startswith("no preset 'carefull'")
    (Path.cwd() / "factcheck.toml").write_text("[verify]\nk = 0\n", encoding="utf-8")
    assert "factcheck.toml: verify.k: expected a whole number from 1 to 1000, got 0" in refused(
        "settings"
    )


def test_the_file_beside_the_store_counts_in_folders_below_without_the_store(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk / STORE_NAME).mkdir()
    (desk / STORE_NAME / META).touch()
    (desk / "factcheck.toml").write_text("[verify]\nk = 0\n")
    below = desk / "answers" / "may"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    (below / "a.md").write_text("Leave is 25 days.\n")
    own = {"output": "Leave is 25 days.", "contexts": [{"id": "c1", "text": "25 days of leave."}]}
    (below / "a.jsonl").write_text(json.dumps(own | {"atoms": []}))
    wrong = f"{desk / 'factcheck.toml'}: verify.k: expected a whole number from 1 to 1000, got 0"
    assert wrong in refused("atoms", "a.md")
    assert wrong in refused("verify", "a.jsonl")
    (below / "factcheck.toml").write_text("[verify]\nstrong = 7\n")
    assert f"{below / 'factcheck.toml'}: verify.strong" in refused("atoms", "a.md")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["verify", "a.md", "--set", "retr"], ["retrieval="]),
        (["verify", "a.md", "--set", "retrieval=f"], ["retrieval=fused"]),
        (["verify", "a.md", "--set", "quantities="], ["quantities=true", "quantities=false"]),
        (["verify", "a.md", "--relation", "enc"], ["encoder", "encoder+llm"]),
        (["verify", "a.md", "--preset", "c"], ["careful"]),
    ],
)
@pytest.mark.usefixtures("desk")
def test_completion(words: list[str], expected: list[str]) -> None:
    assert _completed(words) == expected
    assert "qwen2.5-coder-1.5b" in _completed(["verify", "a.md", "--llm", "q"])
    # Without a store no source is known, and that is no error.
    assert _completed(["verify", "a.md", "--where", "source=x"]) == []


def _completed(words: list[str]) -> list[str]:
    found = ShellComplete(cli, {}, "factcheck", "_FACTCHECK_COMPLETE")
    return [item.value for item in found.get_completions(words[:-1], words[-1])]


def test_what_an_answer_brings_is_not_searched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(monkeypatch, verify_module)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "factcheck.toml").write_text("[verify]\nk = 5\n")
    text = "Leave is 25 days."
    brought = {"output": text, "contexts": [{"id": "c1", "text": text}]}
    (tmp_path / "r.json").write_text(json.dumps(brought))
    assert factcheck("verify", "r.json").code == 0, "what a file sets is for other runs, too"
    for options, name in (
        (("-k", 2), "k"),
        (("--as", "hr"), "as_groups"),
        (("--where", "source=a.md"), "where"),
        (("--set", "retrieval=dense"), "--set retrieval"),
    ):
        said = refused("verify", "r.json", *options)
        assert said == f"{name}: has no effect, the answers bring their passages"
    (tmp_path / "r.json").write_text(json.dumps(brought | {"atoms": [{"id": "a1", "text": text}]}))
    said = refused("verify", "r.json", "--set", "atomizer=factbench")
    assert "atomizer: has no effect, the answers bring their claims" in said
    said = refused("atoms", "r.json", "--set", "strong=0.4")
    assert said == "--set strong: has no effect, nothing but claims is made"
