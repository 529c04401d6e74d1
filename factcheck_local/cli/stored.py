"""Stored assessments as the commands read and write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from factcheck_local.cli.common import read_input
from factcheck_local.cli.messages import tell
from factcheck_local.core.errors import RecordError
from factcheck_local.pipeline.claims.records import decode_answer, load_json
from factcheck_local.report.diff import compare
from factcheck_local.report.many_answers import SUMMARY_SCHEMA
from factcheck_local.report.stored import checked, claims_of, complete, contexts_of, settings_of


def read_json(name: str) -> tuple[Any, str]:
    """The JSON in a file, or on stdin for ``-``, and what to call it.

    Raises:
        InputError: if it cannot be read.
        RecordError: if it is no JSON.
    """
    data, called = read_input(name)
    return load_json(decode_answer(data, called), called), called


def is_summary(value: object) -> bool:
    """Whether parsed JSON is the summary in a folder of several answers."""
    return isinstance(value, dict) and value.get("schema") == SUMMARY_SCHEMA


def read_run(name: str) -> dict[str, Any]:
    """The assessment in a file, or on stdin for ``-``.

    Raises:
        InputError: if it cannot be read.
        RecordError: if it is no assessment.
    """
    return checked(*read_json(name))


def check_complete(assessment: dict[str, Any], name: str) -> None:
    """Refuse an assessment that lacks what a repetition needs, before a model is loaded.

    Args:
        assessment: what ``read_run`` gives.
        name: of its file.

    Raises:
        RecordError: if something is missing or does not fit.
        InputError: if a setting is none that a run can have.
    """
    claims = claims_of(assessment, name)
    settings_of(assessment, name)
    contexts_of(assessment, name)
    with complete(name):
        compare(assessment, assessment)
        assessment["summary"]["counts"]["unscored"]
    for field, value in asdict(claims.answer).items():
        if not isinstance(value, str) and (value is not None or field == "text"):
            raise RecordError(
                f"{name}: expected the answer's {field} to be a text, got {value!r:.40}"
            )
    length = len(claims.answer.text)
    for atom in claims.atoms or ():
        if any(span.end > length for span in (atom.span, *atom.repeats) if span):
            raise RecordError(f"{name}: claim {atom.id} stands beyond the end of the answer")


def warn_of_models(name: str, old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> None:
    """Name on stderr the models whose files are not those of a past run.

    Args:
        name: of the run.
        old: the models that it records.
        new: those of a run that repeats some of it.
    """
    before = {model["role"]: model for model in old}
    for model in new:
        was = before.get(model["role"], model)
        if was["sha256"] != model["sha256"]:
            tell(
                f"factcheck: {name}: the {model['role']} model is {model['id']}, sha256 "
                f"{model['sha256']}; in the run it was {was['id']}, sha256 {was['sha256']}",
            )
