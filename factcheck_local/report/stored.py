"""An assessment that was stored as JSON, as what the pipeline takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from factcheck_local.core.errors import InputError, RecordError
from factcheck_local.core.types import Answer, Atom, Context, Kind, Span
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.settings import GRAPH_ASSESSORS, Settings, as_named_now
from factcheck_local.report.schema import SCHEMA, text_sha256

#: A method of inference that runs of earlier versions record; it is there to compare with now.
_MINI_BUCKETS = "wmb"


def checked(value: object, name: str) -> dict[str, Any]:
    """The value, if it says that it is an assessment.

    Args:
        value: parsed JSON.
        name: where it comes from, for messages.

    Raises:
        RecordError: if it is something else, or of another schema.
    """
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise RecordError(f"{name}: not an assessment of schema {SCHEMA}")
    return value


@contextmanager
def complete(name: str) -> Iterator[None]:
    """Whatever an assessment lacks within is a RecordError that names it."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise RecordError(f"{name}: not a complete assessment: {error!r}") from error


def settings_of(assessment: dict[str, Any], name: str) -> Settings:
    """The settings that a run records.

    Raises:
        RecordError: if they are not those of this version.
        InputError: if a value is none that a run can have.
    """
    with complete(name):
        if assessment["run"]["settings"].get("method") == _MINI_BUCKETS:
            raise RecordError(
                f"{name}: made with method={_MINI_BUCKETS}, weighted mini-buckets, by which no run "
                "infers any more",
                hint="verify the answer again; reports and diffs of the run are made as before",
            )
        # JSON has no tuples.
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in as_named_now(assessment["run"]["settings"]).items()
        }
        try:
            found = Settings.effective(values)
        except InputError as error:
            raise InputError(f"{name}: {error}", hint=error.hint) from error
        # Runs are put together by their settings; an object among these has no hash.
        hash(found)
        return found


def is_judged(assessment: Mapping[str, Any]) -> bool:
    """Whether the verdicts of a run are a judge's own, with no network behind them."""
    # Also those of a plugin that is not installed here.
    return as_named_now(assessment["run"]["settings"])["assessor"] not in GRAPH_ASSESSORS


def claims_of(assessment: dict[str, Any], name: str) -> Record:
    """The answer with its claims, whose contexts are still to be retrieved.

    Raises:
        RecordError: if something is missing.
    """
    with complete(name):
        answer = assessment["answer"]
        return Record(
            Answer(answer["text"], answer["path"], answer["question"]),
            tuple(_atom(row) for row in assessment["atoms"]),
        )


def input_of(assessment: dict[str, Any], name: str) -> Record:
    """What was verified, with no more made of it than was handed in.

    Raises:
        RecordError: if the run does not record that, or it is no longer what was verified.
    """
    with complete(name):
        made = assessment["run"].get("answer")
        if made is None:
            raise RecordError(f"{name}: does not record what it takes to repeat it")
        claims = claims_of(assessment, name)
        if text_sha256(claims.answer.text) != made["sha256"]:
            raise RecordError(f"{name}: its answer is not the one that was verified")
        return Record(
            claims.answer,
            claims.atoms if "atoms" in made["given"] else None,
            contexts_of(assessment, name) if "contexts" in made["given"] else None,
        )


def contexts_of(assessment: dict[str, Any], name: str) -> tuple[Context, ...]:
    """The passages of a run.

    Raises:
        RecordError: if something is missing.
    """
    with complete(name):
        return tuple(_context(row) for row in assessment["contexts"])


def _atom(row: dict[str, Any]) -> Atom:
    return Atom(
        id=row["id"],
        text=row["text"],
        original=row["original"],
        kind=Kind(row["kind"]),
        span=span_of(row["span"]),
        repeats=tuple(Span(r["start"], r["end"]) for r in row.get("repeats", ())),
        context_ids=tuple(row.get("contexts", ())),
        label=row.get("label"),
    )


def span_of(row: dict[str, int] | None) -> Span | None:
    """A span as the JSON has it; None where it has none."""
    return None if row is None else Span(row["start"], row["end"])


def _context(row: dict[str, Any]) -> Context:
    given = {key: value for key, value in row.items() if key not in ("start", "end")}
    span = Span(row["start"], row["end"]) if "start" in row else None
    return Context(**given, span=span)
