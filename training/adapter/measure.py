r"""Measure an adapter on what was held out, and on dev files: in torch, or as it ships.

    python -m training.adapter.measure --base model.gguf --adapter RUN/state.pt --public DATA/nli \\
        --dev DATA/nli/fever-symmetric-dev.jsonl --out scores.jsonl
    python -m training.adapter.measure --model qwen2.5-coder-1.5b --public DATA/nli \\
        --dev DATA/nli/fever-symmetric-dev.jsonl --out scores.jsonl

Torch reads all claims of a passage at once, faster than llama.cpp one by one where the
processor has bfloat16, a run's adapter or an exported one; the probabilities differ by what the
quantisation of activations does there. With ``--model`` the product's own scorer reads. Scores
are written as they come and a second run with the same adapter goes on from them, so that a
figure can be computed again, or a calibration fitted, without reading.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace
from pathlib import Path

import click
import torch

from factcheck_local.models.offline import go_offline
from factcheck_local.pipeline.relation.load import load_pair_scorer, relation_card
from factcheck_local.pipeline.relation.scorer import PairScorer, Premise
from factcheck_local.pipeline.relation.tables import stated
from training.adapter.groups import Group, authored, pairs, sets
from training.adapter.mixture import AUTHORED
from training.adapter.scorer import TorchPairScorer
from training.adapter.train import DATA
from training.measures import Row, table
from training.mixture import public_file

#: Public files of which something is held out, and of how many premises.
HELD_OUT_PUBLIC = {
    "check-covid": 60,
    "scifact": 60,
    "vitaminc": 60,
    "train-fool-me-twice": 80,
    "infotabs": 25,
    "tabfact": 40,
}


def held_out(own: Path, public: Path, devs: tuple[Path, ...], limit: int | None) -> list[Group]:
    """What is measured: held-out groups and dev files, each with the file as its source.

    All are read before the first is scored: a wrong path shows at once, not after minutes.

    Args:
        own: the folder ``training/data``.
        public: as for ``mixture.sources``.
        devs: files of plain pairs, none of them trained on.
        limit: premises of a dev file, drawn by a seed; None for all.
    """
    groups: list[Group] = []
    for name in AUTHORED:
        groups += authored(own / "authored" / f"{name}.jsonl", held_out=True)
    for file in sorted((own / "authored" / "sets").glob("*.jsonl")):
        groups += sets(file, held_out=True)
    for name, count in HELD_OUT_PUBLIC.items():
        groups += pairs(public_file(public, name), held_out=True)[:count]
    for path in devs:
        dev = [*pairs(path, held_out=False), *pairs(path, held_out=True)]
        random.Random(0).shuffle(dev)
        groups += dev[:limit]
    return groups


@click.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path))
@click.option("--adapter", type=click.Path(exists=True, path_type=Path))
@click.option("--model", help="A card, read by llama.cpp; instead of --base and --adapter.")
@click.option("--public", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--dev", "devs", type=click.Path(exists=True, path_type=Path), multiple=True)
@click.option("--limit", type=int, help="Premises of each dev file.")
@click.option("--raw-tables", is_flag=True, help="Tables as they are, not written out.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--template", default="chatml", show_default=True, help="Of --base.")
@click.option("--device", default="cpu", show_default=True, help="Of torch.")
@click.option("--threads", type=int, default=2, show_default=True, help="Of torch.")
def main(
    base: Path | None,
    adapter: Path | None,
    model: str | None,
    public: Path,
    own: Path,
    devs: tuple[Path, ...],
    limit: int | None,
    raw_tables: bool,
    out: Path,
    template: str,
    device: str,
    threads: int,
) -> None:
    """Score what was held out and print AUROC, balanced accuracy and false denials by source."""
    scorer: PairScorer
    if model and not (base or adapter):
        go_offline()
        scorer = load_pair_scorer(relation_card(model, model))
    elif base and adapter and not model:
        torch.set_num_threads(threads)
        scorer = TorchPairScorer.load(base, adapter, template=template, device=device)
    else:
        raise click.UsageError("give --base and --adapter, or --model")
    known: dict[str, Row] = {}
    if out.exists():
        for line in out.read_text(encoding="utf-8").splitlines():
            row = Row(**json.loads(line))
            known[row.key] = row
    rows = []
    with out.open("a", encoding="utf-8") as lines:
        for group in held_out(own, public, devs, limit):
            text = group.passage if raw_tables else stated(group.passage)
            keys = [_key(scorer, group, text, claim.text) for claim in group.claims]
            if not all(key in known for key in keys):
                scores = scorer.score(Premise(group.title, text), [c.text for c in group.claims])
                for key, claim, score in zip(keys, group.claims, scores.tolist(), strict=True):
                    known[key] = Row(key, group.source, claim.label, score)
                    lines.write(json.dumps(known[key].as_dict()) + "\n")
                lines.flush()
            rows += [
                replace(known[key], label=claim.label)
                for key, claim in zip(keys, group.claims, strict=True)
            ]
    click.echo(table(rows))


def _key(scorer: PairScorer, group: Group, read: str, claim: str) -> str:
    text = "\0".join([scorer.id, scorer.sha256, group.source, group.title, read, claim])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
