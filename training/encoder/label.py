"""Let a teacher label pairs, for the encoder to learn from.

    python -m training.encoder.label --pairs unlabelled.jsonl --out soft

The teacher is a relation model of the product, the default LLM with its adapter and calibration
where no other is named, without the rules on quantities: the encoder has those, too, when it is
used. A passage is read once for all of its claims. Pairs that are in the folder already are not
read again, so the same command goes on where it was ended.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from factcheck_local.evaluate.lines import FILE, Results, key_of
from factcheck_local.models.contracts import identity
from factcheck_local.models.registry import DEFAULT_LLM
from factcheck_local.pipeline.relation import Premise, RelationModel, load_relation_model


def label(pairs: Path, teacher: RelationModel, out: Path) -> int:
    """Keep the teacher's probabilities of each pair; returns how many were not there.

    Args:
        pairs: rows ``{"title", "premise", "hypothesis"}``, those of one passage in a row.
        teacher: gives entailment, contradiction and neutral.
        out: a folder; its lines are what ``encoder.train --soft`` reads.
    """
    known, new = Results(out), 0
    with pairs.open(encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for (title, text), of_it in groupby(rows, key=lambda row: (row["title"], row["premise"])):
        keyed = {key_of({"pair": row, "teacher": identity(teacher)}): row for row in of_it}
        open_ = {key: row for key, row in keyed.items() if key not in known}
        asked = [row["hypothesis"] for row in open_.values()]
        found = teacher.relate(Premise(title, text), asked) if asked else []
        for (key, row), r in zip(open_.items(), found, strict=True):
            p = [round(v, 5) for v in (r.entailment, r.contradiction, r.neutral)]
            known.keep(key, {**row, "p": p})
        new += len(found)
    return new


@click.command()
@click.option("--pairs", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder.")
@click.option("--teacher", default="llm", show_default=True, help="As of verify --relation.")
def main(pairs: Path, out: Path, teacher: str) -> None:
    """Label pairs that ``training.encoder.unlabelled`` wrote."""
    model = load_relation_model(teacher, default_llm=DEFAULT_LLM, quantities=False)
    new = label(pairs, model, out)
    click.echo(f"{out / FILE}: {new} more pairs, labelled by {identity(model)}", err=True)


if __name__ == "__main__":
    main()
