"""Ways in which the adapter that ships takes answers apart that people took apart, too.

    python -m training.claims.ways --out ways.jsonl --limit 100

What a model gets wrong it knows best itself: of each part that states something several ways are
drawn, as ``verify`` draws them, and compared with what people wrote for it. ``training.claims.train
--ways`` learns to prefer the better one. A run that was broken off goes on where it was.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import silent
from factcheck_local.core.types import Answer
from factcheck_local.models.contracts import Adapted, adapted_to, identity
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.chosen import choose
from factcheck_local.pipeline.claims.atomize.asking import ADAPTED_PROMPT, ask
from factcheck_local.pipeline.claims.atomize.consensus import likeness
from factcheck_local.pipeline.claims.atomize.one_pass import uncited
from factcheck_local.pipeline.claims.atomize.parse import parse_claims
from training.claims.answers import LabelledAnswer, answers, drawn
from training.claims.train import DATA

#: Answers from organisations' documents, as those that are verified.
FILES = ("addressed", "context", "handbooks", "roles", "products", "staff", "internal")


@click.command()
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="JSON lines.")
@click.option("--file", "files", multiple=True, default=FILES, show_default=True)
@click.option("--draws", type=int, default=5, show_default=True, help="Beside the likeliest way.")
@click.option("--limit", type=int, help="Answers.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(
    own: Path, out: Path, files: tuple[str, ...], draws: int, limit: int | None, seed: int
) -> None:
    """Write how the model takes answers apart that were not held out, and how well."""
    rng = random.Random(seed)
    found = [
        drawn(answer, rng)
        for name in files
        for answer in answers(own / "atoms" / f"{name}.jsonl", held_out=False)
    ]
    rng.shuffle(found)
    done = len(out.read_text(encoding="utf-8").splitlines()) if out.exists() else 0
    llm = FactChecker(choose({}, ()).settings).llm
    model = adapted_to(llm, ADAPTED_PROMPT)
    if model is None:
        raise click.ClickException(f"{llm.id} has no adapter to take answers apart with")
    for number, answer in enumerate(found[:limit], start=1):
        if number <= done:
            continue
        row = {
            "question": answer.question,
            "organisation": answer.organisation,
            "answer": answer.text,
            "parts": list(ways_of(answer, model, draws)),
            "model": identity(model),
        }
        with out.open("a", encoding="utf-8") as file:
            print(json.dumps(row, ensure_ascii=False), file=file)
        click.echo(f"{number} of {len(found[:limit])} answers", err=True)


def ways_of(answer: LabelledAnswer, model: Adapted, draws: int) -> Iterator[dict[str, Any]]:
    """Of each part of an answer that states something the ways that a model takes it apart.

    Args:
        answer: as people took it apart.
        model: with the adapter for ``ADAPTED_PROMPT``.
        draws: how many ways beside the likeliest.

    Raises:
        ScoringError: if the answer cannot be read.
    """
    stating = [(i, part) for i, part in enumerate(answer.parts) if part.claims]
    replies = ask(
        [(i, uncited(part.segment.text)) for i, part in stating],
        Answer(answer.text, question=answer.asked),
        [part.segment for part in answer.parts],
        model,
        silent,
        draws=draws,
    )
    for (_, part), reply in zip(stating, replies.values(), strict=True):
        if isinstance(reply, ScoringError):
            raise reply
        texts = [reply.text] if reply.ended and reply.text is not None else []
        ways = [
            {"text": text, "likeness": likeness(parse_claims(text), part.claims)}
            for text in dict.fromkeys((*texts, *reply.drawn))
        ]
        yield {
            "headings": part.segment.headings,
            "text": part.segment.text,
            "claims": part.claims,
            "ways": ways,
        }


if __name__ == "__main__":
    main()
