"""What ``factcheck bench`` is about: its data, what results are called, the line to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from factcheck_local.evaluate.collection import Collection
from factcheck_local.evaluate.data import factcheckbench, felm, handbook, record, sets, wice

NAMES = ("factcheckbench", "wice", "felm", "handbook", "sets", "record", "factor", "factscore")

#: Those whose claims have evidence of their own, and those whose claims can be split otherwise.
ORACLES, SPLIT = ("factcheckbench", "wice", "felm"), ("felm", "wice")

#: Those that compare assessors.
COMPARED = tuple(name for name in NAMES if name not in ("factor", "factscore"))

#: Data that a checkout of the package has.
OWN = {"handbook": Path("corpora/handbook"), "sets": Path("training/data/authored/sets")}


def own_data(name: str) -> Path:
    """The data of a benchmark that come with a checkout, seen from the working directory.

    Raises:
        click.UsageError: if there are none, or they are not there.
    """
    path = OWN.get(name)
    if path is None:
        raise click.UsageError(f"{name}: expected --data, the data's file or folder")
    if not path.exists():
        raise click.UsageError(f"{path}: not here; expected --data, or the folder of a checkout")
    return path


def check_options(
    name: str, *, assessors: bool, oracle: bool, claims: str, fold: str | None
) -> None:
    """Refuse an option that changes nothing on a benchmark.

    Raises:
        click.UsageError: naming it, and those that it is for.
    """
    for option, given, of in (
        ("--assessor", assessors, COMPARED),
        ("--oracle", oracle, ORACLES),
        ("--claims pipeline", claims != "given", SPLIT),
        ("--fold", fold is not None, ("sets",)),
    ):
        if given and name not in of:
            raise click.UsageError(f"{option} is for {', '.join(of)}, not for {name}")


def called(name: str, *, oracle: bool, fold: str | None) -> str:
    """The benchmark and which part or form of its data, as results are called."""
    if name == "sets" and fold not in (None, "held-out"):
        return f"sets-{fold}"
    return f"{name}-oracle" if oracle else name


def collection_of(
    name: str, data: Path, *, oracle: bool, pipeline: bool, fold: str | None
) -> Collection:
    """The data of a benchmark that assessors are compared on.

    Raises:
        RecordError: if they cannot be read or are not as expected.
    """
    if name == "factcheckbench":
        return factcheckbench.load(data, oracle=oracle)
    if name == "wice":
        return wice.load(data, oracle=oracle, pipeline=pipeline)
    if name == "felm":
        return felm.load(data, oracle=oracle, pipeline=pipeline)
    if name == "sets":
        return sets.load(data, held_out=sets.FOLDS[fold or "held-out"])
    return handbook.load(data) if name == "handbook" else record.load(data)


def command_line(
    name: str,
    data: Path,
    assessors: Sequence[str],
    oracle: bool,
    claims: str,
    seed: int,
    chosen: Mapping[str, str | int | Sequence[str] | None],
) -> str:
    """What makes the figures again, on one line.

    The data go by their name, and by the digest beside it: where they lie is this machine's.
    """
    parts = ["factcheck", "bench", name, "--data", data.name or str(data)]
    parts += [part for a in assessors for part in ("--assessor", a)]
    parts += ["--oracle"] * oracle + ["--claims", claims] * (claims != "given")
    for option, value in chosen.items():
        if value is not None:
            each = [str(value)] if isinstance(value, str | int) else value
            parts += [p for v in each for p in ("-k" if option == "k" else f"--{option}", v)]
    parts += ["--seed", str(seed)] if seed else []
    return shlex.join(parts)
