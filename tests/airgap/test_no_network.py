"""Index, verify and report with real models where there is no network, and where none is touched.

Each is tried with a planted violation, too, and has to fail then.
"""

from __future__ import annotations

import json
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.indexer.reader import read_ahead
from tests.cli.helpers import SMALL, factcheck

from .no_sockets import look_up, no_sockets

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
ANSWER = "Staff get 25 days of leave a year."

#: The command line with something planted: what it does is looked up in the report.
PLANTED = """
import socket, sys
from factcheck_local.cli import main, report
shown = report.write_report
def write_report(*arguments, **named):
    socket.getaddrinfo("telemetry.example", 443)
    return shown(*arguments, **named)
report.write_report = write_report
main()
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "leave.md").write_text("# Leave\n\nStaff get 25 days of leave a year.\n")
    (folder / "office.html").write_text("<p>The office in Kiel opens at nine.</p>")
    (tmp_path / "answer.md").write_text(ANSWER)
    return folder


def commands(docs: Path) -> tuple[list[str], ...]:
    """Arguments of the three commands."""
    folder = docs.parent
    store, run = ("--store", str(folder / "s")), folder / "run.json"
    verify = ["verify", str(folder / "answer.md"), *store, "--llm", SMALL, "--relation", "encoder"]
    return (
        ["index", str(docs), *store],
        [*verify, "--format", "json", "--output", str(run)],
        ["report", str(run), "--format", "html", "--output", str(folder / "run.html")],
    )


def check_outcome(folder: Path) -> None:
    """There is an assessment with scored claims, and a page of it."""
    atoms = json.loads((folder / "run.json").read_text())["atoms"]
    assert atoms
    assert all(atom["probability"] is not None for atom in atoms)
    assert (folder / "run.html").read_text().startswith("<!doctype html>")


# ----------------------------------------------------- a machine without interfaces


def isolated(script: str, *tracer: str, mounts: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a shell script in a network namespace of its own, where not even loopback is up.

    With ``mounts`` it may change what is mounted where, for itself.
    """
    own = ["--net", *(["--mount"] if mounts else [])]
    return subprocess.run(
        ["unshare", "--map-root-user", *own, *tracer, "sh", "-ec", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


needs_namespaces = pytest.mark.skipif(
    shutil.which("unshare") is None or isolated("true").returncode != 0,
    reason="network namespaces are not permitted here",
)


def tracing(log: Path) -> tuple[str, ...]:
    """What writes down every call for an address, of compiled code, too; empty where it cannot."""
    events = "trace=connect,bind,sendto,sendmsg,sendmmsg"
    command = ("strace", "-f", "-qq", "--seccomp-bpf", "-e", events, "-o", str(log))
    if shutil.which("strace") is None or isolated("true", *command).returncode != 0:
        return ()
    return command


@needs_namespaces
def test_the_namespace_has_no_network() -> None:
    connect = "import socket; socket.create_connection(('127.0.0.1', 9))"
    done = isolated(f"{shlex.quote(sys.executable)} -c {shlex.quote(connect)}")
    assert "Network is unreachable" in done.stderr


@needs_namespaces
def test_the_trace_tells_of_compiled_code(tmp_path: Path) -> None:
    """A look-up by the C library itself, which no guard in Python sees."""
    log = tmp_path / "calls"
    if not (tracer := tracing(log)):
        pytest.skip("strace is not permitted here")
    look_up = "import ctypes; ctypes.CDLL(None).gethostbyname(b'telemetry.example')"
    isolated(f"{shlex.quote(sys.executable)} -c {shlex.quote(look_up)}", *tracer)
    assert "AF_INET" in log.read_text()


@needs_namespaces
def test_index_verify_and_report_without_any_interface(docs: Path) -> None:
    index, verify, report = (
        shlex.join([sys.executable, str(ROOT / "cli.py"), *line]) for line in commands(docs)
    )
    log = docs.parent / "calls"
    done = isolated("\n".join([index, verify, report]), *tracing(log))
    assert done.returncode == 0, done.stderr
    assert "2 indexed, 0 unchanged" in done.stdout
    assert "refused" not in done.stderr
    check_outcome(docs.parent)
    if log.exists():
        assert "AF_INET" not in log.read_text()
    planted = [sys.executable, "-c", PLANTED, *commands(docs)[2]]
    failed = isolated(shlex.join(planted))
    assert failed.returncode == 2
    assert "telemetry.example:443: refused, nobody named this address" in failed.stderr


# ------------------------------------------------------------- no socket in sight


def test_index_verify_and_report_use_no_socket(docs: Path) -> None:
    with no_sockets():
        for line in commands(docs):
            done = factcheck(*line)
            assert done.code == 0, done.err
    check_outcome(docs.parent)


def connect() -> None:
    """Even to this machine."""
    socket.create_connection(("127.0.0.1", 9))


@pytest.mark.parametrize(("violation", "hushed"), [(look_up, True), (connect, False)])
def test_the_test_notices_a_planted_violation(
    violation: Callable[[], object], hushed: bool, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While files are read, raised or hushed up."""

    def spy(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        try:
            violation()
        except Exception:
            if not hushed:
                raise
        return read_ahead(*arguments, **named)

    monkeypatch.setattr("factcheck_local.indexer.sync.read_ahead", spy)
    with pytest.raises(AssertionError, match=r"getaddrinfo|telemetry\.example"), no_sockets():
        factcheck(*commands(docs)[0])
