"""How much a command says: progress in a log, --quiet, --verbose, --log-file."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import click
import pytest

from factcheck_local.cli import messages
from factcheck_local.cli.models import _bytes_bar
from factcheck_local.cli.progress import (
    SECONDS,
    Lines,
    index_progress,
    many_progress,
    stage_progress,
)
from factcheck_local.indexer.sync import Step

from .helpers import factcheck, refused

GRAPH = {"nodes": [{"id": "a", "type": "atom", "probability": 0.5}], "edges": []}


def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    times = [0.0, 0.0, 9.0, 10.0, 15.0, 20.0, 20.0, 29.0]
    lines = Lines(10, clock=iter(times).__next__)
    for done in (0, 9, 20, 30, 40):
        lines("relate", done, 100)
    for done in (1, 2):
        lines("quote", done, 100)
    assert capsys.readouterr().err.splitlines() == [
        "relate 20/100, 2 per second, 40 s left",
        "relate 40/100, 2 per second, 30 s left",
    ]


@pytest.mark.parametrize("quiet", [False, True])
def test_a_download_is_told_in_a_log_unless_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, quiet: bool
) -> None:
    monkeypatch.setenv(SECONDS, "1e-9")
    monkeypatch.setattr(messages, "quiet", quiet)
    with _bytes_bar("some-model", 300_000_000) as told:
        told(100_000_000)
        told(100_000_000)
    said = capsys.readouterr().err.splitlines()
    assert [line.split(",")[:2] for line in said] == (
        [] if quiet else [["some-model", " MB 200/300"]]
    )


@pytest.mark.parametrize("value", ["0", "-1", "soon", "nan"])
def test_a_number_of_seconds_that_is_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(SECONDS, value)
    with pytest.raises(Exception, match="expected seconds, a number above 0"):
        stage_progress()


def test_a_message_takes_the_place_of_what_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal: a line of progress has no end, and what is said next none of it in front."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = many_progress()
    progress("answers", 1, 4)
    time.sleep(0.6)
    progress("answers", 2, 4)
    messages.complain("b.md: cannot be read", None, 2)
    time.sleep(0.6)
    progress("answers", 3, 4)
    progress("answers", 4, 4)
    click.echo("nothing of it is left", err=True)
    stages = stage_progress()
    stages("relate", 1, 2)
    messages.tell("factcheck: the server is gone")
    said = capsys.readouterr().err
    assert said.count("answers ") == 2, "it was drawn"
    screen = [line.rpartition("\r\x1b[K")[2] for line in said.split("\n")]
    assert screen == [
        "factcheck: b.md: cannot be read",
        "nothing of it is left",
        "factcheck: the server is gone",
        "",
    ]


def test_quiet_says_only_what_goes_wrong(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "a.md"
    page.parent.mkdir()
    page.write_text("Leave is 25 days.")
    run = tmp_path / "run.json"
    run.write_text("{}")
    loud = factcheck("report", run, "--output", tmp_path / "x")
    still = factcheck("--quiet", "report", run, "--output", tmp_path / "x")
    assert loud.err == still.err != "", "an error is said all the same"
    assert refused("--quiet", "--verbose", "infer", "-").startswith("--quiet and --verbose exclude")


def test_what_quiet_keeps_back(capsys: pytest.CaptureFixture[str]) -> None:
    messages.set_up(only_errors=True, verbose=False, log_file=None)
    try:
        messages.tell("written to x")
        messages.tell("factcheck: this matters")
    finally:
        messages.set_up(only_errors=False, verbose=False, log_file=None)
    messages.tell("written to y")
    assert capsys.readouterr().err == "factcheck: this matters\nwritten to y\n"


def test_a_log_has_stages_and_no_content(tmp_path: Path) -> None:
    import logging

    log = tmp_path / "run.log"
    (tmp_path / "g.json").write_text(json.dumps(GRAPH))
    done = factcheck("--log-file", log, "infer", tmp_path / "g.json")
    assert done.code == 0
    messages.set_up(only_errors=False, verbose=True, log_file=log)
    try:
        logging.getLogger("factcheck_local.pipeline.run").info("%s: %.2f s", "relate", 1.5)
    finally:
        messages.set_up(only_errors=False, verbose=False, log_file=None)
    assert log.read_text().endswith(" INFO relate: 1.50 s\n")
    nowhere = tmp_path / "no" / "run.log"
    said = refused("--log-file", nowhere, "infer", tmp_path / "g.json")
    assert said.startswith(f"{nowhere}: cannot be written: ")


def test_verbose_says_each_thing_once(tmp_path: Path) -> None:
    code = (
        "import logging, sys; import factcheck_local.cli as cli; "
        "log = logging.getLogger('factcheck_local.x'); usual = cli.set_up; "
        "cli.set_up = lambda **how: (usual(**how), log.info('a stage'), log.warning('beware')); "
        f"sys.argv = ['factcheck', '--verbose', 'infer', {str(tmp_path / 'g.json')!r}]; cli.main()"
    )
    (tmp_path / "g.json").write_text(json.dumps(GRAPH))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == ["a stage", "WARNING factcheck_local.x: beware"]


def test_a_file_name_steers_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with index_progress() as show:
        assert show is not None
        show(Step(0, 1, 0, 10, 0, "notes\x1b]0;title.md"))
    assert "notes" in screen.getvalue()
    assert "\x1b]0;title" not in screen.getvalue()
