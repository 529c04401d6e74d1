"""factcheck verify: an answer against the store."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from factcheck_local.cli.answers import Unusable, answer_name, read_answers, report_names
from factcheck_local.cli.choosing import SettingsCommand, choose_settings, settings_options
from factcheck_local.cli.common import (
    StorePlace,
    as_option,
    check_writable,
    fail_on_option,
    format_option,
    k_option,
    llm_option,
    make_view,
    only_option,
    open_store,
    question_option,
    relation_option,
    store_option,
    where_option,
)
from factcheck_local.cli.messages import complain, name_language
from factcheck_local.cli.outcome import exit_code
from factcheck_local.cli.progress import answer_progress, stage_progress
from factcheck_local.cli.sinks import Sink, Stream, make_sink
from factcheck_local.cli.watch import EventLines, Watch, live_claims
from factcheck_local.core.errors import InferenceError, RecordError
from factcheck_local.core.text.language import Language
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.report import to_dict


@click.command("verify", cls=SettingsCommand)
@click.argument("answers", metavar="ANSWER...", nargs=-1, required=True)
@store_option
@question_option
@llm_option
@relation_option
@k_option
@where_option
@as_option
@format_option
@click.option("--output", type=click.Path(), help="Write here; a folder for several answers.")
@only_option
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="PRECISION",
    help="Exit with 1 if the factual precision of an answer is below.",
)
@fail_on_option
@click.option("--stream", is_flag=True, hidden=True)
@click.option("--no-cache", is_flag=True, hidden=True)
@click.option("--again", is_flag=True, hidden=True)
@settings_options
def command(
    answers: tuple[str, ...],
    store_path: StorePlace | None,
    question: str | None,
    form: str,
    only: tuple[str, ...] | None,
    output: str | None,
    again: bool,
    fail_under: float | None,
    fail_on: tuple[str, ...] | None,
    stream: bool,
    no_cache: bool,
    assigned: tuple[str, ...],
    preset: str | None,
    **options: str | int | tuple[str, ...] | None,
) -> None:
    """Judge every claim of each ANSWER (Markdown, text, or records; - is stdin).

    With several answers, or records one a line (.jsonl), --output is a folder. It gets a
    report and a JSON for each, index.html and summary.json. Run again, it verifies only what
    changed: answer, settings, models or index; with --again everything. With --no-cache every
    pair of claim and passage is read anew.

    A terminal shows each claim as it is reached; what is final comes with the report. With
    --format jsonl --stream a program gets that, and how far each stage is, as lines of JSON.

    \b
    Exit codes, the first that holds:
      2 usage or bad input; the other answers were verified
      3 done, but some claim could not be scored
      1 done, and --fail-under or --fail-on holds for an answer
      0 done
    \b
    Example:
      factcheck verify answer.md --format markdown --output report.md
      factcheck verify answers/*.md --format html --output out --fail-on contradicted
      factcheck verify answer.md --format jsonl --stream
    """
    if stream and (form != "jsonl" or output is not None):
        wrong = f"for jsonl, not for {form}" if form != "jsonl" else "to stdout, not to --output"
        raise click.UsageError(f"--stream is {wrong}")
    view = make_view(form, Path(output) if output else None, only=only, fail_on=fail_on)
    given = read_answers(answers, question)
    records = [found for found in given if isinstance(found, Record)]
    many = len(given) > 1
    if not many and isinstance(given[0], Unusable):
        raise given[0].error
    lines = EventLines() if stream else None
    sink = lines or make_sink(form, view, output, many=many, again=again)
    watch = lines or live_claims(form, output, view)
    if isinstance(sink, Stream):
        check_writable(sink.output)
    needs_store = any(record.contexts is None for record in records)
    store = open_store(store_path) if needs_store or store_path else None
    summaries: list[dict[str, Any]] = []
    failed: list[tuple[str, str]] = []
    try:
        settings = choose_settings(options, assigned, preset, store).settings
        checker = FactChecker(settings, store, cache=not no_cache, progress=stage_progress())
        _verify(given, checker, sink, watch, summaries, failed)
    except BaseException as error:
        # What ends a run amid many answers must not take the finished ones with it.
        if summaries:
            failed += [(name, _ended(error)) for name in _called(given)[len(summaries + failed) :]]
            sink.finish(failed)
        raise
    finally:
        if store is not None:
            store.close()
    sink.finish(failed)
    code = exit_code(summaries, failed=len(failed), fail_under=fail_under, fail_on=fail_on)
    sys.exit(code)


def _verify(
    given: Sequence[Record | Unusable],
    checker: FactChecker,
    sink: Sink,
    watch: Watch,
    summaries: list[dict[str, Any]],
    failed: list[tuple[str, str]],
) -> None:
    """Every answer; of many, one that fails gets its line and the others go on.

    Args:
        given: the answers.
        checker: verifies them.
        sink: takes the assessments.
        watch: is told of each answer as it is verified, and of the others.
        summaries: gets the summary of each assessment.
        failed: gets the names of the others, with the reason.
    """
    names = iter(report_names([found for found in given if isinstance(found, Record)]))
    many = len(given) > 1
    for number, (found, called) in enumerate(zip(given, _called(given), strict=True), start=1):
        if isinstance(found, Unusable):
            complain(str(found.error), found.error.hint, found.error.exit_code)
            failed.append((called, str(found.error)))
            watch.fail(number, *failed[-1])
            continue
        name = next(names)
        if many:
            answer_progress(number, len(given), called)
        try:
            on_event = watch.begin(number, called)
            assessment = sink.earlier(name, found, checker) or to_dict(
                checker.verify(found, on_event=on_event)
            )
        except (RecordError, InferenceError) as error:
            if not many:
                raise
            complain(f"{called}: {error}", error.hint, error.exit_code)
            failed.append((called, f"{called}: {error}"))
            watch.fail(number, *failed[-1])
            continue
        if language := assessment["run"]["answer"].get("language"):
            name_language(called, Language(**language))
        sink.add(name, found, assessment)
        summaries.append(assessment["summary"])


def _called(given: Sequence[Record | Unusable]) -> list[str]:
    return [f.name if isinstance(f, Unusable) else answer_name(f) for f in given]


def _ended(error: BaseException) -> str:
    """Why an answer was not reached, for the overview."""
    why = "interrupted" if isinstance(error, KeyboardInterrupt | click.Abort) else str(error)
    return f"not verified, the run ended before: {why or type(error).__name__}"
