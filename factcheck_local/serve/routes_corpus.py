"""Routes of the corpus: search, sources, passages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, FastAPI

from factcheck_local.serve.access import Caller
from factcheck_local.serve.requests import SearchRequest
from factcheck_local.serve.service import Service, caller_for

Searching = Annotated[Caller, Depends(caller_for("search"))]


def add_corpus(app: FastAPI, service: Service) -> None:
    """Add the routes."""

    @app.post("/v1/search")
    def find(body: SearchRequest, caller: Searching) -> dict[str, Any]:
        """The passages that a query finds, each with its place, prior and similarity."""
        return {"passages": service.search(body, caller)}

    @app.get("/v1/sources")
    def sources(caller: Searching) -> dict[str, Any]:
        """The sources with their priors, and the rule that each is from."""
        return {"sources": service.sources(caller)}

    @app.get("/v1/passages/{passage_id}")
    def passage(passage_id: str, caller: Searching) -> dict[str, Any]:
        """A passage with its place and prior."""
        return service.passage(passage_id, caller)
