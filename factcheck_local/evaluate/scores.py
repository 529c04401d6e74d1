"""What a method's verdicts are worth: claim level, response level, segment level.

An atom counts as supported if P > ½ (FactReasoner §3.2) and the verdict is not *not found*, so
that methods compare whatever their thresholds: these, and what is a conflict, are a report's
matter (``report.schema``), and seen in the coverage. Atoms without a gold label count for
nothing; atoms that could not be scored are counted and left out of the rest. Intervals resample
whole items, since the claims of one answer are not independent. Of a single item its claims are
drawn, for measures that pool claims: such an interval says how far the figure hangs on these
claims, not how other answers would do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from factcheck_local.core.types import Verdict
from factcheck_local.evaluate.verdicts import MEASURES, Matrix, as_dict, total
from factcheck_local.metrics import (
    auroc,
    balanced_accuracy,
    bootstrap_ci,
    brier,
    ece,
    entropy,
    f1_at_k,
    factual_precision,
    hallucination_score,
    mae,
    precision_recall,
)

BINS = 10

#: To be told with figures of a single item.
ONE_ITEM = "one item: intervals draw its claims, and say nothing of other items"

Row = Mapping[str, Any]
Statistic = Callable[[Sequence[Row]], float | None]


def score(rows: Sequence[Row], *, verdicts: bool = False, seed: int = 0) -> dict[str, Any]:
    """All measures of one method.

    Args:
        rows: its lines, see ``runner.run``.
        verdicts: whether the atoms' labels are the verdicts that are expected.
        seed: of the bootstrap.

    Returns:
        ``measures``: name -> value and 95 % interval, None where undefined; counts; cost;
        ``confusion`` of the verdicts, where they are known.
    """
    atoms = [a for row in rows for a in row["atoms"]]
    k = _k(rows)
    measures: dict[str, Statistic] = dict(CLAIMS)
    if verdicts:
        measures |= VERDICTS
    segments = [s for row in rows for s in row["segments"]]
    if segments:
        measures |= SEGMENTS | _by_error(rows)
    if k:
        measures["f1_at_k"] = lambda drawn: _mean([_f1_at_k(row, k) for row in drawn])
    claims = sum(len(row["atoms"]) for row in rows)
    return {
        "items": len(rows),
        "failures": sum("failure" in row for row in rows),
        "claims": claims,
        "labelled": sum(a["gold"] is not None for a in atoms),
        "unscored": sum(a["probability"] is None for a in atoms),
        "k": k,
        "measures": {
            name: {"value": f(rows), "ci95": bootstrap_ci(_units(rows, name), f, seed=seed)}
            for name, f in measures.items()
        },
        "seconds_a_claim": sum(row.get("seconds", 0.0) for row in rows) / claims
        if claims
        else None,
        "calls_a_claim": sum(row.get("calls", 0) for row in rows) / claims if claims else None,
        **({"unscored_segments": sum(s["wrong"] is None for s in segments)} if segments else {}),
        **({"confusion": as_dict(total(rows))} if verdicts else {}),
    }


def difference(
    ours: Sequence[Row], theirs: Sequence[Row], name: str, *, seed: int = 0
) -> dict[str, Any]:
    """A measure of claims of one method minus that of another, items drawn in pairs.

    Claims that only one of the two gave a verdict on, as where the other failed, are left out:
    so many as ``left_out``.
    """
    statistic = (CLAIMS | VERDICTS)[name]
    shared = [_shared(pair) for pair in zip(ours, theirs, strict=True)]
    both = [[pair[side] for pair, _ in shared] for side in (0, 1)]

    def gap(drawn: Sequence[tuple[Row, Row]]) -> float | None:
        first, second = (statistic([p[side] for p in drawn]) for side in (0, 1))
        return None if first is None or second is None else first - second

    units = list(zip(*(_units(rows, name) for rows in both), strict=True))
    return {
        "value": gap([pair for pair, _ in shared]),
        "ci95": bootstrap_ci(units, gap, seed=seed),
        "left_out": sum(alone for _, alone in shared),
    }


def always_supported(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The lines of a method that calls everything supported: what a figure has to be read by."""
    said = {"verdict": "supported", "probability": 1.0}
    return [
        {
            **row,
            "atoms": [{**a, **said} for a in row["atoms"]],
            "segments": [{**s, "wrong": False, "unsupported": False} for s in row["segments"]],
            "seconds": 0.0,
            "calls": 0,
        }
        for row in rows
    ]


def points(rows: Sequence[Row]) -> tuple[list[float], list[bool]]:
    """Probabilities and gold labels of all atoms that have both."""
    found = [a for row in rows for a in _labelled(row)]
    return [a["probability"] for a in found], [a["gold"] for a in found]


# ------------------------------------------------------------------ statistics


def _supported(atom: Mapping[str, Any]) -> bool:
    return bool(atom["probability"] > 0.5 and atom["verdict"] != "not_found")


def _scored(row: Row) -> list[Mapping[str, Any]]:
    return [a for a in row["atoms"] if a["probability"] is not None]


def _labelled(row: Row) -> list[Mapping[str, Any]]:
    return [a for a in _scored(row) if a["gold"] is not None]


def _verdicts(rows: Sequence[Row]) -> tuple[list[bool], list[bool]]:
    atoms = [a for row in rows for a in _labelled(row)]
    return [a["gold"] for a in atoms], [_supported(a) for a in atoms]


def _f1(rows: Sequence[Row]) -> float | None:
    return precision_recall(*_verdicts(rows), positive=True).f1


def _precision(rows: Sequence[Row]) -> float | None:
    return precision_recall(*_verdicts(rows), positive=True).precision


def _recall(rows: Sequence[Row]) -> float | None:
    return precision_recall(*_verdicts(rows), positive=True).recall


def _balanced(rows: Sequence[Row]) -> float | None:
    return balanced_accuracy(*_verdicts(rows))


def _precisions(rows: Sequence[Row]) -> tuple[list[float], list[float]]:
    """Factual precision of each answer as found and as labelled, over its labelled atoms."""
    found, gold = [], []
    for own in map(_labelled, rows):
        if own:
            found.append(sum(map(_supported, own)) / len(own))
            gold.append(sum(a["gold"] for a in own) / len(own))
    return found, gold


def _mean_precision(rows: Sequence[Row]) -> float | None:
    return _mean(
        [factual_precision(sum(map(_supported, own)), len(own)) for own in map(_scored, rows)]
    )


def _entropy(rows: Sequence[Row]) -> float | None:
    return _mean([entropy([a["probability"] for a in _scored(row)]) for row in rows])


def _hallucination(rows: Sequence[Row]) -> float | None:
    return _mean([_hallucinated(own) for own in map(_scored, rows)])


def _hallucinated(atoms: Sequence[Mapping[str, Any]]) -> float | None:
    """H of one answer, by P as the precision is."""
    supported = sum(map(_supported, atoms))
    contradicted = sum(a["probability"] < 0.5 and a["verdict"] != "not_found" for a in atoms)
    return hallucination_score(contradicted, len(atoms) - supported - contradicted, len(atoms))


def _coverage(rows: Sequence[Row]) -> float | None:
    """The share of scored claims that got supported or contradicted."""
    return _mean([float(Verdict(a["verdict"]).decides) for row in rows for a in _scored(row)])


def _segments(rows: Sequence[Row], said: str) -> tuple[list[bool], list[bool]]:
    found = [s for row in rows for s in row["segments"] if s[said] is not None]
    return [s["gold"] for s in found], [s[said] for s in found]


def _answers(rows: Sequence[Row]) -> tuple[list[bool], list[bool]]:
    """Of each answer whether it is labelled and found wrong: whether a segment of it is.

    The label is of all segments, whatever a method said of them.
    """
    found = [
        (any(s["gold"] for s in row["segments"]), wrong)
        for row in rows
        if (wrong := _found_wrong(row)) is not None
    ]
    return [gold for gold, _ in found], [wrong for _, wrong in found]


def _found_wrong(row: Row) -> bool | None:
    """Whether a segment is found wrong; None where one that was not scored might have been."""
    said = [s["wrong"] for s in row["segments"]]
    if any(said):
        return True
    return None if not said or None in said else False


def _by_error(rows: Sequence[Row]) -> dict[str, Statistic]:
    """For each kind of error the share of segments with it that are found wrong."""
    kinds = {s["error"] for row in rows for s in row["segments"]} - {None}

    def of(kind: str) -> Statistic:
        def found(drawn: Sequence[Row]) -> float | None:
            own = [s for row in drawn for s in row["segments"] if s["error"] == kind]
            return _mean([float(s["wrong"]) for s in own if s["wrong"] is not None])

        return found

    return {f"recall of {kind}": of(kind) for kind in sorted(kinds)}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return fmean(known) if known else None


def _f1_at_k(row: Row, k: float) -> float | None:
    """0 for an answer without claims; None where a stage failed on all of it."""
    own = _scored(row)
    if not own and (row["atoms"] or "failure" in row):
        return None
    return f1_at_k(sum(map(_supported, own)), len(own), k)


def _k(rows: Sequence[Row]) -> float | None:
    """K: the median number of atoms over all answers (VeriScore), at least 1.

    None where there is no atom; what failed has no number.
    """
    counts = [len(row["atoms"]) for row in rows if "failure" not in row]
    return max(float(median(counts)), 1.0) if any(counts) else None


def _units(rows: Sequence[Row], name: str) -> Sequence[Row]:
    """What is drawn for a measure: items, or the claims of a single one."""
    if len(rows) != 1 or name not in POOLED:
        return rows
    return [{**rows[0], "atoms": [a]} for a in rows[0]["atoms"]]


def _shared(pair: tuple[Row, Row]) -> tuple[tuple[Row, Row], int]:
    """Two lines of an item without claims that one has no P of, and how many these are."""
    first, second = pair
    own, other = ({a["id"]: a for a in _scored(row)} for row in pair)
    both = [key for key in own if key in other]
    return (
        {**first, "atoms": [own[key] for key in both]},
        {**second, "atoms": [other[key] for key in both]},
    ), len(own) + len(other) - 2 * len(both)


CLAIMS: dict[str, Statistic] = {
    "f1": _f1,
    "precision": _precision,
    "recall": _recall,
    "balanced_accuracy": _balanced,
    "auroc": lambda rows: auroc(*points(rows)),
    "brier": lambda rows: brier(*points(rows)),
    "ece": lambda rows: ece(*points(rows), BINS),
    "mae": lambda rows: mae(*_precisions(rows)),
    "mean_precision": _mean_precision,
    "entropy": _entropy,
    "hallucination_score": _hallucination,
    "coverage": _coverage,
}


def _of_verdicts(measure: Callable[[Matrix], float | None]) -> Statistic:
    return lambda rows: measure(total(rows))


#: Those of data that say which verdict is expected.
VERDICTS: dict[str, Statistic] = {name: _of_verdicts(f) for name, f in MEASURES.items()}

#: Those that pool the claims of all items, so that it does not matter whose they are.
POOLED = frozenset(
    {
        "f1",
        "precision",
        "recall",
        "balanced_accuracy",
        "auroc",
        "brier",
        "ece",
        "coverage",
        *VERDICTS,
    }
)

#: FELM's: a segment is found wrong if a claim of it is contradicted, or, more strictly, if one
#: is not supported; one without a claim is not. An answer is, if a segment of it is.
SEGMENTS: dict[str, Statistic] = {
    "segment_f1": lambda rows: precision_recall(*_segments(rows, "wrong"), positive=True).f1,
    "segment_balanced_accuracy": lambda rows: balanced_accuracy(*_segments(rows, "wrong")),
    "segment_f1_unsupported": lambda rows: (
        precision_recall(*_segments(rows, "unsupported"), positive=True).f1
    ),
    "segment_balanced_accuracy_unsupported": lambda rows: balanced_accuracy(
        *_segments(rows, "unsupported")
    ),
    "response_f1": lambda rows: precision_recall(*_answers(rows), positive=True).f1,
    "response_balanced_accuracy": lambda rows: balanced_accuracy(*_answers(rows)),
}
