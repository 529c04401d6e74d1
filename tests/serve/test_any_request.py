"""Whatever is sent, no route answers with an error of the server, and none without a key."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck_local.serve.routes_web import PAGES

from .conftest import service_of

#: Cases of each route; `make fuzz` tries more.
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "60"))

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
    st.sampled_from(["state", "before", "limit", "wait"]), st.integers().map(str) | any_text
)


@pytest.fixture(scope="module")
def anything() -> st.SearchStrategy[tuple[str, str, object, dict[str, str]]]:
    """Method, path, body and query of a request."""
    paths = ["", "/events", "/report.md", "/report.html", "/report."]
    of_check = st.tuples(ids, st.sampled_from(paths)).map(lambda t: f"/v1/checks/{t[0]}{t[1]}")
    reading = st.tuples(
        st.sampled_from(["GET", "DELETE", "HEAD", "PUT"]),
        of_check
        | ids.map("/v1/passages/{}".format)
        | st.just("/v1/checks")
        | ids.map("/{}".format),
        st.none(),
        queries,
    )
    posting = st.tuples(
        st.just("POST"),
        st.just("/v1/checks"),
        checks | any_json,
        st.dictionaries(st.just("wait"), st.just("0") | any_text),
    )
    searching = st.tuples(st.just("POST"), st.just("/v1/search"), searches | any_json, st.just({}))
    return st.one_of(reading, posting, searching)


def test_no_request_is_an_error_of_the_server(
    serve: Callable[..., TestClient],
    anything: st.SearchStrategy[tuple[str, str, object, dict[str, str]]],
) -> None:
    open_to_all = serve(queue=10**9, per_minute=1e9)
    guarded = serve(queue=10**9, per_minute=1e9, needs_key=True)
    guarded_before = service_of(guarded).jobs.counts()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(anything)
    def one(request: tuple[str, str, object, dict[str, str]]) -> None:
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
        shell = refused.request.url.path in PAGES
        assert (refused.status_code == 200) if shell else (400 <= refused.status_code < 500)

    one()
    assert service_of(guarded).jobs.counts() == guarded_before == {}
