"""Fine-tune the lowest layers of a sentence-embedding model as a three-way NLI encoder.

    python -m training.encoder.train --base DIR --layers 6 --public DATA/nli --out RUN \
        --pairs 30000 --held-out DATA/nli/factcheckbench-dev.jsonl

Reads ``--pairs`` pairs, the learning rate falling over the last two fifths. The state is saved
every few minutes; the same command goes on from it, with the batches that would have come
without the break. ``--device cuda`` trains on a GPU. RUN/model is a transformers checkpoint,
which ``training.encoder.export`` turns into the file that ships.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from factcheck_local.models.cores import has_native_bfloat16
from factcheck_local.models.loading import read_as_text
from factcheck_local.models.offline import go_offline, quiet_transformers
from training.adapter.groups import LABELS, Claim
from training.encoder.mixture import soft_source, sources
from training.encoder.reading import Reader, batches
from training.losses import loss_of
from training.overlap import Held
from training.resuming import arguments, check_arguments

DATA = Path(__file__).parents[1] / "data"
SAVE_SECONDS = 240
LOG_STEPS = 20
#: Pairs over which the learning rate rises to its peak.
WARM_UP_PAIRS = 600
#: Share of a run over which it falls to zero.
DECAY = 0.4


@dataclass(slots=True)
class Progress:
    """How far a run is: steps, pairs read, and seconds of training, pauses among them."""

    steps: int = 0
    pairs: int = 0
    seconds: float = 0.0


def build(base: Path, layers: int | None) -> Any:
    """The base's lowest layers with a classification head; word embeddings frozen.

    The head is fresh unless the base has one. Frozen word embeddings keep words that the
    training data lacks where the base put them, and save a third of an optimiser step. No
    dropout: hardly a pair is seen twice, and drawing its masks is an eighth of a step.
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


def rate(read: int, total: int, peak: float) -> float:
    """Learning rate: a warm-up, constant, linear to zero over the last two fifths.

    As long as it is constant it does not depend on ``total``: a run that goes on with another
    one is the run that had it from the start.

    Args:
        read: pairs so far.
        total: pairs of the whole run.
        peak: the constant.
    """
    return peak * max(0.0, min(read / WARM_UP_PAIRS, 1.0, (total - read) / (DECAY * total)))


def mean_loss(logits: torch.Tensor, claims: Sequence[Claim], smoothing: float) -> torch.Tensor:
    """Mean cross entropy in nats: of labels smoothed, of a teacher's probabilities as they are.

    Args:
        logits: shape (n, 3), float32.
        claims: n of them.
        smoothing: see ``losses.loss_of``.
    """
    taught = [i for i, claim in enumerate(claims) if claim.p is not None]
    sure = [i for i, claim in enumerate(claims) if claim.p is None]
    total = loss_of(logits[sure], [claims[i].label for i in sure], smoothing)
    if taught:
        p = torch.tensor([claims[i].p for i in taught]).to(logits)
        total = total - (p * logits[taught].log_softmax(dim=1)).sum()
    return total / len(claims)


@click.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--layers", type=int, help="Lowest layers kept; all by default.")
@click.option("--public", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--soft", type=click.Path(exists=True, path_type=Path), help="A teacher's labels.")
@click.option("--soft-share", type=float, default=0.2, show_default=True, help="Of all tokens.")
@click.option(
    "--held-out",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="A set to be measured on: no sentence of it is read.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--pairs", "total", type=int, default=30_000, show_default=True)
@click.option("--lr", type=float, default=6e-5, show_default=True)
@click.option("--tokens", type=int, default=2048, show_default=True, help="In a step, at most.")
@click.option("--max-tokens", type=int, default=384, show_default=True, help="Of a pair.")
@click.option("--smoothing", type=float, default=0.05, show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
def main(
    base: Path,
    layers: int | None,
    public: Path,
    own: Path,
    soft: Path | None,
    soft_share: float,
    held_out: tuple[Path, ...],
    out: Path,
    total: int,
    lr: float,
    tokens: int,
    max_tokens: int,
    smoothing: float,
    device: str,
    threads: int,
    seed: int,
) -> None:
    """Train an encoder from the checkpoint BASE on the own and the public pairs."""
    go_offline()
    quiet_transformers()
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    drawn_from = sources(own, public, Held.of(held_out))
    if soft:
        drawn_from.append(soft_source(soft, soft_share))
    tokenizer = AutoTokenizer.from_pretrained(base)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(out / "model")
    read_as_text(tokenizer)
    reader = Reader(tokenizer, max_tokens)
    model = build(base, layers).to(device).train()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=lr, weight_decay=0.01, fused=True)
    # Where the processor has to emulate it, bfloat16 is some sixty times slower than float32.
    half = device != "cpu" or has_native_bfloat16()
    state, done = out / "state.pt", Progress()
    if state.exists():
        done = _restore(state, model, optimizer)
        click.echo(f"goes on after {done.steps} steps, {done.seconds / 60:.1f} min", err=True)
    stream = itertools.islice(
        batches(drawn_from, reader, tokens=tokens, seed=seed), done.steps, None
    )
    begun, last_save = time.monotonic() - done.seconds, done.seconds
    loss_sum, count_sum = 0.0, 0
    while done.pairs < total:
        for group in optimizer.param_groups:
            group["lr"] = rate(done.pairs + 1, total, lr)
        batch = next(stream)
        with torch.autocast(torch.device(device).type, dtype=torch.bfloat16, enabled=half):
            logits = model(**reader.padded(batch).to(device)).logits
        loss = mean_loss(logits.float(), [pair.claim for pair in batch], smoothing)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss_sum, count_sum = loss_sum + loss.item() * len(batch), count_sum + len(batch)
        done.steps, done.pairs = done.steps + 1, done.pairs + len(batch)
        done.seconds = time.monotonic() - begun
        if done.steps % LOG_STEPS == 0:
            click.echo(
                f"step {done.steps}  {done.seconds / 60:.1f} min  {done.pairs} pairs  "
                f"loss {loss_sum / count_sum:.3f}",
                err=True,
            )
            loss_sum, count_sum = 0.0, 0
        if done.seconds - last_save > SAVE_SECONDS or done.pairs >= total:
            _save(state, model, optimizer, done)
            last_save = done.seconds
    model.save_pretrained(out / "model")
    record = {"base": base.name, "layers": layers, "total": total, "lr": lr, "seed": seed}
    (out / "run.json").write_text(json.dumps(record | asdict(done)) + "\n")


def _save(path: Path, model: Any, optimizer: torch.optim.Optimizer, done: Progress) -> None:
    """Write a run's state, the old one or the new one if that is interrupted."""
    new = path.with_suffix(".new")
    saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(saved | {"progress": asdict(done), "arguments": arguments()}, new)
    new.replace(path)


def _restore(path: Path, model: Any, optimizer: torch.optim.Optimizer) -> Progress:
    saved = torch.load(path, weights_only=True, map_location="cpu")
    check_arguments(saved.get("arguments"))
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return Progress(**saved["progress"])


if __name__ == "__main__":
    main()
