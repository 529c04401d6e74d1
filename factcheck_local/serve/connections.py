"""How long a connection may be silent: uvicorn alone waits for a first request for ever."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds that a request line and its headers may take to arrive.
HEAD_SECONDS = 30.0


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 over a connection that is closed if no whole head of a request comes in time.

    Connections are counted, and those without a request would keep everybody else's out. How
    slowly bytes come makes no difference: what counts is when the head is complete.
    """

    _head_task: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See ``asyncio.Protocol``."""
        super().connection_made(transport)
        self._time_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """See ``asyncio.Protocol``."""
        super().connection_lost(exc)
        self._stop_timer()

    def handle_events(self) -> None:
        """See ``H11Protocol``; what came may end a head, or a request behind which one is due."""
        super().handle_events()
        self._time_head()

    def _time_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._head_task is None:
            # What ends an idle connection ends this one, too.
            self._head_task = self.loop.call_later(HEAD_SECONDS, self.timeout_keep_alive_handler)

    def _stop_timer(self) -> None:
        if self._head_task is not None:
            self._head_task.cancel()
            self._head_task = None
