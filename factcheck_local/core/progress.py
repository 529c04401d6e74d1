"""How far a piece of work is: told to whoever shows it."""

from __future__ import annotations

from collections.abc import Callable

#: Called with the units done and all units.
Progress = Callable[[int, int], None]

#: Called with a stage's name, the units done and all units of the stage.
StageProgress = Callable[[str, int, int], None]

#: Called with the bytes that were handled since the last call.
ByteProgress = Callable[[int], None]


def silent(*_: object) -> None:
    """Progress that nobody looks at."""
