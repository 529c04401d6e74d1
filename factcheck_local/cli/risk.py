"""What ``factcheck calibrate --risk`` does: thresholds of verdicts from labelled claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from factcheck_local.cli.common import input_name, json_lines, write_json
from factcheck_local.cli.messages import tell
from factcheck_local.core.errors import InputError, RecordError
from factcheck_local.core.types import Verdict
from factcheck_local.indexer.parts import RISK
from factcheck_local.metrics import fewest_called
from factcheck_local.pipeline.relation import RelationModel, describe
from factcheck_local.pipeline.relation.risk import StoredRisk, remove_risks, store_risk
from factcheck_local.pipeline.verdicts.thresholds import Fitted, LabelledClaim, Side, fit_thresholds
from factcheck_local.report.schema import ASSUMPTION

#: What a person may say of a claim, and what says nothing.
_LABELS = ("supported", "contradicted", "conflicting", "not_found")
_NO_LABEL = (None, "unclear")


def fit_risk(
    labels: str, alpha: float, assessor: str, model: RelationModel, folder: Path, *, as_json: bool
) -> None:
    """Fit thresholds to labelled claims, keep them in the store, and say what they promise.

    Args:
        labels: a file of labelled claims.
        alpha: the share of the claims called supported, or contradicted, that are not.
        assessor: whose P and certainty the claims have.
        model: the relation model that it is from, as the store calibrates it.
        folder: of the store.
        as_json: whether JSON is written.

    Raises:
        InputError: if a line is malformed, naming it, or no threshold will do.
        StoreError: if the store's thresholds are damaged.
    """
    claims, unlabelled = _read(labels)
    date = datetime.now(UTC).date().isoformat()
    data = f"own labels, {date}"
    try:
        fitted = fit_thresholds(claims, alpha, data=data, assessor=assessor)
    except InputError as error:
        raise InputError(f"{input_name(labels)}: {error}") from error
    entry = StoredRisk(model.id, model.sha256, describe(model), fitted.thresholds, date)
    store_risk(folder, entry)
    if as_json:
        write_json(_as_dict(entry, fitted, unlabelled))
        return
    _show(fitted, alpha, unlabelled)
    click.echo(f"stored for {model.id} and {assessor} in {folder / RISK}")


def reset_risk(folder: Path, model: RelationModel, *, as_json: bool) -> None:
    """Forget the thresholds of a relation model, of every assessor."""
    there = remove_risks(folder, model.id, model.sha256)
    if as_json:
        write_json({"relation": model.id, "removed_thresholds": there})
        return
    said = "removed the thresholds" if there else "there are no thresholds"
    click.echo(f"{said} of {model.id} in {folder / RISK}")


def _read(labels: str) -> tuple[list[LabelledClaim], int]:
    """The labelled claims, and how many lack a P, a certainty or a label.

    What several reviewers say of one claim of a run counts once, and as no label where they
    differ: the promise is for claims that were drawn one by one.

    Raises:
        RecordError: if a line is malformed, naming it.
    """
    said: dict[object, list[LabelledClaim]] = {}
    unlabelled = 0
    for number, row in json_lines(labels):
        if type(row) is dict and row.get("kind") == "relation":
            continue
        try:
            claim = _claim(row)
        except ValueError as error:
            raise RecordError(f"{input_name(labels)}, line {number}: {error}") from error
        if claim is None:
            unlabelled += 1
        else:
            said.setdefault(_of_run(row) or number, []).append(claim)
    agreed = [own[0] for own in said.values() if len({claim.label for claim in own}) == 1]
    return agreed, unlabelled + len(said) - len(agreed)


def _of_run(row: Mapping[str, object]) -> tuple[str, str] | None:
    """Which claim of which run a line is of; None if it does not say."""
    run, claim = row.get("run"), row.get("claim")
    return (run, claim) if isinstance(run, str) and isinstance(claim, str) else None


def _claim(row: object) -> LabelledClaim | None:
    """A line's claim; None if it has no P or certainty, or nobody says what is true of it.

    A line of a review has the run's verdict, and the reviewer's word beside it.

    Raises:
        ValueError: if it is malformed.
    """
    if not isinstance(row, dict) or not {"probability", "certainty", "verdict"} <= set(row):
        raise ValueError("expected an object with 'probability', 'certainty' and 'verdict'")
    reviewed = "reviewed" in row
    label = row["reviewed"] if reviewed else row["verdict"]
    if not (label is None or isinstance(label, str)) or label not in (*_LABELS, *_NO_LABEL):
        raise ValueError(f"expected one of {', '.join(_LABELS)}, got {label!r}")
    probability, certainty = (_in_unit(row, name) for name in ("probability", "certainty"))
    if reviewed and row["verdict"] not in list(Verdict):
        raise ValueError(f"expected a verdict of a run, got {row['verdict']!r}")
    if probability is None or certainty is None or label in _NO_LABEL:
        return None
    verdict = Verdict(row["verdict"]) if reviewed else None
    return LabelledClaim(probability, certainty, Verdict(label), verdict)


def _in_unit(row: Mapping[str, object], name: str) -> float | None:
    """A line's number in [0, 1]; None if it says that there is none.

    Raises:
        ValueError: if it is something else.
    """
    value = row[name]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"expected a {name} in [0, 1], got {value!r}")
    return float(value)


def _as_dict(entry: StoredRisk, fitted: Fitted, unlabelled: int) -> dict[str, Any]:
    def side(found: Side) -> Mapping[str, Any]:
        counts = {"called": found.found.called, "wrong": found.found.wrong} if found.found else {}
        return {"possible": found.possible, "called": None, "wrong": None} | counts

    return asdict(entry) | {
        "unlabelled": unlabelled,
        "supported": side(fitted.supported),
        "contradicted": side(fitted.contradicted),
        "coverage": fitted.coverage,
        "coverage_before": fitted.coverage_before,
        "assumption": ASSUMPTION,
    }


def _show(fitted: Fitted, alpha: float, unlabelled: int) -> None:
    own = fitted.thresholds
    click.echo(
        f"claims       {own.claims}, and {unlabelled} without a label, a probability or a certainty"
    )
    sides = (
        ("supported", own.supported, fitted.supported),
        ("contradicted", own.contradicted, fitted.contradicted),
    )
    for name, threshold, side in sides:
        if side.found is None:
            click.echo(f"{name:12} no threshold, and nothing is promised of it")
            tell(
                f"factcheck: {name}: {side.possible} claims could be called so; it takes at least "
                f"{fewest_called(alpha)} of which none is wrong, or more with few wrong ones",
            )
            continue
        click.echo(
            f"{name:12} certainty from {threshold:.4f}: {side.found.called} of the "
            f"{side.possible} that could be, {side.found.wrong} of them wrong"
        )
    click.echo(
        f"coverage     {fitted.coverage:.2f} of the claims get one of both, "
        f"{fitted.coverage_before:.2f} without thresholds"
    )
    named = [name for name, _, side in sides if side.found]
    each = " each" if len(named) > 1 else ""
    click.echo(
        f"promise      of the claims called {' and '.join(named)} at most {100 * alpha:g} %{each} "
        f"are not, on average over sets of labels, if {ASSUMPTION}"
    )
