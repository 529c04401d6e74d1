"""Interrupts that are not lost, and that end a run at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noticed() -> Iterator[threading.Event]:
    """An event that an interrupt sets beside what it raises.

    Python drops a KeyboardInterrupt that is raised within a finaliser or the callback of a weak
    reference ("Exception ignored in"); libraries that an index is made with have both. So
    what would go on for ever asks this event, too. It is never set where interrupts are
    ignored, or outside of the main thread, which alone gets them.
    """
    seen = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield seen
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.set()
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
