"""Claims of the relation model's training passages in the words of the model that splits.

    python -m training.claims.wordings --out worded --file sets/manuals --file handbook-plain

A relation is learned on claims as people write them and asked for claims as a model words them: "at
Ardent" somewhere, "employees of" in front, a "must" more or less. The claims of a passage, or of a
set, are the lines of an answer that is taken apart; one that comes back as one claim with the same
numbers and denials says the same. ``training.adapter.train --wordings`` reads some of them instead.
Answers that are in the folder are not taken apart again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import silent
from factcheck_local.core.text.wording import negations, numbers
from factcheck_local.core.types import Answer
from factcheck_local.evaluate.lines import Results, key_of
from factcheck_local.models.contracts import Adapted, adapted_to, identity
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.chosen import choose
from factcheck_local.pipeline.claims.atomize.asking import ADAPTED_PROMPT, ask, asked_of
from factcheck_local.pipeline.claims.atomize.consensus import likeness
from factcheck_local.pipeline.claims.atomize.parse import parse_claims
from factcheck_local.pipeline.claims.split import segment
from training.claims.train import DATA

#: Claims of one answer.
TOGETHER = 16
#: What a title says of the document; what is left of its beginning is whose it is.
_DOCUMENT = re.compile(
    r"\b(?:the|an?|our|staff|people|employee|engineering|team|company|internal|general"
    r"|user|reader|hand ?book|guide|manual|polic(?:y|ies)|rules|docs|documentation|wiki|intranet)\b"
    r"|[^\w\s'’&.-]",
    re.IGNORECASE,
)
#: How like a claim its wording is at least; what is less like it says something else.
ALIKE = 0.6


@click.command()
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option(
    "--file", "files", multiple=True, required=True, help="Of the authored passages and sets."
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder.")
def main(own: Path, files: tuple[str, ...], out: Path) -> None:
    """Write the claims of FILES with their wordings."""
    told = [
        json.loads(line)
        for name in files
        for line in (own / "authored" / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    llm = FactChecker(choose({}, ()).settings).llm
    model = adapted_to(llm, ADAPTED_PROMPT)
    if model is None:
        raise click.ClickException(f"{llm.id} has no adapter to take answers apart with")
    known = Results(out)
    for number, row in enumerate(told, start=1):
        for claims, whose in lines_of(row):
            key = key_of({"claims": claims, "whose": whose, "model": identity(llm)})
            if key not in known:
                known.keep(key, {"claims": claims, "worded": list(wordings(claims, whose, model))})
        click.echo(f"{number} of {len(told)} passages and sets", err=True)


def lines_of(row: Mapping[str, Any]) -> Iterator[tuple[list[str], str]]:
    """The claims of a passage or a set as lines of answers, each with whose rules it tells.

    Of a row whose title names nobody there are none.
    """
    if "set" in row:
        whose = row["set"].partition(":")[0].strip()
    else:
        whose = " ".join(_DOCUMENT.sub(" ", row["title"].partition(" > ")[0]).split())
    texts = list(dict.fromkeys(" ".join(claim["text"].split()) for claim in row["claims"]))
    for at in range(0, len(texts) if whose else 0, TOGETHER):
        yield texts[at : at + TOGETHER], whose


def wordings(claims: Sequence[str], whose: str, model: Adapted) -> Iterator[str | None]:
    """Each claim as a model words it; None where it says something else or nothing otherwise.

    Args:
        claims: lines of one answer.
        whose: whose rules they tell.
        model: with the adapter for ``ADAPTED_PROMPT``.

    Raises:
        ScoringError: if the answer cannot be read.
    """
    answer = asked_of(Answer("\n\n".join(claims)), whose)
    segments = segment(answer.text)
    parts = [(i, s.text) for i, s in enumerate(segments) if s.text in claims]
    said: dict[str, list[str]] = {}
    for (_, text), reply in ask(parts, answer, segments, model, silent).items():
        if isinstance(reply, ScoringError):
            raise reply
        said[text] = parse_claims(reply.text or "") if reply.ended else []
    for claim in claims:
        match said.get(claim, []):
            case [text] if text != claim and _says_the_same(text, claim):
                yield text
            case _:
                yield None


def _says_the_same(said: str, text: str) -> bool:
    return (
        numbers(said) == numbers(text)
        and negations(said) == negations(text)
        and likeness([said], [text]) >= ALIKE
    )


if __name__ == "__main__":
    main()
