"""Assessments as a table for those who analyse: Parquet, a row a claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from factcheck_local.core.errors import InputError
from factcheck_local.report.view import quoted


def to_parquet(assessments: Sequence[dict[str, Any]]) -> bytes:
    """A file with a row for each claim, in the order of the answers.

    Args:
        assessments: what ``to_dict`` gives for each answer.

    Raises:
        InputError: if pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError(
            "the format parquet needs pyarrow", hint="pip install 'factcheck-local[scale]'"
        ) from error
    text, number = pa.string(), pa.float64()
    evidence = {"source": text, "relation": text, "probability": number, "quote": text}
    # Said, not guessed: a column that happens to be empty keeps its type.
    schema = pa.schema(
        {
            **dict.fromkeys(("answer", "question", "claim", "text", "original", "kind"), text),
            **dict.fromkeys(("start", "end"), pa.int64()),
            **{"verdict": text, "probability": number, "certainty": number, "reason": text},
            "evidence": pa.list_(pa.struct(evidence)),
            **dict.fromkeys(("signature", "started"), text),
        }
    )
    rows = [row for assessment in assessments for row in _rows(assessment)]
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema), out)
    return bytes(out.getvalue())


def _rows(assessment: dict[str, Any]) -> Iterator[dict[str, Any]]:
    answer, run = assessment["answer"], assessment["run"]
    sources = {c["id"]: c["source"] for c in assessment["contexts"]}
    for atom in assessment["atoms"]:
        same = ("text", "original", "kind", "verdict", "probability")
        yield {
            "answer": answer["path"],
            "question": answer["question"],
            "claim": atom["id"],
            **{name: atom[name] for name in same},
            "certainty": atom.get("certainty"),
            **(atom["span"] or {}),
            "reason": atom.get("reason"),
            "evidence": [
                {
                    # Another claim of the answer has no source.
                    "source": sources.get(e["context"]),
                    "relation": e["relation"],
                    "probability": e["probability"],
                    "quote": quoted(e) or None,
                }
                for e in atom["evidence"]
            ],
            "signature": run["signature"],
            "started": run["started"],
        }
