"""Claims of the relation model's training passages in the words of the model that splits.

    python -m training.claims.wordings --file handbook-plain --out worded.jsonl

A relation is learned on claims as people write them and asked for claims as a model words them: "at
Ardent" somewhere, "employees of" in front, a "must" more or less. Each claim is a line of an answer
that is taken apart; one that comes back as one claim with the same numbers and denials keeps its
label. Rows are those of ``training/data/authored``. A run that was broken off goes on where it was.
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
from factcheck_local.models.contracts import Adapted, adapted_to
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.chosen import choose
from factcheck_local.pipeline.claims.atomize.asking import ADAPTED_PROMPT, ask, asked_of
from factcheck_local.pipeline.claims.atomize.consensus import likeness
from factcheck_local.pipeline.claims.atomize.parse import parse_claims
from factcheck_local.pipeline.claims.split import segment
from training.claims.train import DATA

#: Claims of one answer.
TOGETHER = 8
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
@click.option("--file", "files", multiple=True, required=True, help="Of the authored passages.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="JSON lines.")
def main(own: Path, files: tuple[str, ...], out: Path) -> None:
    """Write the passages of FILES with their claims as the splitting model words them."""
    passages = [
        json.loads(line)
        for name in files
        for line in (own / "authored" / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    done = len(out.read_text(encoding="utf-8").splitlines()) if out.exists() else 0
    llm = FactChecker(choose({}, ()).settings).llm
    model = adapted_to(llm, ADAPTED_PROMPT)
    if model is None:
        raise click.ClickException(f"{llm.id} has no adapter to take answers apart with")
    for number, row in enumerate(passages[done:], start=done + 1):
        worded = row | {"claims": list(wordings(row, model))}
        with out.open("a", encoding="utf-8") as file:
            print(json.dumps(worded, ensure_ascii=False), file=file)
        click.echo(f"{number} of {len(passages)} passages", err=True)


def wordings(row: Mapping[str, Any], model: Adapted) -> Iterator[dict[str, Any]]:
    """The claims of a passage that are worded otherwise, each as it was but for its text.

    Args:
        row: of ``training/data/authored``; whose rules it tells is what its title begins with. Of
            one that names nobody there are none.
        model: with the adapter for ``ADAPTED_PROMPT``.

    Raises:
        ScoringError: if an answer cannot be read.
    """
    whose = " ".join(_DOCUMENT.sub(" ", row["title"].partition(" > ")[0]).split())
    if not whose:
        return
    for at in range(0, len(row["claims"]), TOGETHER):
        claims = row["claims"][at : at + TOGETHER]
        texts = [" ".join(claim["text"].split()) for claim in claims]
        for claim, text, said in zip(claims, texts, _said(texts, whose, model), strict=True):
            if said is not None and said != text and _says_the_same(said, text):
                yield claim | {"text": said}


def _said(texts: Sequence[str], whose: str, model: Adapted) -> list[str | None]:
    """Of each line of an answer the one claim that a model makes of it; None if it is not one."""
    answer = asked_of(Answer("\n\n".join(texts)), whose)
    segments = segment(answer.text)
    parts = [(i, s.text) for i, s in enumerate(segments) if s.text in texts]
    found: dict[str, str | None] = {}
    for (_, text), reply in ask(parts, answer, segments, model, silent).items():
        if isinstance(reply, ScoringError):
            raise reply
        claims = parse_claims(reply.text or "") if reply.ended else []
        found[text] = claims[0] if len(claims) == 1 else None
    return [found.get(text) for text in texts]


def _says_the_same(said: str, text: str) -> bool:
    return (
        numbers(said) == numbers(text)
        and negations(said) == negations(text)
        and likeness([said], [text]) >= ALIKE
    )


if __name__ == "__main__":
    main()
