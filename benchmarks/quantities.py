"""How often quantities of a claim and a passage exclude each other, by what the passage says of it.

    python -m benchmarks.quantities [--data DATA] [--most 1500]

Reads labelled pairs: those of DATA (fever-symmetric-dev, factcheckbench-dev, fool-me-twice,
conjnli-dev), and the authored passages and sets of ``training/data`` that are not held out, as a
run reads them: title in front, tables written out. The last line counts all. What
``pipeline.relation.guard.LIKELIHOODS`` holds was counted on the first four and WiCE.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from factcheck_local.pipeline.relation.quantities import compare_quantities
from factcheck_local.pipeline.relation.tables import stated
from training.adapter.groups import LABELS, Group, authored, pairs, sets

ROOT = Path(__file__).parents[1]
OWN = ROOT / "training" / "data" / "authored"
PUBLIC = (
    "factcheckbench-dev",
    "fever-symmetric-dev",
    "train-fool-me-twice",
    "train-conjnli-dev",
)


def main() -> None:
    """Count, and print a row for each file."""
    parser = argparse.ArgumentParser(description="quantities that exclude each other")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--most", type=int, default=1500, help="pairs of a file, drawn by a seed")
    options = parser.parse_args()
    seen, excluded = Counter[str](), Counter[str]()
    print("| file | " + " | ".join(LABELS) + " |\n|---|" + "---|" * len(LABELS))
    for name, groups in files(options.data):
        own_seen, own_excluded = counted(groups, options.most)
        print(f"| {name} | " + " | ".join(f"{own_excluded[x]} of {own_seen[x]}" for x in LABELS))
        seen, excluded = seen + own_seen, excluded + own_excluded
    print(", ".join(f"{label}: {excluded[label]} / {seen[label]}" for label in LABELS))


def files(data: Path) -> Iterable[tuple[str, Sequence[Group]]]:
    """Each file with its passages and their claims."""
    for name in PUBLIC:
        path = data / "nli" / f"{name}.jsonl"
        yield name, pairs(path, held_out=False) + pairs(path, held_out=True)
    for path in sorted(OWN.glob("*.jsonl")):
        yield path.stem, authored(path, held_out=False)
    for path in sorted((OWN / "sets").glob("*.jsonl")):
        yield f"sets/{path.stem}", sets(path, held_out=False)


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


if __name__ == "__main__":
    main()
