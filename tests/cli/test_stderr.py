"""What is said on stderr goes through one door, which steers no terminal."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import factcheck_local.cli as cli
from factcheck_local.cli.messages import complain, tell

ROOM = Path(cli.__file__).parent

#: Modules that draw on a terminal, or ask.
DRAWING = {"messages.py", "sign.py", "demo.py"}


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda p: p.name)
def test_nothing_else_writes_there(path: Path) -> None:
    calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
    direct = [c.lineno for c in calls if any(k.arg == "err" for k in c.keywords)]
    assert path.name in DRAWING or direct == []


def test_what_steers_a_terminal_is_taken_out(capsys: pytest.CaptureFixture[str]) -> None:
    tell("a\x1b[31mred\x07\nline\u202e")
    assert capsys.readouterr().err == "a [31mred  line \n"
    assert complain("a\rb", "c", 2) == 2
    assert capsys.readouterr().err == "factcheck: a b (try: c)\n"
