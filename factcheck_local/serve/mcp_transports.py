"""Where MCP is spoken: at ``/mcp`` of the server, and on standard input and output."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import Request
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings

from factcheck_local.pipeline.settings import Settings
from factcheck_local.serve.access import SCOPES, Caller
from factcheck_local.serve.gate import Message, Receive, Send
from factcheck_local.serve.mcp_tools import make_server
from factcheck_local.serve.service import Config, Service, caller_of

#: Sessions of clients that still open one.
MOST_SESSIONS = 1_000


class Endpoint:
    """An ASGI application at one path of the server's; ``run`` is to be entered first.

    Args:
        service: of the server.
    """

    def __init__(self, service: Service) -> None:
        server = make_server(service, caller_of)
        server.streamable_http_app(
            max_request_body_size=service.config.most_bytes,
            max_sessions=MOST_SESSIONS,
            # The gate looks at Host and Origin, and knows the server's names.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._sessions = server.session_manager

    def run(self) -> AbstractAsyncContextManager[None]:
        """As long as it lasts, requests are taken."""
        return self._sessions.run()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """See ASGI."""
        caller = caller_of(Request(scope))
        # The library lets nobody else use a session of this user's.
        user = AuthenticatedUser(AccessToken(token="", client_id=caller.name, scopes=[]))
        await self._sessions.handle_request({**scope, "user": user}, receive, send)


def serve_stdio(store: Path, settings: Settings) -> None:
    """Speak MCP on standard input and output until the input ends.

    Checks and reports are kept in a folder of this process's own, and go with it: several clients
    start several processes, of which none is to take another's checks.

    Args:
        store: the store's folder.
        settings: of every check; ``as_groups`` counts for search, too.
    """
    caller = Caller("local", frozenset(SCOPES), settings.as_groups)
    with TemporaryDirectory(prefix="factcheck-mcp-", ignore_cleanup_errors=True) as folder:

        def end(number: int, _frame: object) -> None:
            # The thread that waits for standard input cannot be interrupted, so nothing is unwound.
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(128 + number)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        service = Service(Config(store, Path(folder), settings))
        with closing(service), service.supervisor:
            make_server(service, lambda _request: caller).run("stdio")
