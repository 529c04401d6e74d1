"""Thresholds of verdicts for a card, and what they do with claims that they were not fitted on.

    factcheck bench sets --data SETS --assessor fr2 --output SETS-OUT
    python -m benchmarks.thresholds SETS-OUT --alpha 0.05 --tried HANDBOOK-OUT

Reads the ``items.jsonl`` of folders that ``factcheck bench`` wrote, with claims whose labels are
verdicts, and of it the lines that the folder's summary is of: others may be of another run. Prints
the card's table with what the verdicts were made with, and for the certainty and, to compare, for
P alone: thresholds fitted on a random half of the items and tried on the other half, many times;
and those of all items on the claims of ``--tried``, which nothing was fitted on.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from factcheck_local.core.errors import FactcheckError, InputError
from factcheck_local.core.types import Verdict
from factcheck_local.evaluate.lines import FILE, read
from factcheck_local.evaluate.summary import SUMMARY
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.thresholds import LabelledClaim, fit_side, fit_thresholds

DRAWS = 200
SIDES = (Verdict.SUPPORTED, Verdict.CONTRADICTED)

#: The claims of an item.
Claims = list[LabelledClaim]


@dataclass(frozen=True, slots=True)
class Halves:
    """What thresholds of one half of the items do with the other half.

    Attributes:
        none: share of the draws without a threshold.
        wrong: share of wrong claims among those called, mean of the draws in which any is.
        kept: share of what is called without thresholds that stays called, mean of the draws
            with a threshold.
    """

    none: float
    wrong: float
    kept: float


def read_claims(folder: Path, assessor: str) -> list[Claims]:
    """The labelled claims of a bench's folder, item by item; of the run that wrote its summary.

    Raises:
        InputError: if there is none, the summary does not say which lines are its own, one is
            missing, or has no certainty.
    """
    keys = _summary(folder).get("keys")
    lines = dict(read(folder / FILE))
    if not keys or not lines.keys() >= set(keys):
        raise InputError(
            f"{folder / SUMMARY}: does not name the lines that it is of: run the bench again"
        )
    items: dict[str, Claims] = {}
    try:
        for row in map(lines.__getitem__, keys):
            if row["assessor"] == assessor:
                items[row["item"]] = [_claim(a) for a in row["atoms"] if _is_labelled(a)]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / FILE}: no lines with certainties: {error!r}") from error
    if not any(items.values()):
        raise InputError(f"{folder / FILE}: no labelled claims of {assessor}")
    return [items[name] for name in sorted(items)]  # the same draws whatever was done first


def _is_labelled(atom: Mapping[str, Any]) -> bool:
    return atom["label"] is not None and atom["probability"] is not None


def _claim(atom: Mapping[str, Any]) -> LabelledClaim:
    sure = float(atom["certainty"])
    return LabelledClaim(
        atom["probability"], sure, Verdict(atom["label"]), Verdict(atom["verdict"])
    )


def by_probability(claim: LabelledClaim) -> LabelledClaim:
    """The claim as if its certainty were that of P alone."""
    return replace(claim, certainty=max(claim.probability, 1.0 - claim.probability))


#: What thresholds may be on, by name.
RANKINGS: Mapping[str, Callable[[LabelledClaim], LabelledClaim]] = {
    "certainty": lambda claim: claim,
    "P": by_probability,
}


def _called(claims: Sequence[LabelledClaim], side: Verdict, least: float) -> list[bool]:
    """Of the claims that are called so from a threshold on, whether each is wrong."""
    return [c.label is not side for c in claims if c.may_be(side) and c.certainty >= least]


def _counts(claims: Sequence[LabelledClaim], side: Verdict, least: float) -> str:
    """Claims called from a threshold on, of those called without one; how many are wrong."""
    called = _called(claims, side, least)
    return f"{len(called)} of {len(_called(claims, side, 0.0))}, {sum(called)}"


def _flat(items: Iterable[Claims]) -> Claims:
    return [claim for item in items for claim in item]


def halves(items: Sequence[Claims], side: Verdict, alpha: float, *, draws: int = DRAWS) -> Halves:
    """Fit on a random half of the items, try on the other, ``draws`` times; seed 0."""
    draw = random.Random(0)
    none, wrong, kept = 0, [], []
    for _ in range(draws):
        order = draw.sample(list(items), len(items))
        middle = len(order) // 2
        fitted, tried = _flat(order[:middle]), _flat(order[middle:])
        found = fit_side(fitted, side, alpha).found
        if found is None:
            none += 1
            continue
        called, before = _called(tried, side, found.threshold), _called(tried, side, 0.0)
        if called:
            wrong.append(fmean(called))
        kept.append(len(called) / len(before) if before else 0.0)
    return Halves(none / draws, fmean(wrong) if wrong else 0.0, fmean(kept) if kept else 0.0)


def report(
    items: Sequence[Claims], tried: Sequence[Claims], alpha: float, *, draws: int = DRAWS
) -> Iterator[str]:
    """The table, a line a side and a way of ranking."""
    yield "| called | ranked by | halves: none | wrong | kept | all: called, wrong | tried |"
    yield "|---|---|---|---|---|---|---|"
    for side in SIDES:
        for name, ranked in RANKINGS.items():
            own = [[ranked(c) for c in item] for item in items]
            half = halves(own, side, alpha, draws=draws)
            whole = _flat(own)
            found = fit_side(whole, side, alpha).found
            cells = ["none", ""]
            if found is not None:
                others = [ranked(c) for c in _flat(tried)]
                cells = [_counts(claims, side, found.threshold) for claims in (whole, others)]
            yield (
                f"| {side.value} | {name} | {half.none:.0%} | {half.wrong:.3f} | "
                f"{half.kept:.0%} | {' | '.join(cells)} |"
            )


def card_table(claims: Sequence[LabelledClaim], alpha: float, data: str, assessor: str) -> str:
    """What a card's ``[risk."KEY"]`` holds.

    Raises:
        InputError: if no threshold will do on either side.
    """
    found = fit_thresholds(claims, alpha, data=data, assessor=assessor).thresholds
    # Rounded down, so that the claim whose certainty it is stays called.
    sides = [math.floor(x * 1e6) / 1e6 for x in (found.supported, found.contradicted)]
    return "\n".join(
        [
            f"supported = {sides[0]:.6f}",
            f"contradicted = {sides[1]:.6f}",
            f"alpha = {alpha:g}",
            f"claims = {found.claims}",
            f'data = "{data}"',
            f'assessor = "{assessor}"',
        ]
    )


def signature(folder: Path) -> str:
    """What the lines of a bench's folder were made with, as its summary says.

    Raises:
        InputError: if it has none, as where the bench did not come to its end.
    """
    made = _summary(folder)
    try:
        models = ", ".join(f"{m['id']} {m['sha256'][:8]}" for m in made["models"].values())
        return (
            f"{made['command']}: version {made['version']}, data {made['data'][:8]}, {models}, "
            f"seed {made['seed']}; {made['settings']}"
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder / SUMMARY}: no summary of a bench: {error!r}") from error


def _summary(folder: Path) -> dict[str, Any]:
    try:
        made = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / SUMMARY}: no summary of a bench: {error!r}") from error
    return made if isinstance(made, dict) else {}


def main(arguments: Sequence[str] | None = None) -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--tried", type=Path)
    parser.add_argument("--assessor", default=Settings().assessor)
    parser.add_argument("--data", default="held-out sets")
    given = parser.parse_args(arguments)
    try:
        items = [i for folder in given.folders for i in read_claims(folder, given.assessor)]
        tried = read_claims(given.tried, given.assessor) if given.tried else []
        print("\n".join(report(items, tried, given.alpha)))
        print(f"\n{card_table(_flat(items), given.alpha, given.data, given.assessor)}")
        folders = [*given.folders, *([given.tried] if given.tried else [])]
        print("\n" + "\n".join(map(signature, folders)))
    except FactcheckError as error:
        raise SystemExit(f"thresholds: {error}") from error


if __name__ == "__main__":
    main()
