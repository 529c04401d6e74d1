"""factcheck verify: an answer against the store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, get_args

import click

from factcheck_local.commands.common import (
    StorePlace,
    as_option,
    check_writable,
    format_option,
    open_store,
    output_option,
    question_option,
    read_input,
    rerank_option,
    settings_values,
    store_option,
    where_option,
    write_report,
)
from factcheck_local.commands.progress import stage_progress
from factcheck_local.config import ASSESSORS, Settings
from factcheck_local.errors import RecordError
from factcheck_local.markov import Method
from factcheck_local.pipeline import FactChecker
from factcheck_local.queries import Queries
from factcheck_local.records import parse_input
from factcheck_local.report import to_dict
from factcheck_local.retrieve import Retrieval

BELOW, UNSCORED = 1, 3


@click.command("verify")
@click.argument("answer")
@store_option
@question_option
@click.option("--assessor", type=click.Choice(ASSESSORS), help="Which relations count; fr2.")
@click.option(
    "--relation",
    metavar="NAME",
    help="Relation model: llm, encoder, cascade, a model's name, or FAST+SLOW.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    help="Pairs that a cascade's second model may read; all that the first leaves open.",
)
@click.option("--llm", metavar="NAME", help="Model that splits and rewords; judges, too.")
@click.option("--embedder", metavar="NAME", help="The store's embedder.")
@click.option("-k", type=click.IntRange(min=1), help="Passages retrieved for a claim; 3.")
@click.option(
    "--retrieval",
    type=click.Choice(get_args(Retrieval)),
    help=f"By meaning, by words, or both; {Settings().retrieval}.",
)
@where_option
@as_option
@click.option(
    "--queries",
    type=click.Choice(get_args(Queries)),
    help="What is looked for beside the claim: nothing, the question with it, or what the LLM "
    f"writes; {Settings().queries}.",
)
@rerank_option
@click.option("--factors", type=click.Choice(["conditional", "table1"]), help="conditional.")
@click.option("--method", type=click.Choice(get_args(Method)), help="Inference; auto.")
@click.option(
    "--quantities/--no-quantities",
    default=None,
    help="Whether numbers that exclude each other weigh in; they do.",
)
@click.option("--no-cache", is_flag=True, help="Read every pair again; the scores are the same.")
@format_option
@output_option
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="PRECISION",
    help="Exit with 1 if the factual precision is below.",
)
def command(
    answer: str,
    store_path: StorePlace | None,
    question: str | None,
    form: str,
    output: Path | None,
    fail_under: float | None,
    factors: str | None,
    no_cache: bool,
    **chosen: str | int | bool | tuple[str, ...] | None,
) -> None:
    """Judge every claim of ANSWER (Markdown, text, or a record; - is stdin).

    \b
    Exit codes:
      0 done
      1 done, and the answer is below --fail-under
      2 usage or bad input
      3 done, but some claim could not be scored
    \b
    Example:
      factcheck verify answer.md --format markdown --output report.md
    """  # noqa: D301
    check_writable(output)
    records = parse_input(*read_input(answer), question=question)
    if len(records) != 1:
        raise RecordError(f"{answer}: expected one answer, got {len(records)}")
    record = records[0]
    needs_store = record.contexts is None
    store = open_store(store_path) if needs_store or store_path else None
    if store is not None and chosen["embedder"] is None:
        chosen["embedder"] = store.fingerprint.embedder.id
    try:
        settings = Settings(**settings_values(parameterisation=factors, **chosen))
        checker = FactChecker(settings, store, cache=not no_cache, progress=stage_progress())
        assessment = to_dict(checker.verify(record))
    finally:
        if store is not None:
            store.close()
    write_report(assessment, form, output)
    sys.exit(_exit_code(assessment, fail_under))


def _exit_code(assessment: dict[str, Any], fail_under: float | None) -> int:
    """What cannot be scored weighs more than a score that is too low."""
    summary = assessment["summary"]
    if summary["counts"]["unscored"]:
        return UNSCORED
    precision = summary["precision"]
    if fail_under is not None and precision is not None and precision < fail_under:
        return BELOW
    return 0
