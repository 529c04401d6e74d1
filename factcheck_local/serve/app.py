"""The server as an ASGI application, and the routes that are about itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Route

from factcheck_local import __version__
from factcheck_local.core.errors import FactcheckError, StoreError
from factcheck_local.serve import problems
from factcheck_local.serve.access import SCOPES, Caller
from factcheck_local.serve.check import Problem
from factcheck_local.serve.gate import Gate
from factcheck_local.serve.measures import Measures
from factcheck_local.serve.routes_checks import add_checks
from factcheck_local.serve.routes_corpus import add_corpus
from factcheck_local.serve.routes_index import add_index
from factcheck_local.serve.routes_openai import add_openai
from factcheck_local.serve.routes_reviews import add_reviews
from factcheck_local.serve.routes_web import PAGES, add_web
from factcheck_local.serve.service import Config, Service, admit, caller_for
from factcheck_local.serve.upstream import Upstream

#: What is read without a key: the page's shells, and whether the server is well.
OPEN = (*PAGES, "/web/{name}", "/healthz", "/readyz", "/openapi.json")


def create_app(config: Config, *, worker: bool = True) -> FastAPI:
    """The server as an ASGI application.

    Args:
        config: see there.
        worker: whether it starts the process with the models.

    Raises:
        StoreError: if there is no store, or the checks cannot be kept.
        ModelError: if the model server's key is not to be had.
    """
    service = Service(config)
    service.digest()
    endpoint = None
    if find_spec("mcp") is not None:  # an extra
        from factcheck_local.serve.mcp_transports import Endpoint

        endpoint = Endpoint(service)
    upstream = None if config.openai is None else Upstream(config.openai)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.callback(service.close)
            if worker:
                for beside in service.beside:
                    stack.enter_context(beside)
            if endpoint is not None:
                await stack.enter_async_context(endpoint.run())
            if upstream is not None:
                stack.push_async_callback(upstream.close)
            yield

    app = FastAPI(
        title="factcheck-local",
        version=__version__,
        lifespan=lifespan,
        # Its pages would load scripts from elsewhere; ours is in routes_web.
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    app.add_middleware(
        Gate,
        hosts=config.hosts,
        most=config.most_bytes,
        admit=partial(admit, service),
        open_to_all=OPEN,
    )
    app.exception_handler(Problem)(problems.of_problem)
    app.exception_handler(HTTPException)(problems.of_http)
    app.exception_handler(RequestValidationError)(problems.of_validation)
    app.exception_handler(FactcheckError)(problems.of_known)
    app.exception_handler(StoreError)(problems.of_store)
    app.exception_handler(Exception)(problems.of_unforeseen)
    add_checks(app, service)
    add_corpus(app, service)
    add_reviews(app, service)
    add_web(app, service)
    if upstream is not None:
        add_openai(app, service, upstream)
    add_index(app, service)
    _add_operations(app, service)
    if endpoint is not None:
        app.router.routes.append(Route("/mcp", endpoint))
    return app


def _add_operations(app: FastAPI, service: Service) -> None:
    measures = Measures()

    @app.get("/healthz")
    def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"status": "ok"}

    @app.get("/readyz")
    def ready() -> JSONResponse:
        """Whether checks are done: store and the process with the models are there."""
        try:
            service.digest()
        except FactcheckError as error:
            return problems.reply(503, str(error))
        if service.supervisor.pid is None:
            return problems.reply(503, "the process with the models is being started")
        return JSONResponse({"status": "ready"})

    @app.get("/v1/me")
    def me(caller: Annotated[Caller, Depends(caller_for(*SCOPES))]) -> dict[str, Any]:
        """Who asks, and what they may do and see."""
        may = [scope for scope in SCOPES if caller.may(scope)]
        return {
            "name": caller.name,
            "scopes": may,
            "groups": caller.groups,
            "keys": service.config.needs_key,
        }

    @app.get("/metrics", dependencies=[Depends(caller_for("admin"))])
    def metrics() -> Response:
        """Counts of checks by state, and of the worker's ends, for Prometheus."""
        text, media_type = measures.text(service.jobs.counts(), service.supervisor.ended)
        return Response(text, media_type=media_type)
