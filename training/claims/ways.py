"""Ways in which the adapter that ships takes answers apart that people took apart, too.

    python -m training.claims.ways --out ways --limit 100

What a model gets wrong it knows best itself: of each part that states something several ways are
drawn, as ``verify`` draws them, and compared with what people wrote for it. ``training.claims.train
--ways`` learns to prefer the better one. Answers whose ways are in the folder are not taken apart
again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import silent
from factcheck_local.core.types import Answer
from factcheck_local.evaluate.lines import Results, key_of
from factcheck_local.models.contracts import Adapted, adapted_to, identity
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.chosen import choose
from factcheck_local.pipeline.claims.atomize.asking import ADAPTED_PROMPT, ask
from factcheck_local.pipeline.claims.atomize.consensus import likeness
from factcheck_local.pipeline.claims.atomize.one_pass import uncited
from factcheck_local.pipeline.claims.atomize.parse import parse_claims
from training.claims.answers import LabelledAnswer, answers, drawn
from training.claims.train import DATA


@click.command()
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A folder.")
@click.option("--file", "files", multiple=True, help="Of the answers; all where none is given.")
@click.option("--draws", type=int, default=5, show_default=True, help="Beside the likeliest way.")
@click.option("--limit", type=int, help="Answers.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(
    own: Path, out: Path, files: tuple[str, ...], draws: int, limit: int | None, seed: int
) -> None:
    """Write how the model takes answers apart that were not held out, and how well."""
    llm = FactChecker(choose({}, ()).settings).llm
    model = adapted_to(llm, ADAPTED_PROMPT)
    if model is None:
        raise click.ClickException(f"{llm.id} has no adapter to take answers apart with")
    rng, atoms = random.Random(seed), own / "atoms"
    found = [
        drawn(answer, rng)
        for path in ([atoms / f"{name}.jsonl" for name in files] or sorted(atoms.glob("*.jsonl")))
        for answer in answers(path, held_out=False)
    ]
    rng.shuffle(found)
    known = Results(out)
    for number, answer in enumerate(found[:limit], start=1):
        about = {
            "question": answer.question,
            "organisation": answer.organisation,
            "answer": answer.text,
        }
        labelled = [(p.segment.text, p.claims) for p in answer.parts]
        made_by = {"parts": labelled, "draws": draws, "model": identity(llm)}
        key = key_of(about | made_by)
        if key not in known:
            known.keep(key, about | {"parts": list(ways_of(answer, model, draws))})
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
            "span": [part.segment.span.start, part.segment.span.end],
            "claims": part.claims,
            "ways": ways,
        }


if __name__ == "__main__":
    main()
