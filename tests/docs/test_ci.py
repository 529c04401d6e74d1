"""docs/ci.md and the pre-commit hooks: valid by their tools' schemas, and commands that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pre_commit.clientlib import load_config, load_manifest

from factcheck_local.cli.outcome import BAD_INPUT, BELOW, UNSCORED
from factcheck_local.report.render import FORMATS

from .pages import PAGES, ROOT, takes_its_options

PAGE = PAGES["docs/ci.md"]
HOOKS = ROOT / ".pre-commit-hooks.yaml"

ACTIONS, GITLAB, PRE_COMMIT = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def texts(value: Any) -> Iterator[str]:  # noqa: ANN401
    """Every text in some YAML."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def commands() -> list[list[str]]:
    """Arguments of every factcheck in the examples and the hooks, as a shell splits them."""
    lines = [
        line for y in (ACTIONS, GITLAB) for t in texts(yaml.safe_load(y)) for line in t.splitlines()
    ]
    found = [shlex.split(line)[1:] for line in lines if line.startswith("factcheck ")]
    hooks = {h["id"]: h for h in load_manifest(HOOKS)}
    used = yaml.safe_load(PRE_COMMIT)["repos"][0]["hooks"]
    for hook in [*hooks.values(), *(hooks[h["id"]] | h for h in used)]:
        program, *entry = shlex.split(hook["entry"])
        assert program == "factcheck"
        found.append([*entry, *hook["args"], "answers/a.md", "answers/b.md"])
    return found


def test_the_page_has_commands() -> None:
    assert len(commands()) == 5 + 4 + 2 + 1


@pytest.mark.parametrize("arguments", commands(), ids=shlex.join)
def test_commands_take_their_options(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    if ">>" in arguments:
        arguments = arguments[: arguments.index(">>")]
    assert takes_its_options(arguments)


@pytest.mark.parametrize(("schema", "text"), [("github-workflows", ACTIONS), ("gitlab-ci", GITLAB)])
def test_examples_are_valid(schema: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "ci.yml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", f"vendor.{schema}", str(tmp_path / "ci.yml")),
            *(["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_a_run_made_is_kept_when_a_finding_fails_the_job() -> None:
    steps = yaml.safe_load(ACTIONS)["jobs"]["factcheck"]["steps"]
    caches = [step for step in steps if "actions/cache" in step.get("uses", "")]
    restore, save = caches
    # The plain action saves nothing after a failure.
    assert [c["uses"].partition("@")[0] for c in caches] == [
        "actions/cache/restore",
        "actions/cache/save",
    ]
    assert save["if"] == "always()"
    assert save["with"].items() <= restore["with"].items()
    assert steps.index(restore) < steps.index(save)
    assert yaml.safe_load(GITLAB)["factcheck"]["cache"]["when"] == "always"


def test_pre_commit_takes_the_hooks(tmp_path: Path) -> None:
    """Its own validation, which refuses what it does not know."""
    assert [h["id"] for h in load_manifest(HOOKS)] == ["factcheck", "factcheck-system"]
    (tmp_path / "config.yaml").write_text(PRE_COMMIT, encoding="utf-8")
    (repo,) = load_config(tmp_path / "config.yaml")["repos"]
    assert {h["id"] for h in repo["hooks"]} <= {h["id"] for h in load_manifest(HOOKS)}


def test_codes_and_formats_are_on_the_page() -> None:
    for code in (BELOW, BAD_INPUT, UNSCORED):
        assert f"\n| {code} | " in PAGE
    named = set(re.findall(r"`([a-z-]+)`", PAGE))
    assert set(FORMATS) - {"fact-graph"} <= named
