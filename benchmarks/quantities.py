"""How often quantities of a claim and a passage exclude each other, by what the passage says of it.

    python -m benchmarks.quantities [--data DATA] [--most 1500]

Reads labelled pairs of three kinds: public ones of DATA, the authored passages of
``training/data``, and its sets, without what is held out of training. They are read as in a
run: title in front, tables written out. The last line is the mean of the three kinds' shares,
each weighing the same, which is what ``pipeline.relation.guard.LIKELIHOODS`` holds: public claims
are plain and mostly false where a number differs, many of the authored ones are true by a step of
thought, and use has both.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from factcheck_local.pipeline.relation.quantities import compare_quantities
from factcheck_local.pipeline.relation.tables import stated
from training.adapter.groups import LABELS, Group, authored, pairs, sets
from training.mixture import public_file

ROOT = Path(__file__).parents[1]
OWN = ROOT / "training" / "data" / "authored"
#: Dev data, which nothing is trained on: read whole.
DEV = ("factcheckbench-dev", "fever-symmetric-dev", "train-conjnli-dev")
PUBLIC = (
    "train-fool-me-twice",
    "fever",
    "vitaminc",
    "infotabs",
    "tabfact",
    "scifact",
    "check-covid",
    "contractnli",
)


def main() -> None:
    """Count, and print a row for each file."""
    parser = argparse.ArgumentParser(description="quantities that exclude each other")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--most", type=int, default=1500, help="pairs of a file, drawn by a seed")
    options = parser.parse_args()
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    excluded: dict[str, Counter[str]] = defaultdict(Counter)
    print("| file | " + " | ".join(LABELS) + " |\n|---|" + "---|" * len(LABELS))
    for kind, name, groups in files(options.data):
        own_seen, own_excluded = counted(groups, options.most)
        print(f"| {name} | {_cells(own_excluded, own_seen)} |")
        seen[kind] += own_seen
        excluded[kind] += own_excluded
    for kind in seen:
        print(f"| all of {kind} | {_cells(excluded[kind], seen[kind])} |")
    means = [
        sum(excluded[kind][label] / seen[kind][label] for kind in seen) / len(seen)
        for label in LABELS
    ]
    print("mean share: " + ", ".join(f"{x} {p:.4f}" for x, p in zip(LABELS, means, strict=True)))


def files(data: Path) -> Iterable[tuple[str, str, Sequence[Group]]]:
    """Each file with its kind, its passages and their claims."""
    nli = data / "nli"
    for name in DEV:
        path = nli / f"{name}.jsonl"
        yield "public", name, [*pairs(path, held_out=False), *pairs(path, held_out=True)]
    for name in PUBLIC:
        yield "public", name, pairs(public_file(nli, name), held_out=False)
    for path in sorted(OWN.glob("*.jsonl")):
        yield "authored", path.stem, authored(path, held_out=False)
    for path in sorted((OWN / "sets").glob("*.jsonl")):
        yield "sets", f"sets/{path.stem}", sets(path, held_out=False)


def counted(groups: Iterable[Group], most: int) -> tuple[Counter[str], Counter[str]]:
    """Pairs by label, and those of them with quantities that exclude each other."""
    drawn = [(group, claim) for group in groups for claim in group.claims]
    random.Random(1).shuffle(drawn)
    seen, excluded = Counter[str](), Counter[str]()
    for group, claim in drawn[:most]:
        text = stated(group.passage)
        passage = f"{group.title}.\n{text}" if group.title else text
        seen[claim.label] += 1
        excluded[claim.label] += compare_quantities(passage, claim.text).n_mismatched > 0
    return seen, excluded


def _cells(excluded: Counter[str], seen: Counter[str]) -> str:
    return " | ".join(f"{excluded[x]} of {seen[x]}" for x in LABELS)


if __name__ == "__main__":
    main()
