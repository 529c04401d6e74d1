"""What a model made of a store's passages: kept by source, so that it goes with its source."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from factcheck_local.core.errors import StoreError

#: The folder with all of it, in a store's; unlike what is beside it, it does not outlive passages.
STATES = "passage-states"


def part_of(source: str) -> str:
    """The folder in `STATES` with what was made of a source's passages."""
    return hashlib.sha256(source.encode()).hexdigest()


def drop(store: Path, which: str = "*") -> None:
    """Remove all of it, or a part; nothing where there is none.

    Args:
        store: the store's folder.
        which: a glob for parts.

    Raises:
        StoreError: if the disk refuses.
    """
    try:
        for path in (store / STATES).glob(which):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{error.filename}: cannot be removed: {error.strerror}") from error
