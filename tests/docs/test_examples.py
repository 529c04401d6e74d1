"""The examples that do something are run, on real models: the README's first steps, docs/api.md."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from factcheck_local.cli import cli
from factcheck_local.pipeline import settings as all_settings

from .pages import ROOT, blocks, commands

pytestmark = pytest.mark.long

#: The default LLM is too large for a test; nothing else is not as a reader has it.
SMALL = "smollm2-135m"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with ``docs`` and ``answer.md``, as the examples assume."""
    (tmp_path / "docs").mkdir()
    for name in ("leave.md", "employment-terms.md"):
        shutil.copy(ROOT / "corpora/handbook/policies" / name, tmp_path / "docs" / name)
    (tmp_path / "answer.md").write_text(
        "Notice after probation is eight weeks.\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readmes_first_steps(desk: Path) -> None:
    _pull, index, prepare, verify = commands("README.md")[:4]
    runner = CliRunner()
    done = runner.invoke(cli, index)
    assert done.exit_code == 0, done.output
    done = runner.invoke(cli, [*prepare, "--llm", SMALL, "--relation", "llm"])
    assert done.exit_code == 0, done.output
    assert "passages read ahead" in done.stdout
    done = runner.invoke(cli, [*verify, "--llm", SMALL, "--relation", "encoder"])
    assert done.exit_code == 0, done.output
    assert "employment-terms.md:18" in done.stdout
    assert (desk / ".factcheck").is_dir()


@pytest.mark.usefixtures("desk")
def test_the_python_examples(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, in one namespace, as somebody would type them."""
    usual = all_settings.Settings

    def small(**chosen: Any) -> all_settings.Settings:  # noqa: ANN401
        return usual(**({"llm": SMALL, "relation": "encoder"} | chosen))

    monkeypatch.setattr(all_settings, "Settings", small)
    names: dict[str, Any] = {}
    for code in blocks("docs/api.md", "python"):
        exec(compile(code, "docs/api.md", "exec"), names)
    said = capsys.readouterr().out.splitlines()
    assert names["report"].failed == ()
    assert len(names["report"].indexed) == 2
    assert names["run"].assessment.atoms
    assert names["relation"].contradiction > names["relation"].entailment
    # ½ + prior (strength - ½), see docs/how-to-read-a-probability.md.
    assert float(said[-4]) == pytest.approx(0.5 + 0.98 * 0.44)
    assert said[-3] == "True network factcheck {"
    assert float(said[-2]) == 1.0
    assert "nothing here" in said[-1]


def test_the_reference_is_made_and_asks_for_nothing(tmp_path: Path) -> None:
    """Every room is in it, and no page of it loads anything from elsewhere."""
    command = [sys.executable, "-m", "pdoc", "--docformat", "google", "--no-show-source"]
    rooms = {p.parent.relative_to(ROOT) for p in ROOT.glob("factcheck_local/*/__init__.py")}
    modules = ["factcheck_local", *sorted(".".join(room.parts) for room in rooms)]
    modules.append("!factcheck_local.adapters.deepeval")  # as in the Makefile: not installed here
    subprocess.run(
        [*command, "--output-directory", str(tmp_path), *modules],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    made = {p.relative_to(tmp_path).with_suffix("") for p in tmp_path.rglob("*.html")}
    assert rooms | {Path("factcheck_local")} <= made
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"(?:src=|<link[^>]*href=|url\()[\"']?(?:https?:)?//", text) == [], page
