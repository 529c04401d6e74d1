"""factcheck index: what it is told of limits, and that it goes on when it watches."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from factcheck_local.cli import index
from factcheck_local.models.fake import FakeEmbedder

from .helpers import factcheck

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def test_limits_and_what_is_over_them(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("Leave is 25 days.")
    (docs / "b.txt").write_text("word " * 30_000)
    done = factcheck("index", docs, "--store", tmp_path / "s", "--max-file-size", "0.1")
    assert done.code == 0
    assert "failed: b.txt: has 0.1 MB, more than the limit of 0.1 MB\n" in done.out
    assert done.out.endswith(f"1 failed; 1 passages in {tmp_path / 's'}\n")
    assert "\x1b" not in done.out + done.err  # a bar is for terminals
    assert factcheck("index", docs, "--max-file-time", "0").code == 2


def test_a_wrong_path_or_profile_does_not_cost_the_index(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("Leave is 25 days.")
    store = ("--store", tmp_path / "s")
    assert factcheck("index", docs, *store).code == 0
    kept = factcheck("search", "leave", *store, "--json").out
    assert factcheck("index", docs, "--rebuild", "--exclude", "[z-a]", *store).code == 2
    assert factcheck("search", "leave", *store, "--json").out == kept
    (docs / "reliability.toml").write_text("[[source]]")
    for path in (tmp_path / "dcos", docs, docs / "a.md"):
        assert factcheck("index", path, "--rebuild", *store).code == 2
        assert factcheck("search", "leave", *store, "--json").out == kept


def test_forgetting_a_folder_that_is_gone(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "s")
    for name in ("docs", "old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"Leave is 25 days in {name}.")
        assert factcheck("index", tmp_path / name, *store).code == 0
    shutil.rmtree(tmp_path / "old")
    again = ("index", tmp_path / "docs", "--forget", tmp_path / "old", *store)
    for other in ("--rebuild", "--watch"):
        done = factcheck(*again, other)
        assert (done.code, "--forget takes neither" in done.err) == (2, True)
    done = factcheck(*again)
    assert done.out.startswith("removed: old/old.md: forgotten\n")
    assert "0 indexed, 1 unchanged, 1 removed" in done.out


def test_a_profile_around_a_folder_that_was_indexed_by_itself_is_named(tmp_path: Path) -> None:
    docs, store = tmp_path / "docs", ("--store", tmp_path / "s")
    (docs / "hr").mkdir(parents=True)
    (docs / "hr" / "pay.md").write_text("Pay day is the 25th.")
    (docs / "a.md").write_text("Leave is 25 days.")
    (docs / "reliability.toml").write_text('[[access]]\nmatch = "hr/**"\ngroups = ["hr"]\n')
    assert "does not hold" not in factcheck("index", docs / "hr", *store).err
    said = factcheck("index", docs, *store)
    assert f"{docs / 'reliability.toml'} does not hold for {docs / 'hr'}, which" in said.err
    assert said.code == 0
    assert "pay.md" in factcheck("search", "pay", *store, "--as", "x", "--json").out
    assert "does not hold" not in factcheck("index", "--rebuild", docs, *store).err
    assert "pay.md" not in factcheck("search", "pay", *store, "--as", "x", "--json").out


def hear_interrupts() -> None:
    """Undo what a shell does that puts the tests into the background: it has them ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_watching(tmp_path: Path) -> None:
    """A change is indexed, a broken profile is said and survived, an interrupt ends it."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("Leave is 25 days.")
    command = [sys.executable, str(ROOT / "cli.py"), "index", str(docs), "--watch"]
    with subprocess.Popen(
        [*command, "--store", str(tmp_path / "s")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    ) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        stop = threading.Timer(300, watching.kill)
        stop.start()
        assert watching.stdout.readline().startswith("1 indexed, 0 unchanged")
        assert watching.stderr.readline() == "watching; interrupt to end\n"
        (docs / "b.md").write_text("Pay is due on the last day.")
        assert watching.stdout.readline().startswith("1 indexed, 1 unchanged")
        (docs / "reliability.toml").write_text("default = 2")
        assert "default must be between 0 and 1" in watching.stderr.readline()
        (docs / "reliability.toml").unlink()
        (docs / "a.md").unlink()
        assert watching.stdout.readline() == "removed: a.md: file is gone\n"
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 130
        stop.cancel()


def test_a_profile_from_elsewhere_is_watched_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, profile = tmp_path / "docs", tmp_path / "profile.toml"
    docs.mkdir()
    (docs / "a.md").write_text("Leave is 25 days.")
    profile.write_text("default = 0.7\n")
    seen: list[Path] = []

    def changes(paths: Sequence[Path], *_: object, **__: object) -> Iterator[frozenset[Path]]:
        seen.extend(paths)
        raise KeyboardInterrupt
        yield frozenset()

    monkeypatch.setattr(index, "_embedder", lambda *_: nullcontext((FakeEmbedder(), 1)))
    monkeypatch.setattr(index, "changes", changes)
    options = ("--watch", "--reliability", profile, "--store", tmp_path / "s")
    assert factcheck("index", docs, *options).code == 130
    assert seen == [docs, profile]


#: Watches a folder; what the first interrupt raises is dropped, as in a finaliser.
_DROPPING = """
import sys, weakref
from factcheck_local.cli import index, script

class Held: pass

def dropped(paths, ignore, *, stop):
    import os, signal
    yield frozenset()
    held = Held()
    ref = weakref.ref(held, lambda _: os.kill(os.getpid(), signal.SIGINT))
    del held
    print("still watching", flush=True)
    yield from kept(paths, ignore, stop=stop)

kept, index.changes = index.changes, dropped
script()
"""


def test_an_interrupt_that_python_drops_ends_watching_all_the_same(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("Leave is 25 days.")
    arguments = ["index", str(docs), "--watch", "--store", str(tmp_path / "s")]
    done = subprocess.run(
        [sys.executable, "-c", _DROPPING, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        preexec_fn=hear_interrupts,
        timeout=120,
    )
    assert done.returncode == 130, done.stderr
    assert "Exception ignored in" in done.stderr
    assert "still watching" in done.stdout
    assert done.stderr.endswith("factcheck: interrupted; what was written is kept\n")


#: Ends with a thread that never does, as one that waits for a lock that an interrupt left taken.
_HANGING = """
import threading
from factcheck_local import cli

def interrupted():
    threading.Thread(target=threading.Event().wait).start()
    raise SystemExit(cli.INTERRUPTED)

cli.main, cli.PATIENCE = interrupted, 0.2
cli.script()
"""


def test_an_interrupted_run_ends_whatever_hangs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HANGING], env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120
    )
    assert done.returncode == 130
