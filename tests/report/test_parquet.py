"""Parquet in and out: a row a claim of assessments, a record a row of answers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from factcheck_local.core.errors import RecordError
from factcheck_local.pipeline.claims.records import Record, parse_each, parse_input
from factcheck_local.report import to_dict
from factcheck_local.report.parquet import to_parquet
from factcheck_local.report.places import answer_file
from tests.cli.helpers import factcheck, refused

from .helpers import ALL, assessment, run


def table(data: bytes) -> Any:  # noqa: ANN401
    return pq.read_table(io.BytesIO(data))


def parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def test_a_row_a_claim(tmp_path: Path) -> None:
    made = json.loads(json.dumps(to_dict(run(assessment(*ALL)))))
    (tmp_path / "run.json").write_text(json.dumps(made))
    done = factcheck(
        *("report", tmp_path / "run.json", "--format", "parquet"),
        *("--output", tmp_path / "claims.parquet"),
    )
    assert done.code == 0, done.err
    data = (tmp_path / "claims.parquet").read_bytes()
    assert data == to_parquet([made])
    rows = table(data).to_pylist()
    assert [r["claim"] for r in rows] == [a["id"] for a in made["atoms"]]
    for row, claim in zip(rows, made["atoms"], strict=True):
        assert row["answer"] == "answer.md"
        assert (row["verdict"], row["probability"]) == (claim["verdict"], claim["probability"])
        if row["start"] is not None:
            assert made["answer"]["text"][row["start"] : row["end"]] == claim["original"]
    first = rows[0]["evidence"]
    assert [(e["source"], e["relation"]) for e in first] == [
        ("old.pdf", "contradiction"),
        ("leave.md", "entailment"),
    ]
    assert [e["quote"] for e in first] == [None, "Leave is 25 days a year."]
    evidence = made["atoms"][0]["evidence"][1]
    evidence["more_quotes"] = [evidence["quote"] | {"text": "All of it.", "start": 10**6}]
    (said,) = table(to_parquet([made])).to_pylist()[0]["evidence"][1:]
    assert said["quote"] == "Leave is 25 days a year. … All of it."
    twice = table(to_parquet([made, made]))
    assert twice.num_rows == 2 * len(rows)
    assert table(to_parquet([made | {"atoms": []}])).schema == twice.schema, "also without a row"


def test_a_record_a_row() -> None:
    contexts = [{"id": "c", "title": "T", "text": "Leave is 25 days."}]
    atoms = [{"id": "a", "text": "Leave is 25 days.", "contexts": ["c"]}]
    full = {"output": "Leave is 25 days.", "input": "How?", "atoms": atoms, "contexts": contexts}
    bare = {"output": "Pay is weekly.", "input": None, "atoms": None, "contexts": None, "more": 1}
    found = list(parse_each(parquet([full, {"output": None}, bare]), "x.parquet"))
    expected = parse_input(json.dumps(full).encode(), "x.json")[0]
    assert isinstance(found[0], Record)
    assert found[0].answer.path == "x.parquet, row 1"
    assert answer_file({"path": found[0].answer.path}) == ("x.parquet", 1, False)
    assert (found[0].atoms, found[0].contexts) == (expected.atoms, expected.contexts)
    assert found[0].answer.question == "How?"
    assert isinstance(found[1], RecordError)
    assert "x.parquet, row 2: expected 'output'" in str(found[1])
    assert isinstance(found[2], Record)
    assert (found[2].atoms, found[2].contexts) == (None, None)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" * 9, b"x" * 100, parquet([{"a": 1}])])
def test_what_is_no_table_of_records(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(data)
    line = refused("verify", tmp_path / "x.parquet")
    assert "x.parquet" in line


@pytest.mark.parametrize("command", ["verify", "atoms"])
def test_a_table_without_a_row_holds_no_answer(command: str, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(table(parquet([{"output": "Leave is 25 days."}])).slice(0, 0), path)
    assert refused(command, path) == f"{path}: holds no answer"
