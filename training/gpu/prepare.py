"""Write what a run on a GPU reads, as files of token ids.

    python -m training.gpu.prepare relations --base model.gguf --public DATA/nli --out relations.pt
    python -m training.gpu.prepare claims --base model.gguf --out claims.pt
    python -m training.gpu.prepare measured --base model.gguf --public DATA/nli --out measured.pt

What is held out is the same as for ``training.adapter`` and ``training.claims``. Own data are read
several times, drawn anew each time, public ones about once; each epoch of the own ones has its
part of the public ones, so a run that ends early has read both in the same shares.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import click
import torch
from transformers import AutoTokenizer

from factcheck_local.correct.replace import ADAPTED_PROMPT as CORRECT
from factcheck_local.models.chat_format import chat_format
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.relation.llm import ADAPTED_PROMPT
from factcheck_local.pipeline.relation.tables import stated
from training.adapter.groups import NUMBERS, Claim, Group
from training.adapter.measure import held_out as measured_groups
from training.adapter.mixture import AUTHORED, SETS
from training.adapter.packing import Packer, Tokenize
from training.adapter.train import DATA
from training.claims.answers import answers, drawn
from training.claims.corrections import corrections, sequences
from training.claims.packing import Packer as AnswersPacker
from training.claims.packing import Sequenced
from training.gpu.lessons import NO_LABEL, Lesson, save
from training.mixture import STATED, own_sources, public_sources, without
from training.overlap import Held

MOST_PASSAGE_TOKENS = 640
#: Of a public file: how often it is read, and the fewest claims that a premise needs.
PUBLIC = {
    "fever": (1.0, 1),
    "vitaminc": (1.0, 1),
    "train-fool-me-twice": (3.0, 1),
    "check-covid": (2.0, 1),
    "check-covid-abstract": (1.0, 1),
    "scifact": (3.0, 1),
    "infotabs": (1.0, 4),
    "tabfact": (0.5, 2),
    "contractnli": (1.0, 1),
    "factcg-doc": (1.0, 1),
    "wice-partial": (2.0, 1),
    "wanli": (0.6, 1),
    "taxinli": (0.4, 1),
    "negation-nli": (0.4, 1),
    "ambient": (0.4, 1),
}
#: Tokens of a lesson on an answer or on corrections, at most.
MOST_TOKENS = 2000


@click.group()
def main() -> None:
    """Write lessons for ``training.gpu.train``."""


@main.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--public", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--held-out", type=click.Path(exists=True, path_type=Path), multiple=True)
@click.option("--epochs", type=int, default=4, show_default=True, help="Of the own data.")
@click.option("--template", default="chatml", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def relations(
    base: Path,
    public: Path,
    own: Path,
    held_out: tuple[Path, ...],
    epochs: int,
    template: str,
    seed: int,
    out: Path,
) -> None:
    """Passages with their claims and labels."""
    rng = random.Random(seed)
    held = Held.of(held_out)
    packer = relation_packer(base, template)
    names = own_sources(own, dict.fromkeys(AUTHORED, 1.0), dict.fromkeys(SETS, 1.0))
    mine = [g for source in without(names, held) for g in source.groups]
    shares = {name: (1.0, least) for name, (_, least) in PUBLIC.items()}
    others: list[Group] = []
    for source in without(public_sources(public, shares), held):
        times = PUBLIC[source.name][0]
        while times > 0:
            others += rng.sample(list(source.groups), round(min(times, 1.0) * len(source.groups)))
            times -= 1.0
    rng.shuffle(others)
    found: list[Lesson] = []
    for epoch in range(epochs):
        here = [*mine, *others[epoch::epochs]]
        rng.shuffle(here)
        for group in here:
            drawn = group.drawn(rng)
            if rng.random() < STATED:
                drawn = replace(drawn, passage=stated(drawn.passage))
            if packer.passage_size(drawn) <= MOST_PASSAGE_TOKENS:
                found.append(of_group(drawn, packer))
    save(found, out)
    own_names = {g.source for g in mine}
    own_tokens = sum(len(x) for x in found if x.source in own_names)
    click.echo(
        f"{len(found)} lessons, {sum(map(len, found))} tokens, {own_tokens} of them own; "
        f"{sum(len(x.parts) for x in found)} claims"
    )


@main.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--epochs", type=int, default=3, show_default=True)
@click.option("--template", default="chatml", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--held-out", "wanted", is_flag=True, help="What is held out, once.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
def claims(
    base: Path, own: Path, epochs: int, template: str, seed: int, wanted: bool, out: Path
) -> None:
    """Answers with the claims of their parts, and sentences to be corrected."""
    rng = random.Random(seed)
    tokenize = tokenizer_of(base)
    packer = AnswersPacker(tokenize, chat_format(template), load_prompt("claims"))
    found: list[Lesson] = []
    for _ in range(epochs):
        lessons = [
            of_sequence(sequence, path.stem)
            for path in sorted((own / "atoms").glob("*.jsonl"))
            for answer in answers(path, held_out=wanted)
            for sequence in packer.sequences(drawn(answer, rng), most=MOST_TOKENS)
        ]
        for path in sorted((own / "corrections").glob("*.jsonl")):
            items = corrections(path, held_out=wanted)
            rng.shuffle(items)
            lessons += [
                of_sequence(sequence, path.stem)
                for sequence in sequences(
                    items,
                    tokenize=tokenize,
                    template=chat_format(template),
                    prompt=load_prompt(CORRECT),
                    most=MOST_TOKENS,
                )
            ]
        rng.shuffle(lessons)
        found += lessons
    save(found, out)
    click.echo(f"{len(found)} lessons, {sum(map(len, found))} tokens")


@main.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--public", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--dev", "devs", type=click.Path(exists=True, path_type=Path), multiple=True)
@click.option("--template", default="chatml", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def measured(
    base: Path,
    public: Path,
    own: Path,
    devs: tuple[Path, ...],
    template: str,
    out: Path,
) -> None:
    """What an adapter is measured on, with OUT.jsonl saying what each claim is."""
    packer = relation_packer(base, template)
    groups = list(measured_groups(own, public, devs, None))
    groups = [replace(g, passage=stated(g.passage)) for g in groups]
    _write(groups, packer, out)


@main.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option(
    "--pairs", "paths", type=click.Path(exists=True, path_type=Path), multiple=True, required=True
)
@click.option("--template", default="chatml", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def asked(base: Path, paths: tuple[Path, ...], template: str, out: Path) -> None:
    """Pairs without labels, as ``training.encoder.unlabelled`` writes them; see ``measured``."""
    groups = []
    for path in paths:
        by_passage: dict[tuple[str, str], dict[str, None]] = {}
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            by_passage.setdefault((row["title"], row["premise"]), {})[row["hypothesis"]] = None
        for (title, passage), texts in by_passage.items():
            found = tuple(Claim(text, "neutral") for text in texts)
            groups.append(Group(path.stem, title, passage, found))
    _write(groups, relation_packer(base, template), out)


@main.command()
@click.option("--asked", "place", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--answers", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def soft(place: Path, answers: Path, out: Path) -> None:
    """A run's answers.pt and the pairs of ``asked`` as ``encoder.train --soft`` reads them."""
    rows = [json.loads(line) for line in place.with_suffix(".jsonl").read_text().splitlines()]
    probabilities = torch.load(answers, weights_only=True)["log_p"].exp().tolist()
    if len(rows) != len(probabilities):
        raise click.BadParameter(
            f"{answers} has {len(probabilities)} pairs, {place} {len(rows)}", param_hint="--answers"
        )
    with out.open("w", encoding="utf-8") as lines:
        for row, p in zip(rows, probabilities, strict=True):
            kept = {name: row[name] for name in ("title", "premise", "hypothesis")}
            lines.write(json.dumps(kept | {"p": p}) + "\n")
    click.echo(f"{len(rows)} pairs")


def _write(groups: Sequence[Group], packer: Packer, out: Path) -> None:
    save([of_group(group, packer) for group in groups], out)
    with out.with_suffix(".jsonl").open("w", encoding="utf-8") as lines:
        for group in groups:
            for claim in group.claims:
                row = {"source": group.source, "title": group.title, "premise": group.passage}
                row |= {"hypothesis": claim.text, "label": claim.label}
                lines.write(json.dumps(row) + "\n")
    click.echo(f"{len(groups)} passages, {sum(len(g.claims) for g in groups)} claims")


def relation_packer(base: Path, template: str) -> Packer:
    """As the product asks for relations."""
    return Packer(tokenizer_of(base), chat_format(template), load_prompt(ADAPTED_PROMPT))


def tokenizer_of(base: Path) -> Tokenize:
    """A GGUF file's tokenizer; what was tokenised is kept."""
    tokenizer = AutoTokenizer.from_pretrained(base.parent, gguf_file=base.name)

    @cache
    def ids(text: str) -> tuple[int, ...]:
        return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])

    return lambda text: list(ids(text))


def of_group(group: Group, packer: Packer) -> Lesson:
    """A passage with its claims' labels."""
    shared, *parts = packer.parts(group)
    labels = [NUMBERS[claim.label] for claim in group.claims]
    return Lesson(shared, parts, [len(part) for part in parts], labels, group.source)


def of_sequence(sequence: Sequenced, source: str) -> Lesson:
    """An answer or corrections, with the replies to their parts."""
    prefix, tails = sequence
    parts, begins = [ids for ids, _ in tails], [begin for _, begin in tails]
    return Lesson(prefix, parts, begins, [NO_LABEL] * len(parts), source)


if __name__ == "__main__":
    main()
