"""Kills indexing runs at random moments, and compares what is left with a fresh store.

Prints the number of kills, how many of these left a source half written or a
change undone, and how many times the store was completed and compared.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import chromadb  # noqa: F401  (imported before the forks, which would each pay for it)

from factcheck_local.indexer import sync as module
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.reader import Reading, Task, Unread, read
from factcheck_local.indexer.store import Store
from tests.indexer.helpers import Contents, HashingEmbedder, contents, long_text, write

#: Kills at most, as a multiple of those that are asked for.
MOST = 5

#: What becomes of the reach of the ends after one that found nothing half written, and after a run
#: that was done before its end. A second of a core that shares its units with a busy one is worth
#: half a second, so what the first run took says little of the others.
EARLY, LATE = 1.05, 0.9


def read_here(
    tasks: Sequence[Task], *_: object, **__: object
) -> Iterator[tuple[Task, Reading | Unread]]:
    """In place of the reading process, whose start would take most of the time."""
    for task in tasks:
        yield task, read(task.path, task.source)


def index(corpus: Path, path: Path) -> None:
    with Store.create(path, Fingerprint.of(HashingEmbedder())) as store:
        module.sync([corpus], store, HashingEmbedder())


def in_child(corpus: Path, path: Path, delay: float | None) -> bool:
    """Index in a process that is ended after a delay; whether it was.

    The delay is in seconds of its own processor time, so that a busy machine does not move
    all ends to the start. Nothing handles the signal: it ends the process as SIGKILL would.
    """
    child = os.fork()
    if not child:
        if delay is not None:
            signal.setitimer(signal.ITIMER_PROF, delay)
        index(corpus, path)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def edit(corpus: Path, rng: random.Random, number: int) -> None:
    """Change, move, remove and add files, and sometimes the profile."""
    files = sorted(corpus.glob("*.md"))
    for path in rng.sample(files, 3):
        write(corpus, {path.name: text(f"edit{number}", rng)}, age=3600 - number)
    moved = rng.choice(files)
    moved.rename(corpus / f"moved{number}.md")
    rng.choice([path for path in files if path != moved]).unlink()
    write(corpus, {f"new{number}.md": text(f"new{number}", rng)})
    if not number % 3:
        write(corpus, {"reliability.toml": f"default = 0.{number % 8 + 1}"})


def text(seed: str, rng: random.Random) -> str:
    return f"# {seed}\n\n" + long_text(seed, rng.randint(1, 5))


def difference(one: Contents, other: Contents) -> str:
    """What a reader needs to know of stores that should be the same."""
    ids = sorted({*one, *other})
    differ = [(one.get(i), other.get(i)) for i in ids if one.get(i) != other.get(i)]
    return f"{len(differ)} of {len(ids)} passages differ: {str(differ[:1])[:2000]}"


def check(corpus: Path, store: Path, fresh: Path) -> None:
    assert not in_child(corpus, store, None)
    assert not in_child(corpus, fresh, None)
    found = []
    for path in (store, fresh):
        with Store.open(path) as opened:
            assert all(record.complete for record in opened.sources())
            found.append((contents(opened), opened.digest()))
    assert found[0] == found[1], difference(found[0][0], found[1][0])


def half_written(store: Path) -> bool:
    """Whether a source was being written."""
    path = store / "sources.sqlite3"
    if not path.exists():
        return False
    with closing(sqlite3.connect(path)) as database:
        try:
            (count,) = database.execute(
                "SELECT COUNT(*) FROM sources WHERE NOT complete"
            ).fetchone()
        except sqlite3.OperationalError:  # not even the table is there
            return False
    return bool(count)


def main(folder: Path, kills: int) -> None:
    for name, value in {"read_ahead": read_here, "EMBED_BATCH": 4}.items():
        setattr(module, name, value)
    rng = random.Random(7)
    corpus, store = folder / "docs", folder / "store"
    write(corpus, {f"file{n}.md": text(f"file{n}", rng) for n in range(12)})
    in_child(corpus, folder / "timed", None)
    spent = os.times()  # of children, there has been one
    # Few changes take three quarters of the time of all files.
    reach = 0.75 * (spent.children_user + spent.children_system)
    in_writing = checks = edits = number = 0
    # How many come while a source is being written depends on the machine: so many are wanted.
    while number < kills or (in_writing < kills // 3 and number < MOST * kills):
        # The root has fewer ends in the first part, which goes by while the store is opened.
        while not in_child(corpus, store, reach * rng.random() ** 0.5):
            reach *= LATE
            edits += 1  # it was done before: let it have something to do
            edit(corpus, rng, edits)
        written = half_written(store)
        if not written:
            reach *= EARLY
        in_writing += written
        number += 1
        if number % 5 == 0:
            # In a process of its own: one that has opened Chroma cannot be forked.
            child = os.fork()
            if not child:
                check(corpus, store, folder / f"fresh{number}")
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            checks += 1
    sys.stdout.write(f"{number} {in_writing} {checks}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
