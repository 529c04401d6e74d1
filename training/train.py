"""Fine-tune a sentence-embedding base as a three-way NLI encoder, on a CPU.

    python -m training.train --base DIR --layers 8 --out RUN --hours 1.5 a.jsonl b.jsonl:2

Rows are ``{"premise", "hypothesis", "label"}``. A file's number is how often an
epoch draws each of its pairs. The run stops after ``--hours`` of training, the
learning rate falling to zero over the last fifth, and writes RUN/model, a
transformers checkpoint. It saves its state every ten minutes; the same command
resumes from it.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

LABELS = ("entailment", "contradiction", "neutral")

#: Padded tokens of a batch; longer pairs make smaller batches.
BATCH_TOKENS = 2048
#: Pairs sorted by length together, so that a batch holds little padding.
POOL_PAIRS = 1024
SAVE_SECONDS = 600
LOG_STEPS = 50


@dataclass(frozen=True, slots=True)
class Pair:
    """A labelled pair; ``label`` is an index of ``LABELS``."""

    premise: str
    hypothesis: str
    label: int


def read_pairs(spec: str) -> list[Pair]:
    """Pairs of ``path`` or ``path:times``; a fraction draws that share of them."""
    path, _, times = spec.partition(":")
    with Path(path).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    pairs = [Pair(r["premise"], r["hypothesis"], LABELS.index(r["label"])) for r in rows]
    whole, part = divmod(float(times or 1), 1)
    random.Random(0).shuffle(pairs)
    return pairs * int(whole) + pairs[: int(part * len(pairs))]


def batches(
    pairs: Sequence[Pair], tokenizer: Any, max_tokens: int, seed: int
) -> Iterator[tuple[dict[str, torch.Tensor], torch.Tensor]]:
    """Endless batches of nearly equal length, shuffled anew in every epoch."""
    epoch = 0
    while True:
        order = list(pairs)
        rng = random.Random(seed + epoch)
        rng.shuffle(order)
        for at in range(0, len(order), POOL_PAIRS):
            pool = order[at : at + POOL_PAIRS]
            ids = tokenizer(
                [p.premise for p in pool],
                [p.hypothesis for p in pool],
                truncation="only_first",
                max_length=max_tokens,
            )["input_ids"]
            by_length = sorted(range(len(pool)), key=lambda i: len(ids[i]))
            cuts = _cut(by_length, ids)
            rng.shuffle(cuts)
            for cut in cuts:
                padded = tokenizer.pad({"input_ids": [ids[i] for i in cut]}, return_tensors="pt")
                yield dict(padded), torch.tensor([pool[i].label for i in cut])
        epoch += 1


def _cut(by_length: Sequence[int], ids: Sequence[Sequence[int]]) -> list[list[int]]:
    """Cut indices sorted by length into batches of at most ``BATCH_TOKENS`` padded tokens."""
    cuts: list[list[int]] = [[]]
    for i in by_length:
        if (len(cuts[-1]) + 1) * len(ids[i]) > BATCH_TOKENS and cuts[-1]:
            cuts.append([])
        cuts[-1].append(i)
    return cuts


def build(base: Path, layers: int | None) -> Any:
    """The base's lowest layers with a fresh classification head; embeddings frozen.

    Frozen word embeddings keep words that the training data lacks where the
    base put them, and save a third of an optimiser step. No dropout: hardly a
    pair is seen twice, and drawing its masks is an eighth of a step.
    """
    config = AutoConfig.from_pretrained(base)
    config.num_labels = len(LABELS)
    config.id2label = dict(enumerate(LABELS))
    config.label2id = {name: i for i, name in enumerate(LABELS)}
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    if layers:
        config.num_hidden_layers = layers
    model = AutoModelForSequenceClassification.from_pretrained(base, config=config)
    for name, parameter in model.named_parameters():
        if "word_embeddings" in name:
            parameter.requires_grad = False
    return model


def rate(progress: float, peak: float) -> float:
    """Learning rate: 2 % warm-up, constant, linear to zero over the last fifth."""
    return peak * min(progress / 0.02, 1.0, (1.0 - progress) / 0.2)


@click.command()
@click.argument("data", nargs=-1, required=True)
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--layers", type=int, help="Lowest layers kept; all by default.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--hours", type=float, default=1.5, show_default=True)
@click.option("--lr", type=float, default=6e-5, show_default=True)
@click.option("--max-tokens", type=int, default=256, show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
def main(
    data: tuple[str, ...],
    base: Path,
    layers: int | None,
    out: Path,
    hours: float,
    lr: float,
    max_tokens: int,
    threads: int,
    seed: int,
) -> None:
    """Train on DATA, files of labelled pairs, each with an optional weight: FILE[:TIMES]."""
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    pairs = [p for spec in data for p in read_pairs(spec)]
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = build(base, layers)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=lr, weight_decay=0.01, fused=True)
    out.mkdir(parents=True, exist_ok=True)
    state, step, spent = out / "state.pt", 0, 0.0
    if state.exists():
        saved = torch.load(state, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step, spent = saved["step"], saved["seconds"]
        click.echo(f"resumed after {step} steps, {spent / 60:.0f} min", err=True)
    model.train()
    # A resumed run draws another order: its seed moves with the steps done.
    stream = batches(pairs, tokenizer, max_tokens, seed + step)
    budget, last_save = hours * 3600, spent
    running, begun, seen = 0.0, time.monotonic() - spent, 0
    while spent < budget:
        inputs, labels = next(stream)
        for group in optimizer.param_groups:
            group["lr"] = rate(spent / budget, lr)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(**inputs).logits
        loss = torch.nn.functional.cross_entropy(logits.float(), labels, label_smoothing=0.05)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step, seen, spent = step + 1, seen + len(labels), time.monotonic() - begun
        running += loss.item()
        if step % LOG_STEPS == 0:
            click.echo(
                f"step {step}  {spent / 60:.1f} min  loss {running / LOG_STEPS:.3f}  "
                f"{seen / len(pairs):.2f} epochs",
                err=True,
            )
            running = 0.0
        if spent - last_save > SAVE_SECONDS:
            torch.save(
                {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "step": step,
                    "seconds": spent,
                },
                state,
            )
            last_save = spent
    model.save_pretrained(out / "model")
    tokenizer.save_pretrained(out / "model")
    click.echo(f"{out / 'model'}: {step} steps, {seen} pairs, {spent / 3600:.2f} h", err=True)


if __name__ == "__main__":
    main()
