"""The events of a run as JSON: what ``verify --stream`` writes, a line each."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from factcheck_local.pipeline.events import (
    ClaimReached,
    Event,
    RunFinished,
    StageAdvanced,
    StageBegun,
)
from factcheck_local.report.schema import atom_to_dict, context_to_dict, json_schema, to_dict

EVENT_SCHEMA = "factcheck.event/1"

#: The JSON Schema of what is made here, in this package; it refers to that of assessments.
EVENT_SCHEMA_FILE = "event.schema.json"


def event_to_dict(event: Event, *, answer: str | None = None, number: int = 1) -> dict[str, Any]:
    """An event as plain values, in the order in which they are written.

    Args:
        event: of a kind that ``pipeline.events`` has.
        answer: where the answer was read from.
        number: of the answer among several, from 1.

    Raises:
        TypeError: for an event of another kind.
    """
    if isinstance(event, StageBegun):
        return _event(answer, number, "stage", stage=event.stage)
    if isinstance(event, StageAdvanced):
        said = {"stage": event.stage, "done": event.done, "count": event.count}
        return _event(answer, number, "progress", **said)
    if isinstance(event, ClaimReached):
        return _event(
            answer,
            number,
            "claim",
            provisional=True,
            done=event.done,
            count=event.count,
            claim=atom_to_dict(event.claim),
            contexts=[context_to_dict(c) for c in event.contexts],
        )
    if isinstance(event, RunFinished):
        return finished_event(to_dict(event.run), answer=answer, number=number)
    raise TypeError(f"expected an event of a run, got {type(event).__name__}")


def finished_event(
    assessment: dict[str, Any], *, answer: str | None = None, number: int = 1
) -> dict[str, Any]:
    """The last event of an answer that was verified; see ``event_to_dict``.

    Args:
        assessment: what ``to_dict`` gives.
        answer: see ``event_to_dict``.
        number: likewise.
    """
    return _event(answer, number, "assessment", assessment=assessment)


def failed_event(error: str, *, answer: str | None = None, number: int = 1) -> dict[str, Any]:
    """The last event of an answer that could not be verified; see ``event_to_dict``."""
    return _event(answer, number, "failed", error=error)


def event_json_schema() -> str:
    """The JSON Schema (draft 2020-12) of an event, as text, with that of assessments inside."""
    file = resources.files(__package__).joinpath(EVENT_SCHEMA_FILE)
    schema = json.loads(file.read_text(encoding="utf-8"))
    schema["$defs"] = {"assessment": json.loads(json_schema())}
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def _event(answer: str | None, number: int, kind: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"schema": EVENT_SCHEMA, "answer": answer, "number": number, "event": kind, **fields}
