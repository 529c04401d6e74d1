"""What each choice of the network is worth, from passages to verdicts.

    python -m benchmarks.network_choices --relation encoder
    python -m benchmarks.network_choices --relation llm --assessor fr1,fr2 --strong 0.5,0.7
    python -m benchmarks.network_choices --handbook corpora/handbook --relation encoder

Pairs are read once and kept in the folder's store; then every combination of the settings makes
its networks and verdicts from them. Choose on sets that are held out from training, or on others
than those that figures are given for; the handbook is for reporting, nothing is to be chosen on it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.network_cases import NetworkCase, cases
from benchmarks.network_grid import (
    GRID,
    Choice,
    alone,
    difference,
    judged,
    settings_of,
    sorted_by_three,
    sum_of,
)
from benchmarks.network_tables import head, line, measures_of, signature, signed, title
from factcheck_local.core.errors import FactcheckError
from factcheck_local.evaluate.collection import Collection
from factcheck_local.evaluate.data import handbook, sets
from factcheck_local.evaluate.runner import corpus
from factcheck_local.evaluate.verdicts import MEASURES, as_dict
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.settings import Settings

SETS = Path(__file__).parent.parent / "training" / "data" / "authored" / "sets"

Value = TypeVar("Value")


def main() -> None:
    """Print the tables, write all combinations as JSON."""
    go_offline()
    options = _options()
    grid = {name: getattr(options, name) for name in GRID}
    try:
        collection = collection_of(options)
        out = options.out or Path("out") / "network-choices" / collection.name
        base = Settings(relation=options.relation, llm=options.llm)
        result = _measured(collection, base, grid, out, rows=options.rows, seed=options.seed)
    except FactcheckError as error:
        sys.exit(f"network_choices: {error}")
    print(to_markdown(result))
    (out / "choices.json").write_text(json.dumps(result, indent=1) + "\n")


def _measured(
    collection: Collection,
    base: Settings,
    grid: Mapping[str, Sequence[Any]],
    out: Path,
    *,
    rows: int,
    seed: int,
) -> dict[str, Any]:
    embedder = load_model(base.embedder, "embedder")
    most = replace(
        base,
        assessor=max(grid["assessor"]),
        k=max(grid["k"]),
        retrieval=grid["retrieval"][-1],
    )
    with corpus(collection, embedder, out) as store:
        checker = FactChecker(base, store, embedder=embedder)
        found = list(cases(collection.items, checker, most))
        return compared(collection, checker, found, grid, rows=rows, seed=seed)


def compared(
    collection: Collection,
    checker: FactChecker,
    found: Sequence[NetworkCase],
    grid: Mapping[str, Sequence[Any]],
    *,
    rows: int,
    seed: int,
) -> dict[str, Any]:
    """What each combination of a grid, and each choice alone, is worth.

    Args:
        collection: the items' data.
        checker: with the settings that are no choice.
        found: the items with what was read for them.
        grid: values by setting.
        rows: how many of the best combinations get intervals; 0 for all.
        seed: of the intervals.
    """
    base = checker.settings
    single = judged(found, [base, *alone(base, grid)])
    choices = sorted_by_three(judged(found, settings_of(base, grid)))
    models = {"relation": checker.relation_model, "embedder": checker.embedder}
    made_with = signed("network_choices", collection, base, models, seed=seed)
    default, others = single[0], single[1:]
    shown = choices if rows == 0 else choices[:rows]
    return made_with.as_dict() | {
        "items": len(found),
        "claims": int(sum_of(default.counts).sum()),
        "default": _row(default, seed) | {"confusion": as_dict(sum_of(default.counts))},
        "alone": [_row(c, seed, against=default) for c in others],
        "choices": [_row(c, seed if c in shown else None) for c in choices],
        "shown": len(shown),
    }


def _row(choice: Choice, seed: int | None, *, against: Choice | None = None) -> dict[str, Any]:
    """A choice with its measures; with intervals where there is a seed for them."""
    row: dict[str, Any] = {
        **choice.varied(),
        "measures": measures_of(choice, seed),
    }
    if against is not None and seed is not None:
        row["changed"] = {n: v for n, v in choice.varied().items() if v != against.varied()[n]}
        row["difference"] = {n: difference(choice, against, n, seed) for n in MEASURES}
    return row


def to_markdown(result: Mapping[str, Any]) -> str:
    """The tables: the default, each choice alone, and the best combinations."""
    lines = [*title(result), "", "The default, and each choice alone as a difference to it:", ""]
    lines += [head(["choice"])]
    default = result["default"]
    lines += [line(["default"], default["measures"])]
    for row in result["alone"]:
        changed = ", ".join(f"{name} {value}" for name, value in row["changed"].items())
        lines.append(line([changed], row["difference"], as_difference=True))
    lines += ["", f"Best {result['shown']} of {len(result['choices'])} combinations:", ""]
    lines += [head(list(GRID))]
    lines += [
        line([str(row[name]) for name in GRID], row["measures"])
        for row in result["choices"][: result["shown"]]
    ]
    return "\n".join([*lines, "", signature(result)])


def collection_of(options: argparse.Namespace) -> Collection:
    """The sets or the handbook that options name."""
    if options.handbook is not None:
        return handbook.load(options.handbook)
    return sets.load(options.data, held_out=sets.FOLDS[options.fold])


def listed(kind: Callable[[str], Value], name: str) -> Callable[[str], tuple[Value, ...]]:
    """Reads a comma-separated list of values of a setting; what no run can use is refused."""

    def parse(text: str) -> tuple[Value, ...]:
        values = tuple(kind(part) for part in text.split(","))
        for value in values:
            if isinstance(value, str) and value not in GRID[name]:
                raise argparse.ArgumentTypeError(f"expected {', '.join(GRID[name])}, got {value!r}")
            try:
                Settings(**{name: value})  # type: ignore[arg-type]
            except FactcheckError as error:
                raise argparse.ArgumentTypeError(str(error)) from error
        return values

    return parse


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=SETS, help="sets, a file or folder")
    parser.add_argument("--fold", choices=list(sets.FOLDS), default="held-out")
    parser.add_argument("--handbook", type=Path, help="a corpus with labelled answers instead")
    parser.add_argument("--relation", default=Settings().relation)
    parser.add_argument("--llm", default=Settings().llm)
    parser.add_argument("--out", type=Path, help="keeps what was read; out/network-choices/NAME")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=20, help="combinations shown; 0 for all")
    for name, values in GRID.items():
        kind: Any = type(values[0])
        parser.add_argument(
            "-k" if name == "k" else f"--{name.replace('_', '-')}",
            dest=name,
            type=listed(kind, name),
            default=values,
            metavar="VALUE,...",
            help=f"by default {','.join(map(str, values))}",
        )
    return parser.parse_args()


if __name__ == "__main__":
    main()
