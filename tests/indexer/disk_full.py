"""Runs of `index` whose disk or memory does not suffice, completed when it does.

Prints a line of JSON: how the run ended, what it said, and whether the next run made of the
store what a run with enough of both makes. ``tmpfs`` needs a mount namespace of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.indexer.helpers import HashingEmbedder, long_text, write
from tests.kill_points import factcheck, fake_index, forked, stores_agree

#: By what is scarce: enough for the disk, and no more than it takes for memory.
FILES = {"memory": 4, "file": 60, "tmpfs": 60}

#: Bytes of a file, and of the disk, of which neither holds the store.
FILE_LIMIT = 600_000
DISK = "1500k"


def no_memory(*_: object) -> None:
    raise MemoryError


def main(kind: str, folder: Path) -> None:
    docs, place, said = folder / "docs", folder / "disk", folder / "stderr"
    write(docs, {f"f{n}.md": f"# f{n}\n\n{long_text(f'f{n}')}" for n in range(FILES[kind])})
    place.mkdir()
    if kind == "tmpfs":
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", place], check=True)

    def scarce() -> None:
        with said.open("w") as log:
            os.dup2(log.fileno(), 2)
        fake_index()
        if kind == "file":
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))
        if kind == "memory":
            HashingEmbedder.embed = no_memory  # type: ignore[assignment, method-assign]
        factcheck("index", docs, "--store", place / "store")

    ended = forked(scarce)
    if kind == "tmpfs":
        subprocess.run(["mount", "-o", "remount,size=200m", place], check=True)
    same = forked(lambda: stores_agree(docs, place / "store", folder / "fresh")) == 0
    found = {"ended": ended, "said": said.read_text().splitlines(), "same": same}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
