"""Let a teacher label pairs, for the encoder to learn from.

    python -m training.encoder.label --pairs unlabelled.jsonl --out soft.jsonl

The teacher is a relation model of the product, the default LLM with its adapter and calibration
where no other is named, without the rules on quantities: the encoder has those, too, when it is
used. A passage is read once for all of its claims. What is written is on the disk passage by
passage, and the same command goes on behind it.
"""

from __future__ import annotations

import json
import time
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from factcheck_local.models.contracts import identity
from factcheck_local.models.registry import DEFAULT_LLM
from factcheck_local.pipeline.relation import Premise, RelationModel, load_relation_model

LOG_SECONDS = 60


def passages(path: Path) -> list[tuple[Premise, list[str]]]:
    """The passages of rows ``{"title", "premise", "hypothesis"}`` with their claims, in order.

    Raises:
        click.ClickException: if a row is none of these.
    """
    try:
        rows: list[dict[str, Any]] = [
            json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
        ]
        pairs = [(Premise(row["title"], row["premise"]), row["hypothesis"]) for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise click.ClickException(f"{path}: not unlabelled pairs: {error!r}") from error
    return [
        (premise, [claim for _, claim in found])
        for premise, found in groupby(pairs, key=lambda pair: pair[0])
    ]


def label(
    found: list[tuple[Premise, list[str]]], teacher: RelationModel, out: Path, most: int | None
) -> int:
    """Write the teacher's probabilities behind what is in a file; returns the pairs written.

    Args:
        found: see ``passages``.
        teacher: gives entailment, contradiction and neutral.
        out: rows as ``encoder.train --soft`` reads them.
        most: about so many pairs in this call; None for all.
    """
    # A line that a kill cut off is written anew.
    kept = out.read_text(encoding="utf-8") if out.exists() else ""
    lines = kept[: kept.rfind("\n") + 1].splitlines(keepends=True)
    out.write_text("".join(lines), encoding="utf-8")
    rows = (json.loads(line) for line in lines)
    known = {(row["title"], row["premise"], row["hypothesis"]) for row in rows}
    written, begun = 0, time.monotonic()
    logged = begun
    with out.open("a", encoding="utf-8") as file:
        for premise, claims in found:
            open_ = [c for c in claims if (premise.title, premise.text, c) not in known]
            if not open_:
                continue
            if most is not None and written >= most:
                break
            for claim, r in zip(open_, teacher.relate(premise, open_), strict=True):
                p = [round(v, 5) for v in (r.entailment, r.contradiction, r.neutral)]
                pair = {"title": premise.title, "premise": premise.text, "hypothesis": claim}
                file.write(json.dumps({**pair, "p": p}, ensure_ascii=False) + "\n")
            file.flush()
            written += len(open_)
            if time.monotonic() - logged > LOG_SECONDS:
                logged = time.monotonic()
                click.echo(f"{written} pairs, {written / (logged - begun):.2f} a second", err=True)
    return written


@click.command()
@click.option("--pairs", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--teacher", default="llm", show_default=True, help="As of verify --relation.")
@click.option("--limit", type=click.IntRange(min=1), help="About so many pairs in this call.")
def main(pairs: Path, out: Path, teacher: str, limit: int | None) -> None:
    """Label pairs that ``training.encoder.unlabelled`` wrote."""
    found = passages(pairs)
    model = load_relation_model(teacher, default_llm=DEFAULT_LLM, quantities=False)
    written = label(found, model, out, limit)
    click.echo(f"{written} pairs labelled by {identity(model)}", err=True)


if __name__ == "__main__":
    main()
