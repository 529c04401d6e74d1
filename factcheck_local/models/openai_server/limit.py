"""How many requests a server is asked at once: as many as it takes.

Additive increase and multiplicative decrease (Chiu & Jain 1989): each reply makes room for a little
more, each that says that there are too many for a tenth less. Once it was busy the increase is a
fifth of what it was before, so that few requests are sent in vain. Of several that were under way
together and are too many, the first alone makes room for less: the others were sent before it did.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

#: Requests at once to begin with, and what is left of their number when they are too many. One
#: half is usual, for networks; a server that counts its requests says so before it is overrun.
BEGIN, LEFT = 4, 0.9

#: By how much replies to as many requests as are allowed raise that, before and after.
FIRST_STEP, STEP = 1.0, 0.2


class Limit:
    """Lets so many threads ask at once; see the module.

    Args:
        most: never more than these, at least 1.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._allowed = float(min(BEGIN, most))
        self._step = FIRST_STEP
        self._under_way = 0
        self._cuts = 0
        self._changed = threading.Condition()

    @property
    def allowed(self) -> int:
        """Requests that may be under way now."""
        return max(1, int(self._allowed))

    @contextmanager
    def turn(self) -> Iterator[int]:
        """Wait for room, and have it until the end.

        Yields:
            When it was begun, for `heed`: how often fewer were allowed before.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._under_way < self.allowed)
            self._under_way += 1
            begun = self._cuts
        try:
            yield begun
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def heed(self, status: int, begun: int) -> None:
        """What a reply's status says: 429 is too many, and 503 tells nothing of their number.

        Args:
            status: of the reply.
            begun: when its request was, see `turn`.
        """
        with self._changed:
            if status == HTTPStatus.TOO_MANY_REQUESTS:
                if begun == self._cuts:
                    self._allowed = max(1.0, self._allowed * LEFT)
                    self._step = STEP
                    self._cuts += 1
            elif status != HTTPStatus.SERVICE_UNAVAILABLE:
                self._allowed = min(self._most, self._allowed + self._step / self._allowed)
