"""Writing files so that an interruption leaves the old one or the new one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def write_whole(path: Path, text: str | bytes) -> None:
    """Write a file, all of it or nothing; a text as UTF-8.

    The permissions of a file that is there stay, and a link to it stays a link. What is no
    file, as a pipe or ``/dev/null``, is written to as it is.

    Raises:
        OSError: if it cannot be written.
    """
    data = text.encode() if isinstance(text, str) else text
    if path.exists() and not path.is_file():
        # Not by where a link leads: a pipe that the shell hands over, /dev/fd/63, is nowhere.
        path.write_bytes(data)
        return
    target = path.resolve()
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(data)
        if target.exists():
            shutil.copymode(target, partial)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
