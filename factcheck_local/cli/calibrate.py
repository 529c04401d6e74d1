"""factcheck calibrate: a relation model's probabilities made honest on the user's own labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
import numpy as np

from factcheck_local.cli.choosing import choose_settings
from factcheck_local.cli.common import Number, input_name, json_lines, json_option, write_json
from factcheck_local.cli.messages import tell
from factcheck_local.cli.outcome import UNSCORED
from factcheck_local.cli.places import open_store, store_option
from factcheck_local.cli.progress import stage_progress
from factcheck_local.cli.risk import fit_risk, reset_risk
from factcheck_local.core.errors import InputError, RecordError, ScoringError
from factcheck_local.indexer.address import StorePlace
from factcheck_local.indexer.parts import CALIBRATION, RISK
from factcheck_local.indexer.store import Store
from factcheck_local.models.registry import DEFAULT_LLM
from factcheck_local.models.scoring import score_each
from factcheck_local.pipeline.relation.calibration import LABELS, fit
from factcheck_local.pipeline.relation.calibration_file import (
    StoredCalibration,
    remove_calibration,
    store_calibration,
)
from factcheck_local.pipeline.relation.load import (
    card_calibration,
    load_pair_scorer,
    relation_card,
    relation_model_of,
)
from factcheck_local.pipeline.relation.risk import read_risks, remove_risks
from factcheck_local.pipeline.relation.scorer import LogProbabilities, PairScorer, Premise
from factcheck_local.pipeline.relation.tables import written_out
from factcheck_local.pipeline.relation.validation import FOLDS, Quality, cross_validated, quality
from factcheck_local.pipeline.settings import GRAPH_ASSESSORS

#: With fewer, three parameters follow chance more than the model.
MIN_LABELS = 30

_NAMES = [label.value for label in LABELS]


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A line of the labels: a pair, and its label as an index in ``LABELS``."""

    premise: Premise
    hypothesis: str
    label: int


@click.command("calibrate")
@click.argument("labels", required=False)
@click.option(
    "--relation",
    metavar="NAME",
    help="The model; by default the LLM, with --risk what verify uses.",
)
@click.option("--llm", metavar="NAME", help=f"By default that of verify, {DEFAULT_LLM}.")
@store_option
@click.option(
    "--risk",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="ALPHA",
    help="Fit thresholds of verdicts to labelled claims instead: of those called supported at "
    "most this share is not, likewise of those called contradicted; 0.05, say.",
)
@click.option(
    "--assessor",
    type=click.Choice(GRAPH_ASSESSORS),
    help="Whose verdicts they are, for --risk; by default that of verify.",
)
@click.option(
    "--reset", is_flag=True, help="Forget the store's calibration and thresholds of this model."
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    labels: str | None,
    relation: str | None,
    llm: str | None,
    store_path: StorePlace | None,
    risk: float | None,
    assessor: str | None,
    reset: bool,
    as_json: bool,
) -> None:
    """Fit the relation model's probabilities to LABELS, for this store.

    LABELS are JSON lines of {"premise", "hypothesis", "label", "title"?}; - is
    stdin. A label is entailment, contradiction or neutral, as the premise alone
    bears on the hypothesis; 30 lines or more, of two labels or more. What is
    fitted is kept in the store and used by verify from then on. The review that
    an HTML report downloads is read as it is; its verdicts on claims are no labels
    of a pair, and are counted and passed over.

    "before" is the model as it comes; "after" is measured on pairs that the fit has
    not seen, by cross-validation.

    With --risk, LABELS are reviewed claims: review files of HTML reports, or JSON lines with
    probability, certainty and the true verdict (supported, contradicted, conflicting or
    not_found). Use claims like those you will verify, not chosen by result. The thresholds
    are kept in the store: with the same models, calibration and assessor, verify then calls
    a claim undecided whose certainty is below them. So calibrate first.

    --reset forgets calibration and thresholds of a model, also those of a cascade that it is
    in; --risk ALPHA --reset the thresholds alone.

    \b
    Exit codes:
      0 done
      2 usage or bad input; nothing is stored
      3 done, but some pairs could not be scored and were left out
    \b
    Example:
      factcheck calibrate labels.jsonl
      factcheck calibrate review.jsonl --risk 0.05
    """
    if (labels is None) == (not reset):
        raise click.UsageError("expected either LABELS or --reset")
    if assessor is not None and risk is None:
        raise click.UsageError("--assessor is for --risk")
    if assessor is not None and reset:
        raise click.UsageError("--reset forgets the thresholds of every assessor")
    options = {"relation": relation, "llm": llm, "assessor": assessor}
    with open_store(store_path) as store:
        folder = store.path
        settings = choose_settings(options, (), None, store).settings
    if risk is not None:
        model = relation_model_of(settings, store_dir=folder)
        if labels is None:
            reset_risk(folder, model, as_json=as_json)
        else:
            fit_risk(labels, risk, settings.assessor, model, folder, as_json=as_json)
        return
    rows, verdicts = ([], 0) if labels is None else _read(labels)
    card = relation_card(relation or "llm", settings.llm)
    scorer = load_pair_scorer(card, cache_dir=folder)
    if labels is None:
        _reset(folder, scorer, as_json=as_json)
        return
    log_p, gold = _score(scorer, rows)
    unscored = len(rows) - len(gold)
    _refuse_few(gold, labels)
    before = quality(card_calibration(card).apply(log_p), gold)
    after = cross_validated(log_p, gold)
    found = StoredCalibration(
        scorer=scorer.id,
        sha256=scorer.sha256,
        calibration=fit(log_p, gold),
        n=len(gold),
        ece_before=before.ece,
        ece_after=after.ece,
        date=datetime.now(UTC).date().isoformat(),
    )
    store_calibration(folder, found)
    if any(e.is_of(found.scorer, found.sha256) for e in read_risks(folder)):
        tell(
            "factcheck: the store's thresholds were fitted on another calibration and may no "
            "longer apply: factcheck calibrate --risk fits them anew",
        )
    others = {"unscored": unscored, "verdicts": verdicts}
    _show(found, _counts(gold), before, after, store, as_json=as_json, others=others)
    context.exit(UNSCORED if unscored else 0)


def _read(labels: str) -> tuple[list[_Labelled], int]:
    """The labelled pairs, and how many lines are a reviewer's verdicts on claims.

    Raises:
        InputError: if a line is malformed, naming it, or there are too few pairs.
    """
    rows = []
    verdicts = 0
    for number, row in json_lines(labels):
        if type(row) is dict and row.get("kind") == "verdict":
            verdicts += 1
            continue
        where = f"{input_name(labels)}, line {number}"
        values = [row.get(key) for key in ("premise", "hypothesis")] if type(row) is dict else []
        if not values or not all(isinstance(v, str) and v.strip() for v in values):
            raise RecordError(f"{where}: expected an object with texts 'premise' and 'hypothesis'")
        if row.get("label") not in _NAMES:
            raise RecordError(
                f"{where}: expected a label, one of {', '.join(_NAMES)}, got {row.get('label')!r}"
            )
        title = row.get("title") or ""
        if not isinstance(title, str):
            raise RecordError(f"{where}: expected 'title' to be a text, got {title!r}")
        premise = written_out(Premise(title, row["premise"]))
        rows.append(_Labelled(premise, row["hypothesis"], _NAMES.index(row["label"])))
    _refuse_few([row.label for row in rows], labels)
    return rows, verdicts


def _refuse_few(gold: list[int], labels: str) -> None:
    """Refuse labels that decide nothing, before a model is loaded for them."""
    enough = [label for label, n in Counter(gold).items() if n >= FOLDS]
    if len(gold) < MIN_LABELS or len(enough) < 2:
        found = ", ".join(f"{name} {n}" for name, n in _counts(gold).items())
        raise InputError(
            f"{input_name(labels)}: expected at least {MIN_LABELS} pairs, and {FOLDS} of each of "
            f"two labels or more, got {len(gold)}: {found}"
        )


def _counts(gold: list[int]) -> dict[str, int]:
    counts = Counter(gold)
    return {name: counts[i] for i, name in enumerate(_NAMES)}


def _score(scorer: PairScorer, rows: list[_Labelled]) -> tuple[LogProbabilities, list[int]]:
    """Log probabilities, shape (n, 3), and labels of the n pairs that could be scored."""
    by_premise: dict[Premise, list[_Labelled]] = {}
    for row in rows:
        by_premise.setdefault(row.premise, []).append(row)
    progress = stage_progress()
    found: list[LogProbabilities] = []
    gold: list[int] = []
    done = 0
    for premise, own in by_premise.items():
        ask = partial(scorer.score, premise)
        scored = score_each(ask, [row.hypothesis for row in own])
        left_out = [error for error in scored if isinstance(error, ScoringError)]
        for row, log_p in zip(own, scored, strict=True):
            if not isinstance(log_p, ScoringError):
                found.append(log_p)
                gold.append(row.label)
        if left_out:
            tell(f"factcheck: left out, {len(left_out)} of the pairs: {left_out[0]}")
        done += len(own)
        progress("calibrate", done, len(rows))
    return np.array(found, dtype=np.float64).reshape(len(found), 3), gold


def _reset(folder: Path, scorer: PairScorer, *, as_json: bool) -> None:
    there = remove_calibration(folder, scorer.id, scorer.sha256)
    risk = remove_risks(folder, scorer.id, scorer.sha256)
    if as_json:
        write_json({"scorer": scorer.id, "removed": there, "removed_thresholds": risk})
        return
    said = "removed the calibration" if there else "there is no calibration"
    click.echo(f"{said} of {scorer.id} in {folder / CALIBRATION}")
    if risk:
        click.echo(f"removed the thresholds of {scorer.id} in {folder / RISK}")


def _show(
    found: StoredCalibration,
    counts: dict[str, int],
    before: Quality,
    after: Quality,
    store: Store,
    *,
    as_json: bool,
    others: dict[str, int],
) -> None:
    """``others`` are the lines and pairs that the fit did without."""
    if after.log_loss >= before.log_loss:
        tell(
            "factcheck: on pairs it has not seen this calibration is no better than what the "
            "model comes with; more labels may help, --reset removes it",
        )
    if as_json:
        write_json(
            asdict(found)
            | {
                "labels": counts,
                **others,
                "before": asdict(before),
                "after": asdict(after),
                "store": store.place,
            }
        )
        return
    own = found.calibration
    click.echo("labels      " + ", ".join(f"{name} {n}" for name, n in counts.items()))
    if others["verdicts"]:
        click.echo(f"verdicts    {others['verdicts']} on claims, passed over")
    click.echo(f"ECE         {before.ece:.3f} before, {after.ece:.3f} after")
    click.echo(f"log loss    {before.log_loss:.3f} before, {after.log_loss:.3f} after")
    biases = ", ".join(f"{bias:+.3f}" for bias in own.bias)
    click.echo(f"calibration slope {own.slope:.3f}, bias {biases}")
    click.echo(f"stored for {found.scorer} in {store.path / CALIBRATION}")
