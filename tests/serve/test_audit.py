"""The audit log: each line follows from the one before, and says so when it does not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.cli import cli
from factcheck_local.core.errors import FactcheckError, StoreError
from factcheck_local.serve.audit import NOTHING, AuditError, AuditLog, verified


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "audit.jsonl"
    for n in range(4):
        AuditLog(path).add("ann", "search", passages=[f"p{n}"])
    return path


def test_lines_are_chained(log: Path) -> None:
    entries = list(verified(log))
    assert [entry["number"] for entry in entries] == [1, 2, 3, 4]
    assert [entry["previous"] for entry in entries] == [NOTHING, *(e["hash"] for e in entries[:-1])]
    assert entries[2]["about"] == {"passages": ["p2"]}
    assert log.stat().st_mode & 0o077 == 0


def test_of_an_empty_log_nothing_is_wrong(tmp_path: Path) -> None:
    log = tmp_path / "empty"
    log.touch()
    done = CliRunner().invoke(cli, ["audit", "verify", str(log), "--expect", NOTHING])
    assert done.stdout == f"0 lines hold; the last hash is {NOTHING}\n"


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_byte_can_be_changed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("log") / "audit.jsonl"
    for n in range(3):
        AuditLog(path).add("ann", "search", k=n)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 2))
    put = data.draw(st.integers(0, 255).filter(lambda b: b != whole[at]))
    path.write_bytes(whole[:at] + bytes([put]) + whole[at + 1 :])
    with pytest.raises(AuditError, match=r"line \d"):
        list(verified(path))


@pytest.mark.parametrize("kept", [(0, 2, 3), (1, 2, 3), (0, 2, 1, 3), (0, 1, 1, 2, 3)])
def test_no_line_can_be_taken_out_moved_or_doubled(log: Path, kept: tuple[int, ...]) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[n] for n in kept))
    with pytest.raises(AuditError, match="does not follow from the line before"):
        list(verified(log))


@pytest.mark.parametrize("line", ["[" * 200_000, "[]", "{}", '{"number":1,"hash":'])
def test_what_is_no_line_of_a_log_is_said_so_whatever_it_is(tmp_path: Path, line: str) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(AuditError, match="line 1: is no line of an audit log"):
        CliRunner().invoke(cli, ["audit", "verify", str(path)], catch_exceptions=False)
    with pytest.raises(StoreError, match="its last line is damaged"):
        AuditLog(path).add("ann", "search", k=1)


def test_a_line_that_was_torn_is_named_and_the_chain_goes_on(log: Path) -> None:
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"number":5,"ti')
    with pytest.raises(AuditError, match="line 5: is no line of an audit log"):
        list(verified(log))
    AuditLog(log).add("ann", "search", k=1)
    assert log.read_bytes().startswith(whole)
    assert [entry["what"] for entry in verified(log)][4:] == ["audit.torn", "search"]


@pytest.mark.parametrize("torn", ["", "x", "x" * 70_000])
def test_a_line_may_be_longer_than_what_is_read_at_once(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "audit.jsonl"
    for claim in ("c" * 70_000, "d" * 200_000, "e"):
        AuditLog(path).add("ann", "claim.reviewed", claim=claim)
    with path.open("a") as file:
        file.write(torn)
    AuditLog(path).add("ann", "search", k=1)
    assert len(list(verified(path))) == (5 if torn else 4)


ADD = """
import sys
from pathlib import Path
from factcheck_local.serve.audit import AuditLog
for n in range(10):
    AuditLog(Path(sys.argv[1])).add("somebody", "search", k=n)
"""


def test_several_processes_add_to_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    processes = [subprocess.Popen([sys.executable, "-c", ADD, str(path)]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert len(list(verified(path))) == 30


def test_the_command_proves_and_exports(log: Path) -> None:
    def run(*arguments: str) -> str:
        done = CliRunner().invoke(cli, ["audit", *arguments], catch_exceptions=False)
        assert done.exit_code == 0
        return done.stdout

    before = list(verified(log))[-1]["hash"]
    assert run("verify", str(log)) == f"4 lines hold; the last hash is {before}\n"
    AuditLog(log).add("bob", "key.added")
    assert run("verify", str(log), "--expect", before).startswith("5 lines hold")
    (row,) = map(json.loads, run("export", str(log), "--who", "bob").splitlines())
    assert row["what"] == "key.added"
    assert run("export", str(log), "--since", "2999-01-01").strip() == ""
    assert len(run("export", str(log), "--since", "2020-01-01T08:00:00").splitlines()) > 1
    wrong = CliRunner().invoke(cli, ["audit", "export", str(log), "--since", "November"])
    assert (wrong.exit_code, "does not match the format" in wrong.output) == (2, True)
    # What whoever cuts off the end cannot hide from somebody who knows the hash.
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:3]))
    with pytest.raises(FactcheckError, match="lines were cut off"):
        CliRunner().invoke(
            cli, ["audit", "verify", str(log), "--expect", before], catch_exceptions=False
        )
