"""Waits for files to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

from watchfiles import Change, watch

#: Changes that come within so many milliseconds of one another are one.
DEBOUNCE_MS = 1000

#: An empty set says at the latest after so many milliseconds that the watching has begun.
TIMEOUT_MS = 1000


def changes(
    paths: Sequence[Path], ignore: Path | None, *, stop: Event | None = None
) -> Iterator[frozenset[Path]]:
    """Files that changed below the paths, a set each time some did; an empty one to begin with.

    They are named as resolved, whatever the paths were.

    Args:
        paths: folders, and files, whose folder has to stay.
        ignore: a folder whose changes do not count: the store's; None for none.
        stop: ends it, when set.

    Raises:
        KeyboardInterrupt: when the user interrupts it.
    """
    ignored = ignore.resolve() if ignore else None
    # What changed is named as its folder was: by way of `..` or a link, it would not be known.
    resolved = [path.resolve() for path in paths]
    folders = [path for path in resolved if path.is_dir()]
    # Editors write a new file and rename it, so a file is watched through its folder.
    files = frozenset(path for path in resolved if not path.is_dir())

    def counts(_change: Change, name: str) -> bool:
        path = Path(name)
        if ignored and path.is_relative_to(ignored):
            return False
        return path in files or any(path.is_relative_to(folder) for folder in folders)

    watched = {*folders, *(path.parent for path in files)}
    begun = False
    for found in watch(
        *watched,
        watch_filter=counts,
        debounce=DEBOUNCE_MS,
        stop_event=stop,
        rust_timeout=TIMEOUT_MS,
        yield_on_timeout=True,
    ):
        # What changed before the watching began is in no set, so there is one at once.
        if found or not begun:
            yield frozenset(Path(name) for _, name in found)
        begun = True
