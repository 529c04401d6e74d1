"""The JSON Schema that is shipped: says what assessments are like, and lets nothing else pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from factcheck_local import report
from factcheck_local.cli import many
from factcheck_local.core.types import Kind, RelationLabel, Verdict
from factcheck_local.report import json_schema, to_dict
from factcheck_local.report.schema import SCHEMA
from tests.cli.helpers import factcheck

from .helpers import ALL, assessment, run
from .worlds import verified

VALIDATOR = jsonschema.Draft202012Validator(json.loads(json_schema()))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)
    assert VALIDATOR.schema["properties"]["schema"] == {"const": SCHEMA}


def test_it_knows_every_verdict_kind_and_relation() -> None:
    known = VALIDATOR.schema["$defs"]
    assert known["verdict"]["enum"] == [v.value for v in Verdict]
    assert known["atom"]["properties"]["kind"]["enum"] == [k.value for k in Kind]
    assert known["label"]["enum"] == [x.value for x in RelationLabel]


@pytest.mark.parametrize("assessor", ["fr1", "fr2", "fr3", "fr4"])
def test_assessments_pass(assessor: str) -> None:
    VALIDATOR.validate(verified(assessor=assessor))


def test_what_tests_make_is_checked_as_it_is_made() -> None:
    """See ``tests/conftest.py``: commands and tests alike have the one that checks."""
    assert report.to_dict is vars(many)["to_dict"] is to_dict
    odd = replace(assessment(*ALL), notes=(3,))  # type: ignore[arg-type]  # what a schema is for
    with pytest.raises(jsonschema.ValidationError):
        to_dict(run(odd))


def drop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    def change(value: Any) -> None:  # noqa: ANN401
        for key in path[:-1]:
            value = value[key]
        del value[path[-1]]

    return change


def put(new: Any, *path: str | int) -> Callable[[dict[str, Any]], None]:  # noqa: ANN401
    def change(value: Any) -> None:  # noqa: ANN401
        for key in path[:-1]:
            value = value[key]
        value[path[-1]] = new

    return change


@pytest.mark.parametrize(
    "change",
    [
        drop("summary", "counts", "supported"),
        drop("atoms", 0, "verdict"),
        drop("contexts", 0, "prior"),
        put("true", "atoms", 0, "verdict"),
        put(1.5, "atoms", 0, "probability"),
        put(-1, "atoms", 0, "span", "start"),
        put(1, "contexts", 0, "prior"),
        put("?", "relations", 0, "relation"),
        put("x", "extra"),
        put("x", "atoms", 0, "extra"),
        put("factcheck.assessment/2", "schema"),
    ],
)
def test_what_is_otherwise_does_not_pass(change: Callable[[dict[str, Any]], None]) -> None:
    value = json.loads(json.dumps(verified()))
    VALIDATOR.validate(value)
    change(value)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(value)


def test_the_command_prints_it() -> None:
    done = factcheck("report", "--schema")
    assert (done.code, done.err) == (0, "")
    assert done.out == json_schema()
