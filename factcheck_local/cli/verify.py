"""factcheck verify: an answer against the store."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from factcheck_local.cli.answers import Unusable, read_answers
from factcheck_local.cli.choosing import (
    SettingsCommand,
    choose_settings,
    refuse_idle,
    settings_options,
)
from factcheck_local.cli.common import (
    Number,
    as_option,
    check_writable,
    fail_on_option,
    format_option,
    k_option,
    llm_option,
    make_view,
    only_option,
    question_option,
    refuse_overwriting,
    relation_option,
    where_option,
)
from factcheck_local.cli.many import Run, by_workers, here, told
from factcheck_local.cli.many import together as read_together
from factcheck_local.cli.messages import tell
from factcheck_local.cli.outcome import exit_code
from factcheck_local.cli.places import stores_option
from factcheck_local.cli.progress import stage_progress
from factcheck_local.cli.sinks import Folder, Stream, make_sink
from factcheck_local.cli.watch import EventLines, Watch, live_claims
from factcheck_local.cli.workers import workers_option
from factcheck_local.indexer.folder import find_store
from factcheck_local.indexer.joined import ReadPlace, open_place
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.settings import OF_SEARCH, OF_SPLITTING
from factcheck_local.scale.cluster import check_installed
from factcheck_local.scale.worker import Plan


@click.command("verify", cls=SettingsCommand)
@click.argument("answers", metavar="ANSWER...", nargs=-1, required=True)
@stores_option
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
    type=Number(0, 1),
    metavar="PRECISION",
    help="Exit with 1 if the factual precision of an answer is below.",
)
@fail_on_option
@click.option("--stream", is_flag=True, hidden=True)
@click.option("--no-cache", is_flag=True, hidden=True)
@click.option("--again", is_flag=True, hidden=True)
@workers_option
@click.option("--together", type=click.IntRange(min=1), default=1, hidden=True)
@settings_options
def command(
    answers: tuple[str, ...],
    store_path: ReadPlace | None,
    question: str | None,
    form: str,
    only: tuple[str, ...] | None,
    output: str | None,
    again: bool,
    workers: str | None,
    together: int,
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

    With --together N the claims of N answers are read at a time, a passage once for all of them;
    their reports come together.

    With --workers ray the answers are shared out to a worker per GPU, or per machine, with
    --workers ray://HOST:PORT to those of a cluster.

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
    if stream and together > 1:
        raise click.UsageError("--stream tells of one answer after the other: leave --together out")
    sink = lines or make_sink(form, view, output, many=many, again=again)
    watch = lines or live_claims(form, output, view)
    if workers is not None:
        if not isinstance(sink, Folder):
            raise click.UsageError("--workers needs --output FOLDER")
        check_installed()
    run = Run(given, sink, Watch() if workers else watch)
    if isinstance(sink, Stream):
        check_writable(sink.output)
        refuse_overwriting([sink.output] if sink.output else [], answers)
    if isinstance(sink, Folder):
        sink.tells = workers is None
        refuse_overwriting(sink.targets(name for name, _ in run.records.values()), answers)
    needs_store = any(record.contexts is None for record in records)
    place = store_path or (find_store(Path.cwd()) if needs_store else None)
    store = open_place(place) if place else None
    try:
        chosen = choose_settings(options, assigned, preset, store)
        settings = chosen.settings
        if records and not needs_store:
            refuse_idle(chosen, OF_SEARCH, "the answers bring their passages")
        if records and all(record.atoms is not None for record in records):
            refuse_idle(chosen, OF_SPLITTING, "the answers bring their claims")
        if isinstance(sink, Folder):
            sink.begin()
        try:
            if workers is None:
                checker = FactChecker(
                    settings, store, cache=not no_cache, progress=stage_progress()
                )
                some = together > 1 and many
                run.gather(read_together(run, checker, together) if some else here(run, checker))
            else:
                plan = Plan(settings, place, Path.cwd(), cache=not no_cache)
                run.gather(by_workers(run, workers, plan, together))
        except BaseException as error:
            # What ends a run of many answers takes no finished one with it, and leaves none out.
            if many:
                run.finish(error)
            raise
    finally:
        if store is not None:
            store.close()
    run.finish()
    if workers is not None and isinstance(sink, Folder):
        for line in told(run, sink.summary):
            tell(line)
    code = exit_code(
        list(run.summaries.values()), failed=len(run.failed), fail_under=fail_under, fail_on=fail_on
    )
    sys.exit(code)
