"""Measure how answers are taken apart, on those that were held out of training.

    python -m training.claims.measure --out measured
    python -m training.claims.measure --out prompted --set atomizer=prompted

The atoms of each part are compared with the claims that people wrote for it, as
``evaluate.atoms`` does with biographies: alike from a cosine on, one to one, within a part.
Answers that were measured before are taken from the folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from factcheck_local.core.types import Answer, Kind, Span
from factcheck_local.evaluate.atoms import Biography, Row, Sentence, run, score
from factcheck_local.models.contracts import identity
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.chosen import choose
from factcheck_local.pipeline.claims.atomize.asking import KINDS
from training.claims.answers import LabelledAnswer, answers
from training.claims.train import DATA

#: In front of a claim: who or what it is of has to be looked up elsewhere. "The company car" and
#: "the city of Ghent" are names, "the company pays" is not.
_UNNAMED = re.compile(
    r"(?:it|its|he|his|she|her|they|their|this|these|those|that|the (?:former|latter)|"
    r"the (?:company|firm|organi[sz]ation|product|plan|policy|document|person|author|team|city|"
    r"film|book|album|band)(?:['’]s| (?:can|could|had|may|must|should|will|\w+ed|\w+s)))\b",
    re.IGNORECASE,
)


def names_no_subject(claim: str) -> bool:
    """Whether a claim begins with a pronoun or a bare "the company"."""
    return _UNNAMED.match(claim) is not None


def items(found: Sequence[LabelledAnswer]) -> list[Biography]:
    """Answers as ``evaluate.atoms`` compares them: parts with the claims of people."""
    return [
        Biography(
            f"answer{number}",
            Answer(answer.text, f"answer{number}", answer.asked),
            tuple(
                Sentence(
                    Span(p.segment.span.start, p.segment.span.end), p.kind == "claim", p.claims
                )
                for p in answer.parts
            ),
            "",
        )
        for number, answer in enumerate(found)
    ]


def kinds_right(found: Sequence[LabelledAnswer], rows: Sequence[Row]) -> list[bool]:
    """Of each part whether its kind is the one that it was given.

    Args:
        found: the labelled answers.
        rows: what ``evaluate.atoms.run`` found of each of them.
    """
    return [
        {Kind.FACT if kind == Kind.CLAIM else kind for kind in sentence["kinds"]}
        == {KINDS[part.kind]}
        for answer, row in zip(found, rows, strict=True)
        for part, sentence in zip(answer.parts, row["sentences"], strict=True)
    ]


@click.command()
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder.")
@click.option("--set", "assigned", multiple=True, help="NAME=VALUE, as of verify.")
@click.option("--limit", type=int, help="Answers.")
def main(own: Path, out: Path, assigned: tuple[str, ...], limit: int | None) -> None:
    """Print what of the held-out answers' claims is found, and how many atoms are theirs."""
    found = answers(own / "atoms", held_out=True)[:limit]
    checker = FactChecker(choose({}, assigned).settings)
    embedder = load_model(checker.settings.embedder, "embedder")
    rows = run(items(found), checker, embedder, out)
    result: dict[str, Any] = score(rows)
    own_atoms = [text for row in rows for s in row["sentences"] for text in s["own"]]
    kinds = kinds_right(found, rows)
    result["kinds_right"] = sum(kinds) / len(kinds)
    result["no_subject"] = sum(map(names_no_subject, own_atoms)) / max(len(own_atoms), 1)
    result["models"] = [identity(checker.llm), identity(embedder)]
    result["settings"] = checker.settings.line()
    click.echo(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
