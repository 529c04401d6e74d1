"""Runs `index` and `verify` that get a signal in each of their stages, and completes them.

Prints a line of JSON for each: command, stage, signal, how it ended, whether what was there
before was still whole, and whether the next run made of it what an undisturbed one makes.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

# Imported before the forks, each of which would pay for them.
import chromadb  # noqa: F401
import chromadb_rust_bindings  # noqa: F401
import snowballstemmer  # noqa: F401

import factcheck_local.indexer.loaders.markdown  # noqa: F401
from factcheck_local.cli import index as index_command
from factcheck_local.cli import script
from factcheck_local.cli import verify as verify_command
from factcheck_local.indexer import sync as sync_module
from factcheck_local.indexer.parts import VERDICTS
from factcheck_local.indexer.reader import Reading, Task, Unread, read
from factcheck_local.indexer.store import Store
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier
from factcheck_local.pipeline import checker, gathering
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.score_cache import CachedPairScorer, ScoreCache
from factcheck_local.report.replay import changes
from tests.cli.worlds import by_number
from tests.cli.worlds import index as index_world
from tests.indexer.helpers import HashingEmbedder, contents, write

SIGNALS = (signal.SIGINT, signal.SIGKILL)

#: Stage -> where its function is found, its name, and before which of its calls the signal comes.
INDEX = {
    "survey": (sync_module, "survey", 1),
    "read": (sys.modules[__name__], "read_one", 2),
    "complete": (Store, "complete", 1),
    "embed": (HashingEmbedder, "embed", 1),
    "remove": (Store, "remove", 1),
    "rate": (Store, "set_left_out", 1),
}
#: The second of two answers, so that there is something to lose.
VERIFY = {
    "load": (gathering, "segment", 1),
    "revise": (gathering, "revise", 2),
    "retrieve": (gathering, "retrieve", 2),
    "relate": (FakePairClassifier, "classify", 4),
    "reason": (checker, "reason", 2),
    "write": (os, "replace", 3),
}

ANSWERS = {
    "a.md": "Annual leave is 25 days. At most 2 animals may come to the office.\n",
    "b.md": "Annual leave is 30 days. At most 5 animals may come to the office.\n",
}
ANSWERS_AS_JSON = ("a.json", "b.json")


def signalled(place: Any, name: str, call: int, number: int) -> None:  # noqa: ANN401
    """Have this process get a signal before some call of a function."""
    whole: Callable[..., Any] = getattr(place, name)
    count = iter(range(1, 1_000_000))

    def stand_in(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        if next(count) == call:
            os.kill(os.getpid(), number)
        return whole(*arguments, **options)

    setattr(place, name, stand_in)


def forked(work: Callable[[], None]) -> int:
    """The exit code of a process that does some work; minus the signal that ended it."""
    child = os.fork()
    if not child:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        try:
            work()
        except SystemExit as ended:
            os._exit(int(ended.code or 0))
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
            os._exit(99)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def factcheck(*arguments: object) -> None:
    with mock.patch.object(sys, "argv", ["factcheck", *map(str, arguments)]):
        script()


# --------------------------------------------------------------------- index


def read_one(task: Task) -> Reading | Unread:
    return read(task.path, task.source)


def read_here(
    tasks: Iterable[Task], *_: object, **__: object
) -> Iterator[tuple[Task, Reading | Unread]]:
    """In place of the reading process, whose start would take most of the time."""
    for task in tasks:
        yield task, read_one(task)


def fake_index() -> None:
    for module, name, value in (
        (sync_module, "read_ahead", read_here),
        (sync_module, "EMBED_BATCH", 2),
        (index_command, "load_model", lambda *_: HashingEmbedder()),
    ):
        setattr(module, name, value)


def stores_agree(docs: Path, store: Path, fresh: Path) -> None:
    """Complete the store, and compare it with one that was made at once, which may be there."""
    fake_index()
    for path in [store] if fresh.exists() else [store, fresh]:
        index_command.command.main([str(docs), "--store", str(path)], standalone_mode=False)
    found = []
    for path in (store, fresh):
        with Store.open(path) as opened:
            assert all(record.complete for record in opened.sources())
            found.append((contents(opened), opened.digest()))
    assert found[0] == found[1]


def still_there(store: Path) -> None:
    """What was not touched can be found before anything is mended."""
    with Store.open(store) as opened:
        complete = {r.source for r in opened.sources() if r.complete}
        assert {"f0.md", "f5.md"} <= complete
        (found,) = opened.query(HashingEmbedder().embed(["part 0 of f0"]), 3)
        assert found


def kill_index(folder: Path, stage: str, number: int) -> dict[str, Any]:
    docs, store = folder / "docs", folder / "store"
    write(docs, {f"f{n}.md": f"# f{n}\n\nThe text of f{n} is here." for n in range(6)})

    def first() -> None:
        fake_index()
        factcheck("index", docs, "--store", store)

    assert forked(first) == 0
    write(docs, {"f1.md": "# f1\n\nAnother text.", "f9.md": "# f9\n\nA new one."}, age=60)
    (docs / "f2.md").rename(docs / "moved.md")
    (docs / "f3.md").unlink()

    def killed() -> None:
        fake_index()
        signalled(*INDEX[stage], number)
        factcheck("index", docs, "--store", store)

    ended = forked(killed)
    return {
        "ended": ended,
        "kept": forked(lambda: still_there(store)) == 0,
        # Every case ends with the same files, so one fresh store does for all.
        "same": forked(lambda: stores_agree(docs, store, folder.parent / "fresh")) == 0,
    }


# -------------------------------------------------------------------- verify


def fake_verify(store: Path) -> None:
    class Faked(checker.FactChecker):
        def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
            scorer = EncoderPairScorer(FakePairClassifier(by_number))
            cached = CachedPairScorer(
                lambda: scorer, scorer.id, scorer.sha256, ScoreCache(store / VERDICTS)
            )
            super().__init__(
                *arguments,
                llm=FakeChatModel(lambda chat: chat[-1].content.rsplit("Sentence: ", 1)[-1]),
                embedder=FakeEmbedder(),
                relation_model=CalibratedRelationModel(cached),
                **options,
            )

    vars(verify_command)["FactChecker"] = Faked


def verify(folder: Path, store: Path, output: str) -> None:
    fake_verify(store)
    answers = [folder / name for name in ANSWERS]
    factcheck("verify", *answers, "--store", store, "--output", folder / output)


def scores(store: Path) -> int:
    """Pairs whose scores are kept."""
    path = store / VERDICTS
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT count(*) FROM scores").fetchone()[0])


def kill_verify(folder: Path, stage: str, number: int, made: Path) -> dict[str, Any]:
    store = folder / "store"
    shutil.copytree(made / "store", store)
    for name, text in ANSWERS.items():
        (folder / name).write_text(text)

    def killed() -> None:
        signalled(*VERIFY[stage], number)
        verify(folder, store, "out")

    ended = forked(killed)
    # An interrupt leaves the overview of what was done, too.
    done = {path.name for path in (folder / "out").glob("*.json")} - {"summary.json"}
    # What was done is there whole, and no pair that was read is forgotten.
    kept = done == (set() if stage == "load" else {"a.json"}) and all_same(done, folder, made)
    kept = kept and (scores(store) > 0) == (stage != "load")
    again = forked(lambda: verify(folder, store, "out"))
    same = again == 0 and all_same(ANSWERS_AS_JSON, folder, made)
    return {"ended": ended, "kept": kept, "same": same and scores(store) == scores(made / "whole")}


def all_same(names: Iterable[str], folder: Path, made: Path) -> bool:
    """Whether assessments say what those of an undisturbed run say."""

    def read_json(path: Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    pairs = [(read_json(folder / "out" / n), read_json(made / "out" / n)) for n in names]
    return not any(changes(*pair) for pair in pairs)


def make_verified(folder: Path) -> None:
    """A store, and the reports of a run that nothing disturbs."""
    write(
        folder / "docs",
        {"leave.md": "Annual leave is 25 days.", "pets.md": "At most 2 animals may come."},
    )
    for name, text in ANSWERS.items():
        (folder / name).write_text(text)

    assert forked(lambda: index_world(folder / "docs", folder / "store")) == 0
    whole = folder / "whole"
    shutil.copytree(folder / "store", whole)
    assert forked(lambda: verify(folder, whole, "out")) == 0


def main(folder: Path) -> None:
    # Ignored where a shell has put the tests into the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    made = folder / "made"
    made.mkdir()
    make_verified(made)
    for command, stages in (("index", INDEX), ("verify", VERIFY)):
        for stage in stages:
            for number in SIGNALS:
                place = folder / f"{command}-{stage}-{number}"
                place.mkdir()
                if command == "index":
                    found = kill_index(place, stage, number)
                else:
                    found = kill_verify(place, stage, number, made)
                line = {"command": command, "stage": stage, "signal": int(number), **found}
                sys.stdout.write(json.dumps(line) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
