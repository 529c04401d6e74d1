"""Measure how sentences are corrected, on those that were held out of training.

    python -m training.claims.measure_corrections --out corrected

The product's own rewriting with all that it believes or not; its second verification is left
out. A sentence is right if it stands as people wrote it, marks and case aside, and one that
needs no correction, or has none in its source, if it stays. What was measured before is taken
from the folder.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from factcheck_local.core.text.wording import normalised
from factcheck_local.correct.edits import Refused
from factcheck_local.correct.replace import Wrong, drafts
from factcheck_local.evaluate.lines import Results, key_of
from factcheck_local.models.contracts import TextGenerator, identity
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.chosen import choose
from training.claims.corrections import LabelledCorrection, corrections
from training.claims.train import DATA


def outcome(item: LabelledCorrection, draft: str | Refused) -> str:
    """``right``, ``refused`` where it should have changed, or ``wrong``."""
    has_to_change = item.corrected and normalised(item.corrected) != normalised(item.sentence)
    if isinstance(draft, Refused):
        return "refused" if has_to_change else "right"
    return "right" if normalised(draft) == normalised(item.corrected) else "wrong"


def measured(item: LabelledCorrection, generator: TextGenerator) -> dict[str, Any]:
    """What becomes of one sentence."""
    wrong = Wrong(item.sentence, item.quote, item.title, item.passage)
    draft = next(drafts(item.sentence, [wrong], generator, before=item.before))
    return {
        "kind": item.kind,
        "outcome": outcome(item, draft),
        "sentence": item.sentence,
        "wanted": item.corrected,
        "text": None if isinstance(draft, Refused) else draft,
        "refused": draft.reason if isinstance(draft, Refused) else None,
    }


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How many came out how, in all and for each kind of error."""
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        kinds[row["kind"]][row["outcome"]] += 1
    change = [row for row in rows if row["kind"] != "already-right" and row["wanted"]]
    return {
        "items": len(rows),
        "to_change": len(change),
        "to_change_right": sum(row["outcome"] == "right" for row in change),
        "wrong": sum(row["outcome"] == "wrong" for row in rows),
        "kinds": {kind: dict(count) for kind, count in sorted(kinds.items())},
    }


@click.command()
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder.")
@click.option("--set", "assigned", multiple=True, help="NAME=VALUE, as of verify.")
@click.option("--limit", type=int, help="Sentences.")
def main(own: Path, out: Path, assigned: tuple[str, ...], limit: int | None) -> None:
    """Print how many of the held-out sentences come out as they should stand."""
    settings = choose({}, assigned).settings
    llm = load_model(settings.llm, "llm")
    results = Results(out)
    rows = []
    for item in corrections(own / "corrections", held_out=True)[:limit]:
        key = key_of({"item": repr(item), "llm": identity(llm)})
        rows.append(results.get(key, partial(measured, item, llm)))
    found = summary(rows) | {"model": identity(llm), "settings": settings.line()}
    click.echo(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
