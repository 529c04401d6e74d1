"""factcheck correct: an answer edited so that it says what the documents say."""

from __future__ import annotations

import os
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import click

from factcheck_local.cli.choosing import SettingsCommand, choose_settings, settings_options
from factcheck_local.cli.common import (
    STDIN,
    as_option,
    check_writable,
    json_option,
    k_option,
    llm_option,
    question_option,
    read_input,
    relation_option,
    replace_file,
    settings_values,
    where_option,
    write_json,
    write_utf8,
)
from factcheck_local.cli.messages import tell
from factcheck_local.cli.outcome import UNSCORED
from factcheck_local.cli.places import open_stores, stores_option
from factcheck_local.cli.progress import stage_progress
from factcheck_local.cli.stored import check_complete, warn_of_models
from factcheck_local.core.errors import InputError, RecordError
from factcheck_local.correct import Correction, Edit, Unsupported, correct, unified_diff
from factcheck_local.correct.proposal import shown
from factcheck_local.indexer.joined import ReadableStore, ReadPlace
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import (
    RECORD_SUFFIXES,
    decode_answer,
    load_json,
    parse_input,
)
from factcheck_local.pipeline.settings import GRAPH_ASSESSORS, Settings
from factcheck_local.report import SCHEMA, to_dict
from factcheck_local.report.places import answer_file
from factcheck_local.report.stored import settings_of
from factcheck_local.report.view import indented, one_line, percent

_DONE = {
    "replace": "replaced",
    "mark": "marked",
    "remove": "removed",
    "unmark": "marker taken back",
    "keep": "left as it is",
}


@click.command("correct", cls=SettingsCommand)
@click.argument("answer")
@stores_option
@question_option
@relation_option
@llm_option
@k_option
@where_option
@as_option
@click.option(
    "--unsupported",
    type=click.Choice(get_args(Unsupported)),
    default="mark",
    show_default=True,
    help="What becomes of sentences that cannot be put right.",
)
@click.option("--write", is_flag=True, help="Write the edited answer in the place of the old one.")
@json_option
@settings_options
def command(
    answer: str,
    store_path: ReadPlace | None,
    unsupported: Unsupported,
    write: bool,
    as_json: bool,
    question: str | None,
    assigned: tuple[str, ...],
    preset: str | None,
    **options: str | int | tuple[str, ...] | None,
) -> None:
    """Propose edits of ANSWER (Markdown, text, a record, or the JSON of an earlier verify).

    A contradicted sentence is rewritten by the evidence against it; the new one is verified,
    and shown only if it comes out supported. What else is not supported is marked. The patch
    goes to stdout, what it rests on in front of it, on lines that begin with #.

    \b
    Exit codes:
      0 done
      2 usage or bad input
      3 done, but some claim could not be scored; it is left as it is
    \b
    Example:
      factcheck correct answer.md > answer.patch
    """
    if write and answer == STDIN:
        raise InputError("standard input: cannot be written to")
    data, name = read_input(answer)
    stored = _stored(data, name)
    given = settings_values(question=question, preset=preset, **options)
    if stored is not None:
        if given or assigned:
            raise click.UsageError(
                "a stored run keeps its settings: expected no option that sets one"
            )
        _refuse_judge(settings_of(stored, name))
    target = _target(data, name, stored) if write else None
    check_writable(target[0] if target else None)
    if stored is None:
        assessment, found = _verify_and_correct(
            data,
            name,
            question,
            store_path,
            unsupported,
            lambda store: choose_settings(options, assigned, preset, store).settings,
        )
    else:
        assessment = stored
        found = _correct_stored(stored, name, store_path, unsupported)
        warn_of_models(name, stored["run"]["models"], found.models)
    mark = _mark(_file_of(assessment))
    patch = unified_diff(
        f"{mark}{assessment['answer']['text']}", f"{mark}{found.text}", _path_in_patch(assessment)
    )
    if as_json:
        write_json(_as_dict(assessment, found, patch))
    else:
        for line in _rests_on(assessment, found):
            write_utf8(f"# {indented(line)}\n")
        write_utf8(patch)
    if not (found.edits or found.unplaced or as_json):
        tell("nothing to correct")
    if target is not None and patch:
        _write(*target, found.text)
    sys.exit(UNSCORED if assessment["summary"]["counts"]["unscored"] else 0)


# --------------------------------------------------------------------- input


def _stored(data: bytes, name: str) -> dict[str, Any] | None:
    """The assessment that the input is; None for an answer or a record."""
    if Path(name).suffix.lower() != ".json":
        return None
    value = load_json(decode_answer(data, name), name)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        return None
    check_complete(value, name)
    return value


def _refuse_judge(settings: Settings) -> None:
    if settings.assessor not in GRAPH_ASSESSORS:
        raise InputError(f"assessor {settings.assessor}: a judge gives no evidence to correct from")


def _target(data: bytes, name: str, stored: dict[str, Any] | None) -> tuple[Path, bytes]:
    """The file that holds the answer, and its bytes, before time is spent on it."""
    if stored is None:
        if Path(name).suffix.lower() in RECORD_SUFFIXES:
            raise InputError(f"{name}: a record cannot be written to, expected Markdown or text")
        return Path(name), data
    path, text = stored["answer"]["path"], stored["answer"]["text"]
    if path is None or not Path(path).is_file():
        raise InputError(f"{name}: the answer that it is of is not there: {path}")
    there, _ = read_input(path)
    if decode_answer(there, path) != text:
        raise InputError(f"{path}: is no longer the answer that {name} is of")
    return Path(path), there


def _write(path: Path, before: bytes, text: str) -> None:
    """Put the new text in the file, unless somebody else has changed it meanwhile."""
    if path.read_bytes() != before:
        raise InputError(f"{path}: changed while it was verified, nothing was written")
    replace_file(path, f"{_mark(before)}{text}".encode())
    tell(f"written to {path}")


def _file_of(assessment: dict[str, Any]) -> bytes:
    """The file that is the answer, empty if there is none."""
    path, _, verbatim = answer_file(assessment["answer"])
    return Path(path).read_bytes() if path and verbatim and Path(path).is_file() else b""


def _mark(data: bytes) -> str:
    """The byte order mark in front of a text, which is no part of it but of its file."""
    return "\ufeff" if data.startswith(BOM_UTF8) else ""


# ------------------------------------------------------------------ the work


def _verify_and_correct(
    data: bytes,
    name: str,
    question: str | None,
    store_path: ReadPlace | None,
    unsupported: Unsupported,
    settings_for: Callable[[ReadableStore | None], Settings],
) -> tuple[dict[str, Any], Correction]:
    records = parse_input(data, name, question=question)
    if len(records) != 1:
        raise RecordError(f"{name}: expected one answer, got {len(records)}")
    store = open_stores(store_path) if records[0].contexts is None or store_path else None
    try:
        settings = settings_for(store)
        _refuse_judge(settings)
        checker = FactChecker(settings, store, progress=stage_progress())
        assessment = to_dict(checker.verify(records[0]))
        return assessment, correct(assessment, checker, unsupported=unsupported, name=name)
    finally:
        if store is not None:
            store.close()


def _correct_stored(
    assessment: dict[str, Any],
    name: str,
    store_path: ReadPlace | None,
    unsupported: Unsupported,
) -> Correction:
    """With a store its calibration counts, and its cache; it is not searched.

    Without one calibration and thresholds are the run's, which may have had a store's.
    """
    store = open_stores(store_path) if store_path else None
    models = assessment["run"]["models"]
    relation: dict[str, Any] = next((m for m in models if m["role"] == "relation"), {})
    recorded = {**relation, "risk": assessment["run"].get("risk")}
    try:
        checker = FactChecker(
            settings_of(assessment, name),
            store,
            progress=stage_progress(),
            recorded=None if store else recorded,
        )
        return correct(assessment, checker, unsupported=unsupported, name=name)
    finally:
        if store is not None:
            store.close()


# -------------------------------------------------------------------- output


def _path_in_patch(assessment: dict[str, Any]) -> str:
    """The answer's path from here, as a patch names it."""
    file, _, verbatim = answer_file(assessment["answer"])
    path = one_line(file or "answer.md")
    if not verbatim:
        # The text is that of a record's answer, which stands in no file as it is.
        path = str(Path(path).with_suffix(".md"))
    relative = os.path.relpath(path)
    return Path(path).name if relative.startswith("..") else Path(relative).as_posix()


def _rests_on(assessment: dict[str, Any], found: Correction) -> Iterator[str]:
    """What each edit is and rests on."""
    text = assessment["answer"]["text"]
    for edit in found.edits:
        line = text.count("\n", 0, edit.span.start) + 1
        yield f"line {line}, {_DONE[edit.action]}: {edit.old}"
        for claim in edit.claims:
            yield f"  {_verdict(claim)}"
            for cited in shown(assessment, claim):
                yield f"    {cited.place} ({cited.relation}): “{cited.quote}”"
        if edit.refused:
            yield f"  not replaced: {edit.refused}"
        for claim in edit.checked:
            yield f"  now {_verdict(claim)}"
    for claim in found.unplaced:
        yield f"not placed in the answer: {_verdict(claim)}"


def _verdict(claim: dict[str, Any]) -> str:
    verdict = claim["verdict"].replace("_", " ")
    return f"{verdict} {percent(claim['probability'])}: {claim['text']}"


def _as_dict(assessment: dict[str, Any], found: Correction, patch: str) -> dict[str, Any]:
    return {
        "schema": "factcheck.correction/1",
        "run": assessment["run"],
        "answer": assessment["answer"],
        "edits": [_edit(assessment, edit) for edit in found.edits],
        "unplaced": list(found.unplaced),
        "text": found.text,
        "patch": patch,
    }


def _edit(assessment: dict[str, Any], edit: Edit) -> dict[str, Any]:
    return {
        "action": edit.action,
        "start": edit.span.start,
        "end": edit.span.end,
        "old": edit.old,
        "new": edit.new,
        "refused": edit.refused,
        "claims": [
            {**_short(claim), "citations": [asdict(c) for c in shown(assessment, claim)]}
            for claim in edit.claims
        ],
        "checked": [_short(claim) for claim in edit.checked],
        "drafts": [
            {
                "text": draft.text,
                "refused": draft.reason,
                "checked": [_short(claim) for claim in draft.checked],
            }
            for draft in edit.drafts
        ],
    }


def _short(claim: dict[str, Any]) -> dict[str, Any]:
    return {key: claim[key] for key in ("id", "text", "verdict", "probability")}
