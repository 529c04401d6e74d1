r"""Measure an adapter in torch on what was held out, and on dev files.

    python -m training.adapter.measure --base model.gguf --adapter RUN/state.pt --public DATA/nli \\
        --dev DATA/nli/fever-symmetric-dev.jsonl --out scores.jsonl

Torch reads all claims of a passage at once, faster than llama.cpp one by one; the
probabilities differ by what the quantisation of activations does there. Scores are
written as they come and a second run goes on from them, so that a figure can be computed
again, or a calibration fitted, without reading.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import torch

from factcheck_local.models.chat_format import chat_format
from factcheck_local.prompts import load_prompt
from factcheck_local.relate.llm import ADAPTED_PROMPT
from factcheck_local.relate.tables import stated
from training.adapter.groups import Group, authored, pairs, sets
from training.adapter.mixture import AUTHORED
from training.adapter.model import load
from training.adapter.packing import Packer
from training.adapter.train import DATA, restore
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
CLAIMS_AT_ONCE = 16


def held_out(own: Path, public: Path, devs: tuple[Path, ...], limit: int | None) -> Iterator[Group]:
    """What is measured: held-out groups and dev files, each with the file as its source.

    Args:
        own: the folder ``training/data``.
        public: as for ``mixture.sources``.
        devs: files of plain pairs, none of them trained on.
        limit: premises of a dev file, drawn by a seed; None for all.
    """
    for name in AUTHORED:
        yield from authored(own / "authored" / f"{name}.jsonl", held_out=True)
    for file in sorted((own / "authored" / "sets").glob("*.jsonl")):
        yield from sets(file, held_out=True)
    for name, count in HELD_OUT_PUBLIC.items():
        yield from pairs(public_file(public, name), held_out=True)[:count]
    for path in devs:
        groups = [*pairs(path, held_out=False), *pairs(path, held_out=True)]
        random.Random(0).shuffle(groups)
        yield from groups[:limit]


@click.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--adapter", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--public", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--dev", "devs", type=click.Path(exists=True, path_type=Path), multiple=True)
@click.option("--limit", type=int, help="Premises of each dev file.")
@click.option("--raw-tables", is_flag=True, help="Tables as they are, not written out.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--template", default="chatml", show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
def main(
    base: Path,
    adapter: Path,
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
    torch.set_num_threads(threads)
    saved = torch.load(adapter, weights_only=True)
    model = load(
        base,
        rank=saved["rank"],
        alpha=saved["alpha"],
        device=device,
        first_layer=saved["first_layer"],
    )
    restore(model, saved)
    packer = Packer(model.tokenize, chat_format(template), load_prompt(ADAPTED_PROMPT))
    known: dict[str, Row] = {}
    if out.exists():
        for line in out.read_text(encoding="utf-8").splitlines():
            row = Row(**json.loads(line))
            known[row.key] = row
    rows = []
    with out.open("a", encoding="utf-8") as lines:
        for group in held_out(own, public, devs, limit):
            read = group if raw_tables else replace(group, passage=stated(group.passage))
            for at in range(0, len(read.claims), CLAIMS_AT_ONCE):
                part = replace(read, claims=read.claims[at : at + CLAIMS_AT_ONCE])
                keys = [_key(part, claim.text) for claim in part.claims]
                if not all(key in known for key in keys):
                    scores = model.log_probabilities(packer, part).double().numpy()
                    scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
                    for key, claim, score in zip(keys, part.claims, scores.tolist(), strict=True):
                        known[key] = Row(key, part.source, claim.label, score)
                        lines.write(json.dumps(known[key].as_dict()) + "\n")
                    lines.flush()
                rows += [known[key] for key in keys]
    click.echo(table(rows))


def _key(group: Group, claim: str) -> str:
    text = "\0".join([group.source, group.title, group.passage, claim])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
