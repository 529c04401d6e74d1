"""Whatever is sent, no route answers with an error of the server, and none without a key."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck_local.serve.app import create_app
from factcheck_local.serve.routes_web import PAGES
from factcheck_local.serve.service import Config

from .conftest import SETTINGS, service_of

#: Cases of each route; `make fuzz` tries more.
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "20"))

any_text = st.text(st.characters(codec="utf-8"), max_size=40)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)
atoms = st.fixed_dictionaries({"id": any_json, "text": any_json}, optional={"contexts": any_json})
records = st.fixed_dictionaries(
    {"output": any_json},
    optional={"input": any_json, "atoms": st.lists(atoms | any_json, max_size=3) | any_json}
    | {"contexts": any_json},
)
named = st.sampled_from(["k", "where", "relation", "method", "strong", "assessor", "rerank", "llm"])
checks = st.fixed_dictionaries(
    {},
    optional={
        "answer": any_json,
        "question": any_json,
        "record": records | any_json,
        "name": any_json,
        "settings": st.dictionaries(named | any_text, any_json, max_size=3) | any_json,
    },
)
searches = st.fixed_dictionaries(
    {"query": any_json}, optional={"k": any_json, "retrieval": any_json, "where": any_json}
)
ids = st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=20)
queries = st.dictionaries(
    st.sampled_from(["state", "before", "limit", "wait", "since", "q"]),
    st.integers().map(str) | any_text,
)


words = st.fixed_dictionaries({"verdict": any_json}, optional={"reason": any_json})
folders = st.fixed_dictionaries({"folder": st.just("house") | any_json})


class Request(NamedTuple):
    """What is sent."""

    method: str
    path: str
    body: object = None
    query: dict[str, str] | None = None


def reading(path: st.SearchStrategy[str], *methods: str) -> st.SearchStrategy[Request]:
    return st.builds(
        Request, st.sampled_from(methods or ("GET", "HEAD", "PUT")), path, st.none(), queries
    )


def posting(
    path: st.SearchStrategy[str], body: st.SearchStrategy[object]
) -> st.SearchStrategy[Request]:
    wait = st.dictionaries(st.just("wait"), st.just("0") | any_text)
    return st.builds(Request, st.just("POST"), path, body | any_json, wait)


def of_id(path: str) -> st.SearchStrategy[str]:
    return st.builds(path.format, ids, ids)


ROUTES = {
    "checks": posting(st.just("/v1/checks"), checks),
    "list": reading(st.just("/v1/checks")),
    "check": reading(of_id("/v1/checks/{}"), "GET", "DELETE", "HEAD", "PUT"),
    "events": reading(of_id("/v1/checks/{}/events")),
    "report": reading(of_id("/v1/checks/{}/report.{}") | of_id("/v1/checks/{}/report.md")),
    "review": posting(of_id("/v1/checks/{}/claims/{}/review"), words),
    "reviews": reading(of_id("/v1/checks/{}/reviews")),
    "all reviews": reading(st.sampled_from(["/v1/reviews", "/v1/reviews.jsonl"])),
    "again": reading(of_id("/v1/checks/{}/again"), "POST"),
    "changes": reading(of_id("/v1/checks/{}/changes")),
    "who and conflicts": reading(st.sampled_from(["/v1/me", "/v1/conflicts"])),
    "search": posting(st.just("/v1/search"), searches),
    "passage": reading(of_id("/v1/passages/{}") | st.just("/v1/sources")),
    "index": posting(st.just("/v1/index"), folders),
    "job": reading(of_id("/v1/index/{}") | st.just("/v1/index"), "GET", "DELETE", "HEAD"),
    "job's events": reading(of_id("/v1/index/{}/events")),
    "elsewhere": reading(ids.map("/{}".format), "GET", "POST", "DELETE", "OPTIONS"),
}


@pytest.fixture(scope="module")
def servers(
    indexed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[TestClient, TestClient]]:
    """One that is open to all, and one that asks for keys."""
    place = tmp_path_factory.mktemp("any")
    shutil.copytree(indexed, place / "at")
    config = Config(
        place / "at" / ".factcheck",
        place / "data",
        SETTINGS,
        hosts=frozenset({"testserver"}),
        queue=10**9,
        per_minute=1e9,
        folders={"house": str(place / "at" / "docs")},
    )
    guarded = replace(config, folder=place / "guarded", needs_key=True)
    with (
        TestClient(create_app(config, worker=False), raise_server_exceptions=False) as one,
        TestClient(create_app(guarded, worker=False), raise_server_exceptions=False) as other,
    ):
        yield one, other


@pytest.mark.parametrize("route", list(ROUTES))
def test_no_request_is_an_error_of_the_server(
    servers: tuple[TestClient, TestClient], route: str
) -> None:
    open_to_all, guarded = servers

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(ROUTES[route])
    def one(request: Request) -> None:
        method, path, body, query = request
        sent = {} if body is None else {"json": body}
        try:
            answered = open_to_all.request(method, path, params=query, **sent)  # type: ignore[arg-type]
        except ValueError:
            return  # no such JSON, or no such address, can be sent
        assert answered.status_code < 500, answered.text
        if answered.status_code >= 400 and method != "HEAD":
            assert answered.headers["content-type"] == "application/problem+json"
            assert answered.json()["status"] == answered.status_code
        refused = guarded.request(method, path, params=query, **sent)  # type: ignore[arg-type]
        # The page's shell holds nothing of anybody's.
        shell = method == "GET" and refused.request.url.path in PAGES
        assert (refused.status_code == 200) if shell else (400 <= refused.status_code < 500)

    one()
    service = service_of(guarded)
    assert service.jobs.counts() == service.indexing.counts() == {}


def test_no_route_is_left_out(servers: tuple[TestClient, TestClient]) -> None:
    """Each path of the OpenAPI document is that of a request above."""
    paths = set(servers[0].get("/openapi.json").json()["paths"])
    told = Path(__file__).read_text()
    for path in paths - {"/healthz", "/readyz", "/metrics"}:
        assert re.sub(r"{\w+}", "{}", path) in told, path
